"""The machine that sends load: its facts, limits, links and other processes."""
