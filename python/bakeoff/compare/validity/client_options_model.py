"""How clients talked with contenders otherwise than with each other: what stands in a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bakeoff.compare.model.fact import Fact


@dataclass(frozen=True)
class Manner:
    """A setting of the load that contenders have differently, and its value of each, as text; secrets are hidden."""

    setting: str
    values: dict[str, str]


@dataclass(frozen=True)
class Manners(Fact):
    """The settings that these contenders, of a `kind_of_suite`, have differently."""

    kind_of_suite: str
    manners: tuple[Manner, ...]
    between: tuple[str, ...]


@dataclass(frozen=True)
class NotAskedAlike(Manners):
    """As what readers of all figures must know."""


def differing(manners: Sequence[Manner], names: Sequence[str]) -> tuple[Manner, ...]:
    """Those in which these contenders differ."""
    return tuple(manner for manner in manners if len({manner.values.get(name) for name in names}) > 1)
