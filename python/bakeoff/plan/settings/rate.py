"""Settings of open-loop loads: how many operations begin each second, how they are spread, and on what."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from bakeoff.load.arrivals import Constant, Replay
from bakeoff.load.load_step import RATE_MAX_PER_S, LoadStep, Rate
from bakeoff.plan.input.rates import ArrivalsField, Rates
from bakeoff.plan.settings.fields import Whole
from bakeoff.plan.settings.shared import CLIENTS_MAX, RampSettings

# What a plan at rates has no use for: operations begin when they are due, whoever is free.
# How the shapes of arrivals begin.
SHAPES = ("constant", "poisson", "uniform", "ramp:", "steps:", "burst:", "on-off:", "file:")
CLIENT_SETTINGS = ("clients", "virtual_users", "stagger", "think", "think_distribution")


class RateSettings(RampSettings):
    """Settings of suites whose load is a crowd of clients, or a rate."""

    SEARCHABLE: ClassVar[bool] = True
    DISPLACES: ClassVar[Mapping[str, Sequence[str]]] = {"rate": CLIENT_SETTINGS, "arrivals": CLIENT_SETTINGS}

    rate: Rates = Field(
        None,
        description="Open-loop load: this many operations begin each second, also while earlier ones wait; "
        "one load step each, rising: 500,1000,2000. In place of --clients.",
    )
    arrivals: ArrivalsField = Field(
        Constant(),
        description="How the starts of --rate are spread over time: constant, poisson (random, as independent users), "
        "uniform (random gaps up to twice the mean), ramp:0.2-1.8 (from one factor of the rate to another over the "
        "trial), steps:0.5x10s,2x5s (factors by turns), burst:10 (so many at once), on-off:1s/4s (pauses between), or "
        "file:times.txt (recorded moments in seconds, one in a line, in place of --rate).",
        json_schema_extra={"metavar": "SHAPE", "path": "file", "after": "file:", "values": list(SHAPES)},
    )
    most_connections: Whole = Field(
        1000,
        ge=1,
        le=CLIENTS_MAX,
        description="The most connections that carry a --rate; they are opened as they are needed. A start that finds "
        "all of them busy waits, and its response time counts from when it was due.",
        json_schema_extra={"own": True},
    )

    @model_validator(mode="before")
    @classmethod
    def _rates_displace_clients(cls, given: Any) -> Any:
        """At rates there are no numbers of clients, not even those that the field has by default."""
        if not isinstance(given, dict) or "clients" in given or not _at_rates(given):
            return given
        return {**given, "clients": ()}

    def _check_clients(self) -> None:
        rates = self.rate
        if rates is None and not isinstance(self.arrivals, Replay):
            super()._check_clients()
            return
        if self.clients:
            raise ValueError("clients: a plan has clients or a rate (clients) or a rate: leave one of the two out")
        if isinstance(self.arrivals, Replay):
            self._check_moments(self.arrivals.at_s)
        elif not rates or list(rates) != sorted(set(rates)) or rates[0] <= 0:
            raise ValueError("rate: give different rates, all above 0, rising: 500,1000,2000")
        elif rates[-1] * self.arrivals.peak > RATE_MAX_PER_S:
            raise ValueError(f"rate: {RATE_MAX_PER_S:,.0f} starts a second at most, in peaks of arrivals as well")

    def _check_moments(self, at_s: Sequence[float]) -> None:
        if self.rate is not None:
            raise ValueError("rate: recorded moments (arrivals) have their own: leave rate out")
        if self.operations is not None:
            raise ValueError("operations: recorded moments (arrivals) end a trial themselves: leave operations out")
        if not at_s or at_s[-1] >= self.length_s:
            last = f"the last of them is at {at_s[-1]:g} s" if at_s else "there are none"
            raise ValueError(
                f"arrivals: all recorded moments lie within the trial, whose length is {self.length_s:g} s, and {last}"
            )

    @model_validator(mode="after")
    def _nothing_of_clients_at_rates(self) -> Self:
        if not self.is_at_rates:
            return self
        if self.virtual_users != 1:
            raise ValueError("virtual_users: a rate has no clients with virtual users: leave it out")
        if self.think_s:
            raise ValueError("think: an open loop waits for no reply, so it has no pauses: leave it out")
        if self.delay_s:
            raise ValueError("stagger: a rate has no clients to spread: leave it out")
        return self

    @model_validator(mode="after")
    def _asks_in_the_window(self) -> Self:
        """A window without a start would be lost by whoever is measured in it."""
        if not self.is_at_rates or self.operations is not None:
            return self
        begin_s, end_s = self.ramp_up_s, self.length_s - self.ramp_down_s
        for load_step in self.load_steps:
            if (
                isinstance(load_step, Rate)
                and load_step.arrivals.planned(load_step.per_s, begin_s, end_s, self.length_s) < 1.0
            ):
                raise ValueError(
                    f"length: at {load_step.words}, {load_step.arrivals.words}, no start falls into the window from "
                    f"{begin_s:g} to {end_s:g} s: make trials longer or ramps shorter, or choose other arrivals"
                )
        return self

    @property
    def is_at_rates(self) -> bool:
        return self.rate is not None or isinstance(self.arrivals, Replay)

    @property
    def load_steps(self) -> tuple[LoadStep, ...]:
        """See CommonSettings. Recorded moments are one load step, at their mean over the trial."""
        if isinstance(self.arrivals, Replay):
            rates: Sequence[float] = (len(self.arrivals.at_s) / self.length_s,)
        elif self.rate is None:
            return super().load_steps
        else:
            rates = self.rate
        return tuple(Rate(per_s, self.arrivals, self.most_connections) for per_s in rates)

    def without_effect(self, addresses: Sequence[str]) -> Mapping[str, str]:
        reasons = super().without_effect(addresses)
        if self.is_at_rates:
            return reasons
        why = "belongs to a rate: give --rate, too, or leave it out"
        return {**reasons, "arrivals": why, "most_connections": why}


def _at_rates(given: Mapping[str, Any]) -> bool:
    """Whether settings as they are given make a plan at rates."""
    arrivals = given.get("arrivals")
    recorded = arrivals.get("shape") == Replay.shape if isinstance(arrivals, dict) else isinstance(arrivals, Replay)
    return given.get("rate") is not None or recorded or (isinstance(arrivals, str) and arrivals.startswith("file:"))
