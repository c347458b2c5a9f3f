"""Errors, units, times and texts that every layer uses."""
