"""Factorial designs and the number of blocks."""
