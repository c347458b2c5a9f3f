"""Command lines and reports of other programs on this engine."""
