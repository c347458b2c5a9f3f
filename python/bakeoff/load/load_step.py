"""Load steps as values: what one step of a suite puts on its contender.

A load step has a label for tables, a place on the axis of a chart and a unit for both; the load steps of a run are of
one sort. It knows what it implies of a trial, so that an audit can ask; None where it implies nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import total_ordering
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, PlainSerializer

from bakeoff.load.arrivals import Arrivals, arrivals_from_json, arrivals_to_json

# The engine's limit.
RATE_MAX_PER_S = 10e6


@dataclass(frozen=True, order=True)
class Clients:
    """Closed loop: `n` clients, each of which asks again when it was answered and has paused."""

    n: int
    unit: ClassVar[str] = "clients"
    axis: ClassVar[str] = "Simulated clients"

    def __post_init__(self) -> None:
        """Raises ValueError unless there is at least one client."""
        if self.n < 1:
            raise ValueError(f"clients must be at least 1, not {self.n}")

    def __str__(self) -> str:
        return str(self.n)

    @property
    def words(self) -> str:
        """In a sentence: `1 client`, `8 clients`."""
        return f"{self.number} client{'' if self.n == 1 else 's'}"

    @property
    def asked(self) -> str:
        """Of the contender: `1 client`, `8 clients`."""
        return self.words

    @property
    def number(self) -> str:
        """Without its unit, as people read it: `1,200`."""
        return f"{self.n:,}"

    @property
    def x(self) -> float:
        """Its place on the axis."""
        return self.n

    @property
    def clients(self) -> int:
        """Simulated clients."""
        return self.n

    def sessions(self, virtual_users: int) -> int | None:
        """Sessions at any moment when each client has so many `virtual_users`: what Little's law counts."""
        return self.n * virtual_users

    @property
    def is_one(self) -> bool:
        """Whether it goes without saying: a single client."""
        return self.n == 1

    @property
    def load(self) -> "Clients":
        """What the engine is told of it."""
        return self

    def to_json(self) -> dict[str, Any]:
        """As it stands in trial specifications and run files."""
        return {"clients": self.n}

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """What `to_json` wrote. Raises ValueError."""
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError("clients must be a whole number")
        return cls(value)


@total_ordering
@dataclass(frozen=True)
class InFlight:
    """Closed loop: `n` clients, whose virtual users keep `outstanding` requests in flight each. They rise by both."""

    n: int
    outstanding: int
    unit: ClassVar[str] = "clients × in flight"
    axis: ClassVar[str] = "Requests in flight of all clients"

    def __post_init__(self) -> None:
        """Raises ValueError unless there is at least one of both."""
        if self.n < 1 or self.outstanding < 1:
            raise ValueError(f"clients and outstanding must be at least 1, not {self.n} and {self.outstanding}")

    def __lt__(self, other: "InFlight") -> bool:
        return (self.x, self.n) < (other.x, other.n)

    def __str__(self) -> str:
        return f"{self.n} × {self.outstanding}"

    @property
    def words(self) -> str:
        """In a sentence: `2 × 16 in flight`."""
        return f"{self.number} in flight"

    @property
    def asked(self) -> str:
        """Of the contender: as in a sentence."""
        return self.words

    @property
    def number(self) -> str:
        """Without its unit, as people read it: `4 × 16`."""
        return f"{self.n:,} × {self.outstanding}"

    @property
    def x(self) -> float:
        """Its place on the axis."""
        return self.n * self.outstanding

    @property
    def clients(self) -> int:
        """Simulated clients."""
        return self.n

    def sessions(self, virtual_users: int) -> int | None:
        """Sessions, as those of clients: each counts once, however many requests it has in flight."""
        return self.n * virtual_users

    @property
    def is_one(self) -> bool:
        """Whether it goes without saying: it is one of several depths."""
        return False

    @property
    def load(self) -> Clients:
        """What the engine is told of it; the depth is a matter of the work."""
        return Clients(self.n)

    def to_json(self) -> dict[str, Any]:
        """As it stands in run files."""
        return {"clients": self.n, "outstanding": self.outstanding}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """What `to_json` wrote. Raises ValueError."""
        if any(not isinstance(value[key], int) or isinstance(value[key], bool) for key in ("clients", "outstanding")):
            raise ValueError("clients and outstanding must be whole numbers")
        return cls(value["clients"], value["outstanding"])


@dataclass(frozen=True, order=True)
class Rate:
    """Open loop: `per_s` operations begin each second, whether or not earlier ones are over.

    `arrivals` says how the times between them are spread. They are carried by connections that are opened as they are
    needed, `most_connections` at most: a start that finds all of them busy is late. In JSON `arrivals` has the name of
    its shape under `shape`, beside its fields.
    """

    per_s: float
    arrivals: Arrivals
    most_connections: int
    unit: ClassVar[str] = "offered/s"
    axis: ClassVar[str] = "Offered load (starts/s)"

    def __post_init__(self) -> None:
        """Raises ValueError for a rate that cannot be."""
        if not 0 < self.per_s <= RATE_MAX_PER_S:
            raise ValueError(f"a rate must be over 0 and at most {RATE_MAX_PER_S:,.0f} a second, not {self.per_s:g}")
        if self.most_connections < 1:
            raise ValueError(f"most_connections must be at least 1, not {self.most_connections}")

    def __str__(self) -> str:
        return f"{self.per_s:.10g}"

    @property
    def words(self) -> str:
        """In a sentence: `500/s`; what begins so often is the kind's to say."""
        return f"{self.number}/s"

    @property
    def asked(self) -> str:
        """Of the contender: `500/s offered`."""
        return f"{self.number}/s offered"

    @property
    def number(self) -> str:
        """Without its unit, as people read it: `1,200`."""
        return f"{self.per_s if self.per_s >= 1e5 else float(f'{self.per_s:.5g}'):,.10g}"

    @property
    def x(self) -> float:
        """Its place on the axis."""
        return self.per_s

    @property
    def clients(self) -> int:
        """Connections; as many as there may be."""
        return self.most_connections

    def sessions(self, virtual_users: int) -> int | None:
        """None: the server's own speed says how many are busy."""
        return None

    @property
    def is_one(self) -> bool:
        """Whether it goes without saying: no rate does."""
        return False

    @property
    def load(self) -> "Rate":
        """What the engine is told of it."""
        return self

    def to_json(self) -> dict[str, Any]:
        """As it stands in trial specifications and run files."""
        arrivals = arrivals_to_json(self.arrivals)
        return {"rate": {"per_s": self.per_s, "arrivals": arrivals, "most_connections": self.most_connections}}

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """What `to_json` wrote. Raises ValueError."""
        if not isinstance(value, Mapping) or set(value) != {"per_s", "arrivals", "most_connections"}:
            raise ValueError("a rate has per_s, arrivals and most_connections")
        per_s, most = value["per_s"], value["most_connections"]
        if not isinstance(per_s, int | float) or isinstance(per_s, bool) or not isinstance(most, int):
            raise ValueError("per_s must be a number, and most_connections a whole one")
        return cls(float(per_s), arrivals_from_json(value["arrivals"]), most)


@dataclass(frozen=True, order=True)
class OfCapacity:
    """A share of the capacity that a search has found, which has another load `of` its own in each search. It stands in
    comparisons alone: what was sent is `of`.
    """

    share: float
    of: Clients | InFlight | Rate | None = field(default=None, compare=False)
    unit: ClassVar[str] = "% of capacity"
    axis: ClassVar[str] = "Load, % of the capacity found"

    def __str__(self) -> str:
        return f"{self.share * 100:.6g}"

    @property
    def words(self) -> str:
        """In a sentence: `70 % of its capacity`."""
        return f"{self} % of its capacity"

    @property
    def asked(self) -> str:
        """While it is measured."""
        return self.words

    @property
    def number(self) -> str:
        """As people read it: `70 %`."""
        return f"{self} %"

    @property
    def x(self) -> float:
        """Its place on the axis."""
        return self.share * 100.0

    @property
    def clients(self) -> int:
        """Those of the load that was sent."""
        return 0 if self.of is None else self.of.clients

    def sessions(self, virtual_users: int) -> int | None:
        """Those of the load that was sent."""
        return None if self.of is None else self.of.sessions(virtual_users)

    @property
    def is_one(self) -> bool:
        """Whether it goes without saying: no share does."""
        return False

    @property
    def load(self) -> "LoadStep":
        """The load that was sent."""
        return self if self.of is None else self.of.load

    def to_json(self) -> dict[str, Any]:
        """As it stands in comparisons."""
        return {"share_of_capacity": self.share}


@dataclass(frozen=True, order=True)
class StatedLoad:
    """A load as the file of another tool states it: `value` of what it calls `name` (`block size`), printed as `text`
    (`4KiB`). Without a `name` the file states no load.
    """

    value: float
    name: str = ""
    text: str = field(default="", compare=False)

    @property
    def unit(self) -> str:
        """What it counts: `block size`."""
        return self.name or "load"

    @property
    def axis(self) -> str:
        """The same as the title of an axis."""
        return f"{self.unit[0].upper()}{self.unit[1:]}"

    def __str__(self) -> str:
        return (self.text or f"{self.value:.10g}") if self.name else "–"

    @property
    def words(self) -> str:
        """In a sentence: `4KiB block size`."""
        return f"{self} {self.name}" if self.name else "a load that is not stated"

    @property
    def asked(self) -> str:
        """Of the contender: as in a sentence."""
        return self.words

    @property
    def number(self) -> str:
        """As people read it: `4KiB`."""
        return str(self)

    @property
    def x(self) -> float:
        """Its place on the axis."""
        return self.value

    @property
    def clients(self) -> int:
        """0: no number of clients is stated."""
        return 0

    def sessions(self, virtual_users: int) -> int | None:
        """None: nothing is stated of sessions."""
        return None

    @property
    def is_one(self) -> bool:
        """Whether it goes without saying: a load that nobody states."""
        return not self.name

    @property
    def load(self) -> "StatedLoad":
        """Itself; no engine is ever told of it."""
        return self

    def to_json(self) -> dict[str, Any]:
        """As it stands in run files."""
        return {"stated": {"name": self.name, "value": self.value, "text": self.text}}

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """What `to_json` wrote. Raises ValueError."""
        if not isinstance(value, Mapping) or set(value) != {"name", "value", "text"}:
            raise ValueError("a stated load has name, value and text")
        name, number, text = value["name"], value["value"], value["text"]
        is_number = isinstance(number, int | float) and not isinstance(number, bool) and 0 <= number < 1e100
        if not is_number or not isinstance(name, str) or not isinstance(text, str) or max(len(name), len(text)) > 200:
            raise ValueError("value must be a number from 0 on, name and text short texts")
        return cls(float(number), name, text)


LoadStep = Clients | InFlight | Rate | OfCapacity | StatedLoad
_SORTS: Mapping[str, type[Clients] | type[Rate] | type[StatedLoad]] = {
    "clients": Clients,
    "rate": Rate,
    "stated": StatedLoad,
}


def load_step_from_json(value: Any) -> LoadStep:
    """The load step that `to_json` wrote; a load step is returned as it is. Raises ValueError."""
    if isinstance(value, LoadStep):
        return value
    if isinstance(value, Mapping) and set(value) == {"clients", "outstanding"}:
        return InFlight.from_json(value)
    if not isinstance(value, Mapping) or len(value) != 1 or (sort := next(iter(value))) not in _SORTS:
        raise ValueError("a load step is {clients: …}, {clients: …, outstanding: …}, {rate: …} or {stated: …}")
    return _SORTS[sort].from_json(value[sort])


# A load step as a field of a Pydantic model.
LoadStepField = Annotated[
    LoadStep, BeforeValidator(load_step_from_json), PlainSerializer(lambda load_step: load_step.to_json())
]


def load_steps_from_json(value: Any) -> tuple[LoadStep, ...]:
    """Load steps of a run: different ones of one sort. Raises ValueError."""
    if not isinstance(value, list | tuple):
        raise ValueError("load steps are a list")
    load_steps = tuple(load_step_from_json(item) for item in value)
    if len({type(load_step) for load_step in load_steps}) > 1 or len(set(load_steps)) < len(load_steps):
        raise ValueError("the load steps of a run are different ones of one sort")
    return load_steps


def named(load_step: LoadStep | None, prefix: str = "") -> dict[str, Any]:
    """A load step as members of JSON output: `{"clients": 8}`, with `prefix` in their names; null clients for none."""
    stored = {"clients": None} if load_step is None else load_step.to_json()
    return {f"{prefix}{sort}": value for sort, value in stored.items()}
