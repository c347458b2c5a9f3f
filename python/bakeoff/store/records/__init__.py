"""The values that a run file holds."""
