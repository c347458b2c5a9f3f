"""Figures of contenders in words."""
