"""Settings that suites share: those of every suite, and of those with ramps.

A kind of work takes the class that fits it: a setting that would do nothing is not offered. A field's description is
its help text and its documentation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from bakeoff.load.load_step import Clients, LoadStep
from bakeoff.plan.design.work import TrialWork
from bakeoff.plan.settings.fields import Duration, Numbers, OptionalNumbers, OptionalWhole, Strict, Whole
from bakeoff.plan.settings.file_weights import FileWeights
from bakeoff.plan.settings.regions import Region

# The engine's limits, which it tells through the bridge: a test holds them equal.
SESSIONS_MAX = 200_000
CLIENTS_MAX = 100_000
LOAD_THREADS_MAX = 1024
LENGTH_MAX_S = 30 * 24 * 3600.0
INTERVAL_MIN_S = 0.1
INTERVALS_MAX = 10_000


@dataclass(frozen=True)
class Clock:
    """When a trial counts and how it is driven; what a kind does not offer has the value that stands here."""

    ramp_up_s: float = 0.0
    ramp_down_s: float = 0.0
    delay_s: float = 0.0
    operations: int | None = None
    load_threads: int = 1
    connect_timeout_s: float = 5.0
    interval_s: float | None = None


class CommonSettings(Strict):
    """The crowd of a suite: how many clients, for how long, on what part of the machine.

    The name of a setting in a plan file is the field's alias; `off` in a field's extra is the flag that turns
    a yes/no setting off.
    """

    # Whether the highest load that meets an objective can be searched for.
    SEARCHABLE: ClassVar[bool] = False
    # Settings that, when they are given, put the suite's own values of others out of use.
    DISPLACES: ClassVar[Mapping[str, Sequence[str]]] = {}

    clients: Numbers = Field(
        (1, 4, 8),
        description="Numbers of clients, one load step each, rising: 1,4,8.",
    )
    virtual_users: Whole = Field(1, ge=1, le=1024, description="Virtual users per client, a connection each.")
    length_s: Duration = Field(
        300.0,
        alias="length",
        gt=0,
        le=LENGTH_MAX_S,
        description="Length of a trial, both ramps included; ramps not given are a tenth at most.",
    )
    think_s: Duration = Field(
        0.0,
        alias="think",
        ge=0,
        le=LENGTH_MAX_S,
        description="Pause of a client after each operation.",
    )
    think_distribution: Literal["fixed", "exponential"] = Field(
        "fixed",
        description="Constant pauses (fixed), or random ones with that mean (exponential), as of independent users.",
        json_schema_extra={"metavar": "fixed|exponential"},
    )
    pin: OptionalNumbers = Field(
        None,
        description="Cores to pin the load threads to, in turn: 0,1; auto pins none.",
        json_schema_extra={"own": True},
    )
    reply_timeout_s: Duration = Field(
        10.0,
        alias="reply_timeout",
        gt=0,
        le=LENGTH_MAX_S,
        description="Give up a reply that is incomplete after this time.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        self._check_clients()
        if self.pin is not None and (not self.pin or min(self.pin) < 0 or len(set(self.pin)) != len(self.pin)):
            raise ValueError("pin: give different core numbers, from 0: 0,1")
        return self

    def _check_clients(self) -> None:
        """Raises ValueError for clients that cannot be."""
        clients = self.clients
        if not clients or min(clients) < 1 or list(clients) != sorted(set(clients)):
            raise ValueError("clients: give different numbers of clients, all at least 1, rising: 1,4,8")
        if max(clients) > CLIENTS_MAX or max(clients) * self.sessions_per_client > SESSIONS_MAX:
            raise ValueError(
                f"clients: there may be {CLIENTS_MAX:,} clients and {SESSIONS_MAX:,} of clients times virtual users at "
                "most, times streams where they have any"
            )

    @classmethod
    def displaced(cls, given: Mapping[str, Any]) -> frozenset[str]:
        """The suite's own values that settings, as they are given, put out of use."""
        return frozenset(name for key, names in cls.DISPLACES.items() if key in given for name in names)

    @property
    def load_steps(self) -> tuple[LoadStep, ...]:
        """The load steps, rising."""
        return tuple(Clients(n) for n in self.clients)

    @property
    def is_at_rates(self) -> bool:
        """Whether operations begin when they are due, and not when earlier ones were answered."""
        return False

    @property
    def servers_memory_bytes(self) -> int | None:
        """The memory of the servers, which may keep files there; None where that was not told."""
        return None

    @property
    def separate_regions(self) -> tuple[Region, ...] | None:
        """Regions of sizes that are told of apart; None where the settings know of none."""
        return None

    @property
    def file_weights(self) -> FileWeights | None:
        """The files of a share, by which sizes are weighed; None where they all weigh the same."""
        return None

    @property
    def keeps_connections(self) -> bool:
        """Whether operations share connections, or have none."""
        return True

    @property
    def clients_by_step(self) -> tuple[int, ...]:
        """How many clients each load step has, or at most has where it is a rate."""
        return tuple(load_step.clients for load_step in self.load_steps)

    @property
    def sessions_per_client(self) -> int:
        """Sessions that a client holds at once: one of each virtual user, or of each of its streams."""
        return self.virtual_users

    @property
    def clock(self) -> Clock:
        return Clock()

    @property
    def window_s(self) -> float:
        """Length of the measured window in seconds (when the trial is bounded by time)."""
        return self.length_s - self.clock.ramp_up_s - self.clock.ramp_down_s

    @property
    def ends_with_its_work(self) -> bool:
        """Whether a trial ends when its work is done; its length is then a limit, not a duration."""
        return self.clock.operations is not None

    @property
    def counted_length_s(self) -> float | None:
        """How long a trial lasts whose end can be counted from its work, the mean over load steps; None where it
        cannot.
        """
        return None

    def work(self, load_step: LoadStep) -> TrialWork | None:
        """What a trial of a load step does, where that is counted beforehand; None where only time bounds it."""
        return None

    @property
    def setup_teardown_s(self) -> float:
        """Longest time of a trial outside its length: what must be done before and after, in seconds."""
        return 0.0

    @property
    def setup_teardown_text(self) -> str:
        """What that is, and how long each part takes at most; empty where there is none."""
        return ""

    @property
    def weighted(self) -> str:
        """What follows the words of the primary endpoint when the plan weighs it: `, weighted by …`."""
        return ""

    def without_effect(self, addresses: Sequence[str]) -> Mapping[str, str]:
        """Settings (as in a plan file) that would do nothing beside the others and these `addresses` of contenders,
        and why. Whoever gives one is told so.
        """
        if self.think_s == 0.0:
            return {"think_distribution": "it has no effect without think: give think, too"}
        return {}

    def stored(self) -> dict[str, Any]:
        """The settings as plain JSON values by field name, units in the names."""
        return self.model_dump(mode="json")


class RampSettings(CommonSettings):
    """Settings of suites whose clients work for a time, all alike."""

    ramp_up_s: Duration = Field(
        30.0,
        alias="ramp_up",
        ge=0,
        le=LENGTH_MAX_S,
        description="Start of a trial that runs but is not counted: 30s.",
    )
    ramp_down_s: Duration = Field(
        30.0,
        alias="ramp_down",
        ge=0,
        le=LENGTH_MAX_S,
        description="End of a trial that runs but is not counted: 30s.",
    )
    delay_s: Duration = Field(
        0.0,
        alias="stagger",
        ge=0,
        le=LENGTH_MAX_S,
        description="Each client begins at a random moment within this time, once. For pauses after operations use "
        "think; for slow replies, `bakeoff serve web --delay`.",
    )
    operations: OptionalWhole = Field(
        None,
        ge=1,
        description="End a trial after this many operations, not by time; the window is then the whole trial.",
    )

    @model_validator(mode="after")
    def _leaves_a_window(self) -> Self:
        if self.operations is None and self.ramp_up_s + self.ramp_down_s >= self.length_s:
            raise ValueError("length includes both ramps: make it longer than ramp_up and ramp_down together")
        return self

    @property
    def clock(self) -> Clock:
        return Clock(self.ramp_up_s, self.ramp_down_s, self.delay_s, self.operations)

    def without_effect(self, addresses: Sequence[str]) -> Mapping[str, str]:
        reasons = super().without_effect(addresses)
        if self.operations is None:
            return reasons
        why = "a trial that is bounded by operations has no ramps: leave it out"
        return {**reasons, "ramp_up": why, "ramp_down": why}
