"""Settings of suites that make connections."""

from collections.abc import Mapping, Sequence
from typing import Literal, Self

from pydantic import Field, model_validator

from bakeoff.load.arrivals import Ramp, Replay, Steps
from bakeoff.load.load_step import Rate
from bakeoff.plan.rules.soak_stop_rules import StopRules
from bakeoff.plan.settings.fields import Duration, OptionalDuration, Whole, Words
from bakeoff.plan.settings.rate import RateSettings
from bakeoff.plan.settings.shared import INTERVAL_MIN_S, INTERVALS_MAX, LENGTH_MAX_S, LOAD_THREADS_MAX, Clock

# Arrivals whose rate changes over a trial.
UNSTEADY = (Ramp, Steps, Replay)


class NetworkSettings(RateSettings):
    """Settings of suites whose clients make connections, or at whose servers so many operations begin each second."""

    load_threads: Whole = Field(
        1,
        ge=1,
        le=LOAD_THREADS_MAX,
        description="Threads that send load (wrk: -t), a core each.",
        json_schema_extra={"own": True},
    )
    connect_timeout_s: Duration = Field(
        5.0,
        alias="connect_timeout",
        gt=0,
        le=LENGTH_MAX_S,
        description="Give up connecting after this time.",
    )
    poll: Literal["auto", "on", "off"] = Field(
        "auto",
        description="Poll for replies instead of sleeping until they come. auto: with servers on other machines, while "
        "each load thread has a core to itself.",
        json_schema_extra={"own": True},
    )
    interval_s: OptionalDuration = Field(
        None,
        alias="interval",
        ge=INTERVAL_MIN_S,
        le=LENGTH_MAX_S,
        description="Makes each trial a soak: figures of each interval of this length (1h) are stored when it ends, "
        "in place of seconds. `bakeoff soak` gives it.",
        json_schema_extra={"own": True},
    )
    stop_if: StopRules = Field(
        (),
        description="Stop a soak when an interval is so, or several in a row: 'errors>1%,p99>2s for 3,rate<100'. "
        "p50, p95, p99 and max are response times.",
        json_schema_extra={"own": True},
    )
    give_up_s: Duration = Field(
        300.0,
        alias="give_up",
        gt=0,
        le=LENGTH_MAX_S,
        description="Stop the soak of a contender after this time without a success, not counting time-outs and "
        "pauses.",
        json_schema_extra={"own": True},
    )

    @model_validator(mode="after")
    def _is_a_soak_at_constant_load(self) -> Self:
        if self.interval_s is None:
            return self
        if self.length_s / self.interval_s > INTERVALS_MAX:
            raise ValueError(
                f"interval: at most {INTERVALS_MAX:,} intervals in a trial: take longer ones, or a shorter length"
            )
        if self.operations is not None:
            raise ValueError("interval: a soak ends by time: leave operations out")
        if len(self.load_steps) > 1:
            raise ValueError("interval: a soak has one load: give one number of clients, or one rate")
        if any(
            isinstance(load_step, Rate) and isinstance(load_step.arrivals, UNSTEADY) for load_step in self.load_steps
        ):
            raise ValueError("interval: the load of a soak does not change: leave ramp, steps and replay out")
        return self

    @property
    def clock(self) -> Clock:
        return Clock(
            self.ramp_up_s,
            self.ramp_down_s,
            self.delay_s,
            self.operations,
            self.load_threads,
            self.connect_timeout_s,
            self.interval_s,
        )

    def without_effect(self, addresses: Sequence[str]) -> Mapping[str, str]:
        reasons = super().without_effect(addresses)
        if self.interval_s is not None:
            return reasons
        why = "stop rules apply to soaks alone: give row, too, or use `bakeoff soak`"
        return {**reasons, "stop_if": why, "give_up": why}

    @property
    def soak_note(self) -> str:
        """What of a soak grows with its length; empty where nothing does."""
        return ""

    @property
    def source_count(self) -> int:
        """How many local addresses connections come from."""
        return 1

    @property
    def closes(self) -> int | None:
        """Connections to a contender that a trial ends from this side: 0 where servers end them, None where only their
        speed decides.
        """
        return 0


class SourceSettings(NetworkSettings):
    """Settings of suites whose connections may come from several local addresses."""

    source_addresses: Words = Field(
        (),
        description="Local addresses to connect from, in turn: 127.0.0.2,127.0.0.3.",
        json_schema_extra={"metavar": "ADDRESS,...", "own": True},
    )

    @property
    def source_count(self) -> int:
        return max(1, len(self.source_addresses))
