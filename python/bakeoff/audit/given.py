"""What one who asks for an audit states of the machines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bakeoff.core.errors import PlanError
from bakeoff.core.units import parse_link_speed, parse_size


@dataclass(frozen=True)
class Given:
    """Speeds in bytes a second and memory in bytes; None for what was not stated."""

    link_bytes_per_s: float | None = None
    bus_bytes_per_s: float | None = None
    memory_bytes_per_s: float | None = None
    memory_bytes: float | None = None


NOTHING = Given()


def read_given(stated: Callable[[str], str | None], called: Callable[[str], str]) -> Given:
    """What is `stated` of `link_speed`, `bus_speed`, `memory_speed` and `memory`; an error says what each is `called`.
    Raises PlanError.
    """

    def read(name: str, parse: Callable[[str], float]) -> float | None:
        text = stated(name)
        try:
            return None if text is None else float(parse(text))
        except ValueError as error:
            raise PlanError(f"{called(name)}: {error}") from None

    return Given(
        read("link_speed", parse_link_speed),
        read("bus_speed", _speed),
        read("memory_speed", _speed),
        read("memory", parse_size),
    )


def _speed(text: str) -> float:
    """Bytes a second of `133MB/s`."""
    return parse_size(text.strip().removesuffix("/s"))
