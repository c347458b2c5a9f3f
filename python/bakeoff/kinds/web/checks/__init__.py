"""Checks of web servers before timing."""
