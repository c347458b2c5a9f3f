"""Live figures of a trial are those of its result."""

import json
from collections.abc import Callable

import pytest

from bakeoff import _engine
from bakeoff.agents.result import Snapshot, TrialResult
from tests.conftest import Target, web_workload
from tests.control import PATIENCE_S

STEP = 1 / 32  # live times are told within so much of themselves
DIGITS = 1e-3  # and those of the result within this


def test_percentiles_of_a_delayed_target_are_those_of_the_trials_own_histogram(target: Callable[..., Target]) -> None:
    """The first look reaches back to the start: both speak of the same operations."""
    server = target(delay_s=0.004, stall={"for_s": 0.1, "every_s": 0.4})
    spec = {"load": {"clients": 4}, "length_s": 600, "max_operations": 800, "workload": web_workload(server.address)}
    handle = _engine.start(json.dumps(spec)).go()
    result = TrialResult.model_validate_json(handle.wait(PATIENCE_S).json())
    seen = Snapshot.model_validate(handle.snapshot())
    assert [(count.name, count.operations, count.errors) for count in seen.per_operation] == [("page", 800, 0)]
    assert (seen.recent.operations, seen.recent.span_s) == (800, seen.elapsed_s)
    assert seen.recent.p50_ns == pytest.approx(result.service.p50_ns, rel=STEP + DIGITS)
    assert seen.recent.p99_ns == pytest.approx(result.service.p99_ns, rel=STEP + DIGITS)
    assert result.service.min_ns is not None and result.service.min_ns >= 4e6 * (1 - DIGITS)
