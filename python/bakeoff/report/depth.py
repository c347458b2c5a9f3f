"""How deep one must read into a report to meet a part of it."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])


class Depth(IntEnum):
    """What is shown at one depth is shown at all deeper ones."""

    SUMMARY = 1
    """What one wants to see at the end of a run."""
    COMPARISON = 2
    """What `bakeoff compare` prints: all that decides."""
    PAGE = 3
    """The whole report."""


def shown_from(depth: Depth) -> Callable[[F], F]:
    """Mark a section that has something for readers at `depth`; unmarked ones are for the page alone.

    Its blocks say for themselves from which depth on they are shown; above that of their section they never are.
    """

    def mark(section: F) -> F:
        section.depth = depth  # type: ignore[attr-defined]
        return section

    return mark


def depth_of(section: Callable[..., object]) -> Depth:
    """The least depth at which a section has anything to show."""
    return getattr(section, "depth", Depth.PAGE)
