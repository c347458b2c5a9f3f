"""How clients talked with contenders otherwise than with each other: what stands in a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bakeoff.compare.model.fact import Fact


@dataclass(frozen=True)
class ClientOption:
    """A setting of the load that contenders have differently, and its value of each, as text; secrets are hidden."""

    setting: str
    values: dict[str, str]


@dataclass(frozen=True)
class ClientOptionsDiffer(Fact):
    """The settings that these contenders, of a `kind_of_suite`, have differently."""

    kind_of_suite: str
    client_options: tuple[ClientOption, ...]
    between: tuple[str, ...]


@dataclass(frozen=True)
class ClientOptionsDifferAdvice(ClientOptionsDiffer):
    """As what readers of all figures must know."""


def differing(client_options: Sequence[ClientOption], names: Sequence[str]) -> tuple[ClientOption, ...]:
    """Those in which these contenders differ."""
    return tuple(option for option in client_options if len({option.values.get(name) for name in names}) > 1)
