"""Sections on cells: maps, tables, surfaces."""
