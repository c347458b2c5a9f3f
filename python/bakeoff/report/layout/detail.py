"""How deep one must read into a report to meet a part of it."""

from enum import IntEnum


class Detail(IntEnum):
    """What is shown at one detail is shown at all deeper ones."""

    SUMMARY = 1
    """What one wants to see at the end of a run."""
    COMPARISON = 2
    """What `bakeoff compare` prints: all that decides."""
    DETAILS = 3
    """What it prints with `--details`: that what decides holds, and what explains it."""
    PAGE = 4
    """The whole report."""
