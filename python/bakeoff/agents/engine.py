"""The engine's module, and what it raises and gives in the terms of the control plane."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bakeoff.agents.result import Outcome, TrialResult
from bakeoff.core.errors import GeneratorError, PlanError


def load_engine() -> Any:
    """The engine's module. Raises GeneratorError with advice when it was not built."""
    try:
        return importlib.import_module("bakeoff._engine")
    except ImportError as error:
        raise GeneratorError(f"the engine is not built ({error}): run `make build` in Bakeoff's folder") from None


@contextmanager
def explained() -> Iterator[None]:
    """Errors of the engine, and figures of it that cannot be read, as sentences."""
    engine = load_engine()
    try:
        yield
    except engine.SpecError as error:
        raise PlanError(f"the engine refuses the trial: {error}") from None
    except engine.EngineError as error:
        raise GeneratorError(f"the engine cannot run the trial: {error}") from None
    except ValueError as error:  # of JSON or of its schema
        raise GeneratorError(f"the engine's result cannot be read ({str(error)[:200]}): build it again") from None


def read_outcome(outcome: Any) -> Outcome:
    """What the engine gives at the end of a trial."""
    return Outcome(TrialResult.model_validate_json(outcome.json()), dict(outcome.histograms()))
