"""How the starts of a rate are spread over time: shapes as values, their JSON, and what each implies.

The mean over the whole trial is what the rate says, but for `Ramp` and `Steps`, which have factors of it. In JSON a
shape is an object with the fields named here and its name in `shape`; a ramp's are `from` and `to` there.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

# The engine's limits.
FACTOR_MAX = 1_000.0
STEPS_MAX = 1_000
BURST_MAX = 100_000
# They are stored with each trial: longer recordings are the work of a suite that replays.
MOMENTS_MAX = 10_000

LONGEST_S = 30 * 24 * 3600.0

_STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)
Positive = Annotated[float, Field(gt=0, le=LONGEST_S)]
Factor = Annotated[float, Field(ge=0, le=FACTOR_MAX)]


class Shape:
    """What all shapes have in common."""

    shape: ClassVar[str]
    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    def __str__(self) -> str:
        """As plans and flags have it."""
        return self.shape

    @property
    def words(self) -> str:
        """In a sentence, after a rate: `evenly`."""
        raise NotImplementedError

    @property
    def peak(self) -> float:
        """The highest rate that it has for a time, as a factor of the mean."""
        return 1.0

    @property
    def steady(self) -> bool:
        """Whether any long enough part of a trial has the same load."""
        return True

    def planned(self, per_s: float, begin_s: float, end_s: float, length_s: float) -> float:
        """Mean number of starts between two moments of a trial of `length_s` seconds at a rate of `per_s`."""
        return per_s * (end_s - begin_s)

    def slack(self, planned: float) -> float:
        """By how many starts a count may differ from `planned` through the edges of a window alone."""
        return 1.0

    def deviation(self, planned: float) -> float:
        """Standard deviation of the number of starts, where chance has a part in it."""
        return 0.0


@dataclass(frozen=True, order=True)
class Constant(Shape):
    """An even grid."""

    shape: ClassVar[str] = "constant"

    @property
    def words(self) -> str:
        return "evenly spaced"


@dataclass(frozen=True, order=True)
class Poisson(Shape):
    """Each start regardless of all others, as independent users make them."""

    shape: ClassVar[str] = "poisson"

    @property
    def words(self) -> str:
        return "at random moments (Poisson)"

    def deviation(self, planned: float) -> float:
        return math.sqrt(planned)


@dataclass(frozen=True, order=True)
class Uniform(Shape):
    """Gaps that lie evenly between nothing and twice their mean."""

    shape: ClassVar[str] = "uniform"

    @property
    def words(self) -> str:
        return "with random gaps, from nothing to twice the mean"

    def deviation(self, planned: float) -> float:
        """See Shape: the variance of these gaps is a third of that of a Poisson process."""
        return math.sqrt(planned / 3.0)


@dataclass(frozen=True, order=True)
class Ramp(Shape):
    """Linear from one factor of the rate to another, over the whole trial."""

    start: Annotated[Factor, Field(alias="from")] = field(metadata={"json": "from"})
    end: Annotated[Factor, Field(alias="to")] = field(metadata={"json": "to"})
    shape: ClassVar[str] = "ramp"

    def __post_init__(self) -> None:
        """Raises ValueError for a ramp on which nothing ever begins."""
        if not max(self.start, self.end) > 0.0:
            raise ValueError("a ramp must go from or to a factor above 0")

    def __str__(self) -> str:
        return f"ramp:{self.start:g}-{self.end:g}"

    @property
    def steady(self) -> bool:
        return False

    @property
    def words(self) -> str:
        return f"evenly spaced, on a ramp from {self.start:g} to {self.end:g} times that rate"

    @property
    def peak(self) -> float:
        return max(self.start, self.end)

    def planned(self, per_s: float, begin_s: float, end_s: float, length_s: float) -> float:
        def until(at_s: float) -> float:
            return self.start * at_s + (self.end - self.start) * at_s * at_s / (2.0 * length_s)

        return per_s * (until(end_s) - until(begin_s))


@dataclass(frozen=True, order=True)
class Steps(Shape):
    """Factors of the rate, each for so many seconds; then over again."""

    steps: Annotated[tuple[tuple[Factor, Positive], ...], Field(min_length=1, max_length=STEPS_MAX)]
    shape: ClassVar[str] = "steps"

    def __post_init__(self) -> None:
        """Raises ValueError for steps on which nothing ever begins."""
        if not any(factor > 0.0 for factor, _ in self.steps):
            raise ValueError("one of the steps must have a factor above 0")

    def __str__(self) -> str:
        return "steps:" + ",".join(f"{factor:g}x{seconds:g}s" for factor, seconds in self.steps)

    @property
    def steady(self) -> bool:
        return False

    @property
    def words(self) -> str:
        parts = ", ".join(f"{factor:g} times that rate for {seconds:g} s" for factor, seconds in self.steps)
        return f"evenly spaced, in steps: {parts}, over and over"

    @property
    def peak(self) -> float:
        return max(factor for factor, _ in self.steps)

    def planned(self, per_s: float, begin_s: float, end_s: float, length_s: float) -> float:
        period_s = math.fsum(seconds for _, seconds in self.steps)
        whole = math.fsum(factor * seconds for factor, seconds in self.steps)

        def until(at_s: float) -> float:
            periods, rest_s = divmod(at_s, period_s)
            done = periods * whole
            for factor, seconds in self.steps:
                done += factor * min(seconds, rest_s)
                rest_s = max(0.0, rest_s - seconds)
            return done

        return per_s * (until(end_s) - until(begin_s))


@dataclass(frozen=True, order=True)
class Burst(Shape):
    """So many starts at once, at even intervals."""

    size: Annotated[int, Field(ge=1, le=BURST_MAX)]
    shape: ClassVar[str] = "burst"

    def __str__(self) -> str:
        return f"burst:{self.size}"

    @property
    def words(self) -> str:
        return f"{self.size:,} at once"

    def slack(self, planned: float) -> float:
        return float(self.size)


@dataclass(frozen=True, order=True)
class OnOff(Shape):
    """Evenly for a time, then nothing for a time, over and over; the mean over both is the rate."""

    on_s: Positive
    off_s: Positive
    shape: ClassVar[str] = "on_off"

    def __str__(self) -> str:
        return f"on-off:{self.on_s:g}s/{self.off_s:g}s"

    @property
    def words(self) -> str:
        return f"all in {self.on_s:g} s of traffic, after which come {self.off_s:g} s without, over and over"

    @property
    def peak(self) -> float:
        return (self.on_s + self.off_s) / self.on_s

    def planned(self, per_s: float, begin_s: float, end_s: float, length_s: float) -> float:
        steps = Steps(((self.peak, self.on_s), (0.0, self.off_s)))
        return steps.planned(per_s, begin_s, end_s, length_s)


@dataclass(frozen=True, order=True)
class Replay(Shape):
    """Moments in seconds from the start of the trial, not falling; the rate is their mean. Empty where the workload
    knows them.
    """

    at_s: Annotated[tuple[Annotated[float, Field(ge=0, le=LONGEST_S)], ...], Field(max_length=MOMENTS_MAX)]
    shape: ClassVar[str] = "replay"

    def __post_init__(self) -> None:
        """Raises ValueError where time runs backwards."""
        for before, after in zip(self.at_s, self.at_s[1:], strict=False):
            if after < before:
                raise ValueError(f"time runs backwards: {after:g} s after {before:g} s")

    def __hash__(self) -> int:
        return hash((len(self.at_s), self.at_s[:8]))

    def __str__(self) -> str:
        return "file"

    @property
    def steady(self) -> bool:
        return False

    @property
    def words(self) -> str:
        return f"at {len(self.at_s):,} recorded moments" if self.at_s else "at recorded moments"

    def planned(self, per_s: float, begin_s: float, end_s: float, length_s: float) -> float:
        """See Shape; NaN where the workload knows the moments."""
        if not self.at_s:
            return math.nan
        return float(bisect_left(self.at_s, end_s) - bisect_left(self.at_s, begin_s))


Arrivals = Constant | Poisson | Uniform | Ramp | Steps | Burst | OnOff | Replay
SHAPES: Mapping[str, type[Arrivals]] = {
    made.shape: made for made in (Constant, Poisson, Uniform, Ramp, Steps, Burst, OnOff, Replay)
}


def arrivals_to_json(arrivals: Arrivals) -> dict[str, Any]:
    """As it stands in trial specifications, plans and run files."""
    fields: dict[str, Any] = TypeAdapter(type(arrivals)).dump_python(arrivals, mode="json", by_alias=True)
    return {"shape": arrivals.shape, **fields}


def arrivals_from_json(value: Any) -> Arrivals:
    """What `arrivals_to_json` wrote. Raises ValueError."""
    shape = value.get("shape") if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(shape, str) or shape not in SHAPES:
        raise ValueError(f"arrivals have a shape, one of {', '.join(SHAPES)}")
    fields = {key: item for key, item in value.items() if key != "shape"}
    if any(isinstance(item, bool | str) for item in _leaves(fields)):
        raise ValueError("what arrivals are made of are numbers")
    try:
        made: Arrivals = TypeAdapter(SHAPES[shape]).validate_python(fields)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or shape
        raise ValueError(f"arrivals: {where}: {first.get('ctx', {}).get('error', first['msg'])}") from None
    return made


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = value.values()
    elif not isinstance(value, list | tuple):
        yield value
        return
    for item in value:
        yield from _leaves(item)
