"""Intervals over blocks."""
