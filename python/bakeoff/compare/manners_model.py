"""How clients talked with contenders otherwise than with each other: what stands in a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

TOO = "ratios are of that difference, too."
"""How the sentence ends that tells of it."""


@dataclass(frozen=True)
class Manner:
    """A setting of the load that contenders have differently, and its value of each, as text; secrets are hidden."""

    setting: str
    values: dict[str, str]


def told_in(headline: Sequence[str]) -> tuple[str, ...]:
    """The sentence of a headline that tells of it, if there is one: it belongs to whatever is read of the others."""
    return tuple(text for text in headline if text.endswith(TOO))
