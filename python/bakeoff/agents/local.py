"""The agent in this process: the Rust engine through `bakeoff._engine`."""

import importlib
import json
from collections.abc import Sequence
from typing import Any

from bakeoff.agents.result import EngineEvent, Outcome, Snapshot, TrialResult
from bakeoff.agents.spec import TrialSpec
from bakeoff.errors import LabError, PlanError


def load_engine() -> Any:
    """The engine's module. Raises LabError with advice when it was not built."""
    try:
        return importlib.import_module("bakeoff._engine")
    except ImportError as error:
        raise LabError(f"the engine is not built ({error}): run `make build` in Bakeoff's folder") from None


class LocalAgent:
    """Runs trials in this process."""

    def __init__(self) -> None:
        self._engine = load_engine()

    def start(self, spec: TrialSpec) -> "LocalSession":
        """See Agent."""
        try:
            return LocalSession(self._engine.start(spec.to_json()))
        except self._engine.SpecError as error:
            raise PlanError(f"the engine refuses the trial: {error}") from None
        except self._engine.EngineError as error:
            raise LabError(f"the engine cannot run the trial: {error}") from None

    def describe(self) -> dict[str, str]:
        """See Agent."""
        return dict(self._engine.build_info())


class LocalSession:
    """A trial in this process."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def snapshot(self) -> Snapshot:
        """See TrialSession."""
        return Snapshot.model_validate_json(self._handle.snapshot())

    def drain_events(self) -> Sequence[EngineEvent]:
        """See TrialSession."""
        return [EngineEvent.model_validate(json.loads(text)) for text in self._handle.drain_events()]

    def wait(self, timeout_s: float) -> Outcome | None:
        """See TrialSession."""
        outcome = self._handle.wait(timeout_s)
        if outcome is None:
            return None
        return Outcome(TrialResult.model_validate_json(outcome.json()), dict(outcome.histograms()))

    def cancel(self) -> None:
        """See TrialSession."""
        self._handle.cancel()
