"""Plans: what is fixed before anything runs. Load, check, explain; nothing in here sends a byte."""
