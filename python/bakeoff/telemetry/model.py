"""What was seen of one machine or server in one trial, sampled about once a second."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from bakeoff.telemetry.readers.processors import MOST_PROCESSORS

GENERATOR, CONTENDER = "generator", "contender"
# How often is sampled: whoever samples takes a processor from those who are measured.
EVERY_S = 1.0
# So many intervals are kept of a trial, those of eight minutes; of longer ones two become one, again and again.
MOST_INTERVALS = 480
MOST_SERIES = 400
MOST_GAPS = 100
MOST_TEXT = 300

Finite = Annotated[float, Field(allow_inf_nan=False, strict=True)]
Share = Annotated[Finite, Field(ge=0, le=1)]


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Gap(_Lenient):
    """From when to when nothing is known, s after traffic began, and why."""

    from_s: Finite
    to_s: Finite
    why: str = Field(max_length=MOST_TEXT)


class Cost(_Lenient):
    """What sampling took: processor time here (in which a helper such as ssh is) and there (`remote_cpu_s`, None where
    nobody counts it), bytes asked and received, and how many samples there were.
    """

    samples: int = 0
    cpu_s: Finite = 0.0
    remote_cpu_s: Finite | None = None
    out_bytes: int = 0
    in_bytes: int = 0


class Telemetry(_Lenient):
    """One of the `role` and `name`; `source` says how it was sampled, in the words of `--watch`.

    Each interval begins `at_s` after traffic did and is `width_s` long. `series` has a value for each interval, None
    where it is not known: of what is counted (`bakeoff.telemetry.names`) how much it grew, of the rest what it was at
    the end. `facts` are what does not change: processors, memory, which machine. `window_s` are begin and end of the
    measured window. `processor_shares` says for how much of it each processor worked, by its number, of what a
    hypervisor left of it; `busiest_share` whichever worked most in a second, mean over the seconds.
    """

    role: Literal["generator", "contender"]
    name: str
    source: str = Field(max_length=1_000)
    window_s: tuple[Finite, Finite]
    at_s: tuple[Finite, ...] = Field((), max_length=2 * MOST_INTERVALS)
    width_s: tuple[Finite, ...] = Field((), max_length=2 * MOST_INTERVALS)
    series: dict[str, tuple[Finite | None, ...]] = Field(default_factory=dict, max_length=MOST_SERIES)
    facts: dict[str, Any] = Field(default_factory=dict)
    processor_shares: tuple[Share | None, ...] = Field((), max_length=MOST_PROCESSORS)
    busiest_share: Share | None = None
    gaps: tuple[Gap, ...] = Field((), max_length=MOST_GAPS)
    cost: Cost = Cost()
