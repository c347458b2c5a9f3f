"""Tests, corrections and verdicts."""
