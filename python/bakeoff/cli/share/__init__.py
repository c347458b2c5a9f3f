"""Verbs that pass results on."""
