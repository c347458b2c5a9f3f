"""Sections on the result: verdicts, ratios, figures of each contender."""
