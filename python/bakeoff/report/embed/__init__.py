"""Data inside a report, and what verifies a report by it."""
