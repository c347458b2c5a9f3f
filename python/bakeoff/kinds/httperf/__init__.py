"""Connections or sessions at a rate, with httperf's options."""
