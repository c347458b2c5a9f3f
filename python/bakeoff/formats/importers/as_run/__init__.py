"""Run files of foreign tables."""
