"""The agent in this process: the Rust engine through `bakeoff._engine`."""

import importlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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


@contextmanager
def _explained() -> Iterator[None]:
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


class LocalAgent:
    """Runs trials in this process."""

    def __init__(self) -> None:
        self._engine = load_engine()

    def check(self, spec: TrialSpec) -> None:
        """See Agent."""
        with _explained():
            self._engine.check(spec.to_json())

    def start(self, spec: TrialSpec) -> "LocalSession":
        """See Agent."""
        with _explained():
            return LocalSession(self._engine.start(spec.to_json()))

    def describe(self) -> dict[str, str]:
        """See Agent."""
        return dict(self._engine.build_info())


class LocalSession:
    """A trial in this process."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def snapshot(self) -> Snapshot:
        """See TrialSession."""
        with _explained():
            return Snapshot.model_validate_json(self._handle.snapshot())

    def drain_events(self) -> Sequence[EngineEvent]:
        """See TrialSession."""
        with _explained():
            return [EngineEvent.model_validate(json.loads(text)) for text in self._handle.drain_events()]

    def wait(self, timeout_s: float) -> Outcome | None:
        """See TrialSession."""
        with _explained():
            outcome = self._handle.wait(timeout_s)
            if outcome is None:
                return None
            return Outcome(TrialResult.model_validate_json(outcome.json()), dict(outcome.histograms()))

    def cancel(self) -> None:
        """See TrialSession."""
        self._handle.cancel()
