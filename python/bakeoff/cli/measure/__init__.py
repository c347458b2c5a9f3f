"""Verbs that measure."""
