"""Sections on whether the figures can be believed."""
