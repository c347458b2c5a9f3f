"""Verbs that read run files."""
