"""The parts of a report, in the order in which a paper has them; sections stand in them as they come."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from bakeoff.report.blocks import Section


class Part(IntEnum):
    """Where a section stands."""

    FRONT = 1
    """What an author says, who wins, and by how much."""
    OVERVIEW = 2
    """How it was tested, in prose."""
    RESULTS = 3
    """Curves, ratios, what broke, resources: where most sections stand."""
    TOLD = 4
    """What an author gave: prices, features, administration."""
    CONFIGURATION = 5
    """Machines, settings, disclosure."""
    AUDITS = 6
    """Why this can be trusted, or cannot."""
    APPENDIX = 7
    """How to read it, and all that was measured."""


PARTS: dict[str, Part] = {
    "all-suites": Part.FRONT,
    "run-files": Part.FRONT,
    "result": Part.FRONT,
    "objective": Part.FRONT,
    "challenge": Part.FRONT,
    "factors": Part.FRONT,
    "author-summary": Part.FRONT,
    "author-findings": Part.FRONT,
    "author-notes": Part.FRONT,
    "author-conclusion": Part.FRONT,
    "author-disclaimer": Part.FRONT,
    "overview": Part.OVERVIEW,
    "author-prices": Part.TOLD,
    "author-features": Part.TOLD,
    "author-administration": Part.TOLD,
    "author-pros": Part.TOLD,
    "author-tables": Part.TOLD,
    "machines": Part.CONFIGURATION,
    "method": Part.CONFIGURATION,
    "author-disclosure": Part.CONFIGURATION,
    "generator": Part.AUDITS,
    "noise": Part.AUDITS,
    "audits": Part.AUDITS,
    "trials": Part.APPENDIX,
    "reading": Part.APPENDIX,
}
"""By id of the section; those that are not named are results."""


def part_of(section: Section) -> Part:
    """Where the section stands; of one in a chapter of a campaign as of its like in a single run."""
    id_ = section.id.rpartition("-")[0] if section.chapter else section.id
    part = PARTS.get(id_, Part.RESULTS)
    return Part.RESULTS if section.chapter and part == Part.FRONT else part


def in_order(sections: Iterable[Section]) -> tuple[Section, ...]:
    """The sections of a report, part by part."""
    return tuple(sorted(sections, key=part_of))
