"""The trial spec that crosses to the engine as JSON. The Rust side holds the same schema in serde."""

from typing import Any, Literal

from pydantic import Field, SerializeAsAny, field_validator

from bakeoff.kinds.spec import SECRET_BITS, NullCalibration, Spec, Workload, spec_part
from bakeoff.load.load_step import LoadStep, LoadStepField


def of_its_kind(value: Any) -> Any:
    """A workload as it is, or from its JSON object."""
    return spec_part(str(value.get("kind"))).model_validate(value) if isinstance(value, dict) else value


class NullWorkload(Workload):
    """Does nothing, as fast as it can, and is no kind of suite; or asks a server that does nothing, which its machine
    starts on loopback for the trial: the generator capacity.
    """

    kind: Literal["null"] = "null"
    server: NullCalibration | None = None

    @field_validator("server", mode="before")
    @classmethod
    def _asks(cls, value: Any) -> Any:
        return {**value, "asked": of_its_kind(value["asked"])} if isinstance(value, dict) else value


class Slice(Spec):
    """Which part of a load step an agent drives: part `index` of `of`, counted from 0."""

    index: int = Field(ge=0)
    of: int = Field(ge=1)

    def clients(self, load_step_clients: int) -> int:
        """How many of a load step's clients that are; may be none."""
        return load_step_clients * (self.index + 1) // self.of - load_step_clients * self.index // self.of


WHOLE = Slice(index=0, of=1)


class TrialSpec(Spec):
    """Everything the engine needs for one trial. `length_s` includes both ramps, `load` is that of all agents; with
    `interval_s` it is a soak, which tells rows of that length while it goes on and has no seconds. `streams` requests
    at once share the connection of a thread. `secret` is of this trial alone, from the system's randomness, and told to
    nobody before the trial is over: by it is drawn what contenders must not foresee.
    """

    workload: SerializeAsAny[Workload]
    load: LoadStepField
    virtual_users: int = Field(default=1, ge=1)
    streams: int = Field(default=1, ge=1)
    ramp_up_s: float = Field(default=0.0, ge=0)
    ramp_down_s: float = Field(default=0.0, ge=0)
    length_s: float = Field(gt=0)
    delay_s: float = Field(default=0.0, ge=0)
    think_s: float = Field(default=0.0, ge=0)
    think_distribution: Literal["fixed", "exponential"] = "fixed"
    max_operations: int | None = None
    interval_s: float | None = Field(default=None, gt=0)
    connect_timeout_s: float = Field(default=5.0, gt=0)
    reply_timeout_s: float = Field(default=10.0, gt=0)
    load_threads: int = Field(default=1, ge=1)
    pin: tuple[int, ...] | None = None
    poll: bool = False
    seed: int = Field(default=1, ge=0)
    secret: int = Field(default=0, ge=0, lt=1 << SECRET_BITS)
    slice: Slice = WHOLE

    @field_validator("workload", mode="before")
    @classmethod
    def _of_its_kind(cls, value: Any) -> Any:
        is_null = isinstance(value, dict) and value.get("kind") == "null"
        return NullWorkload.model_validate(value) if is_null else of_its_kind(value)

    def for_trial(self, load: LoadStep, seed: int, mark: str, secret: int) -> "TrialSpec":
        """The spec of one trial, whose mark and secret all its agents are told."""
        workload = self.workload.under(load).marked(mark)
        return self.model_copy(update={"load": load.load, "seed": seed, "secret": secret, "workload": workload})

    def part(self, part: Slice) -> "TrialSpec":
        """The same trial for the agent that drives this part of it."""
        return self.model_copy(update={"slice": part})

    def to_json(self) -> str:
        """The text that crosses the bridge."""
        return self.model_dump_json()
