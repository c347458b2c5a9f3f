"""Sections on the load: rates, times, errors, seconds, soaks."""
