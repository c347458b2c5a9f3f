"""Verbs for suites and for other programs' command lines."""
