"""Verbs for machines and servers."""
