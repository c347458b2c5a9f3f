"""The warnings of a comparison in words."""

from __future__ import annotations

from dataclasses import dataclass

from bakeoff.compare.model.comparison import Advisory, Comparison
from bakeoff.report.narrate.advised import advised


@dataclass(frozen=True)
class Warned:
    """A text, and what to do about it; `first` when nothing else can be read without it."""

    text: str
    advice: str
    first: bool


def warnings_of(found: Comparison) -> tuple[Warned, ...]:
    """All of them, in their order."""
    return tuple(map(warned, found.warnings))


def warned(advisory: Advisory) -> Warned:
    """One of them."""
    return Warned(*advised(advisory.about), advisory.first)
