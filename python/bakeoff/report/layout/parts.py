"""The parts of a report, in the order in which a paper has them; sections stand in them as they come."""

from enum import IntEnum


class ReportPart(IntEnum):
    """Where a section stands."""

    FRONT = 1
    """What an author says, who wins, and by how much."""
    OVERVIEW = 2
    """How it was tested, in prose."""
    RESULTS = 3
    """Curves, ratios, what broke, resources: where most sections stand."""
    AUTHOR = 4
    """What an author gave: prices, features, administration."""
    CONFIGURATION = 5
    """Machines, settings, disclosure."""
    AUDITS = 6
    """Why this can be trusted, or cannot."""
    APPENDIX = 7
    """How to read it, and all that was measured."""
