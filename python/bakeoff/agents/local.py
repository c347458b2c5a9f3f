"""The agent in this process: the Rust engine through `bakeoff._engine`."""

import importlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bakeoff.agents.base import Facts
from bakeoff.agents.capacity import Demand
from bakeoff.agents.environment import environment, own_addresses
from bakeoff.agents.limits import limits
from bakeoff.agents.preflight import preflight
from bakeoff.agents.result import EngineEvent, Outcome, RowResult, Snapshot, SoakRow, TrialResult
from bakeoff.agents.spec import WHOLE, Slice, TrialSpec
from bakeoff.errors import LabError, PlanError
from bakeoff.kinds import run_part

if TYPE_CHECKING:
    from bakeoff.plan.model import Plan
    from bakeoff.run.kind import Check


def load_engine() -> Any:
    """The engine's module. Raises LabError with advice when it was not built."""
    try:
        return importlib.import_module("bakeoff._engine")
    except ImportError as error:
        raise LabError(f"the engine is not built ({error}): run `make build` in Bakeoff's folder") from None


@contextmanager
def explained() -> Iterator[None]:
    """Errors of the engine, and figures of it that cannot be read, as sentences."""
    engine = load_engine()
    try:
        yield
    except engine.SpecError as error:
        raise PlanError(f"the engine refuses the trial: {error}") from None
    except engine.EngineError as error:
        raise LabError(f"the engine cannot run the trial: {error}") from None
    except ValueError as error:  # of JSON or of its schema
        raise LabError(f"the engine tells what cannot be read ({str(error)[:200]}): build it anew") from None


def read_outcome(outcome: Any) -> Outcome:
    """What the engine gives at the end of a trial."""
    return Outcome(TrialResult.model_validate_json(outcome.json()), dict(outcome.histograms()))


class LocalAgent:
    """Runs trials in this process."""

    def __init__(self, name: str = "local") -> None:
        self.name = name
        self._engine = load_engine()

    def facts(self) -> Facts:
        """See Agent."""
        return Facts(
            environment=environment(),
            build=dict(self._engine.build_info()),
            processors=tuple(sorted(os.sched_getaffinity(0))),
            addresses=own_addresses(),
            limits=limits(),
        )

    def preflight(self, demand: Demand) -> Sequence[str]:
        """See Agent."""
        return preflight(demand)

    def check(self, plan: "Plan") -> "Check":
        """See Agent."""
        return run_part(plan.kind).check(plan)

    def accept(self, spec: TrialSpec, part: Slice = WHOLE) -> None:
        """See Agent."""
        with explained():
            self._engine.check(spec.part(part).to_json())

    def start(self, spec: TrialSpec, part: Slice = WHOLE) -> "LocalSession":
        """See Agent."""
        with explained():
            return LocalSession(self._engine.start(spec.part(part).to_json()))


class LocalSession:
    """A trial in this process."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def snapshot(self) -> Snapshot:
        """See TrialSession."""
        with explained():
            return Snapshot.model_validate_json(self._handle.snapshot())

    def drain_events(self) -> Sequence[EngineEvent]:
        """See TrialSession."""
        with explained():
            return [EngineEvent.model_validate(json.loads(text)) for text in self._handle.drain_events()]

    def drain_rows(self) -> Sequence[SoakRow]:
        """See TrialSession."""
        with explained():
            rows = self._handle.drain_rows()
            return [SoakRow(RowResult.model_validate_json(told), *blobs) for told, *blobs in rows]

    def wait(self, timeout_s: float) -> Outcome | None:
        """See TrialSession."""
        with explained():
            outcome = self._handle.wait(timeout_s)
            return None if outcome is None else read_outcome(outcome)

    def cancel(self) -> None:
        """See TrialSession."""
        self._handle.cancel()
