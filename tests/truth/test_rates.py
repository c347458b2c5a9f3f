"""Open-loop load, against servers whose counts and limits are known."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bakeoff import _engine
from bakeoff.agents.local import LocalAgent
from bakeoff.compare.metrics.overload import is_overloaded
from bakeoff.compare.run import compare_run
from bakeoff.load.arrivals import OnOff, Poisson, Replay, Shape, Steps, arrivals_to_json
from bakeoff.report.narrate.document import to_json
from bakeoff.run.driver import start_run
from bakeoff.store.sqlite.read import read_run
from tests.conftest import Target, web_workload
from tests.control import PATIENCE_S, asking, get_page
from tests.unit.run.fake import Notebook, plan_for

pytestmark = pytest.mark.usefixtures("patient")

MakeTarget = Callable[..., Target]
STARTS = 400


def at_rate(server: Target, per_s: float, arrivals: Any, connections: int, **spec: Any) -> tuple[Any, Any]:
    """The result of a trial at a rate, and its histograms."""
    rate = {"per_s": per_s, "arrivals": arrivals_to_json(arrivals), "most_connections": connections}
    whole = {"load": {"rate": rate}, "seed": 7, "workload": web_workload(server.address), **spec}
    outcome = _engine.start(json.dumps(whole)).go().wait(PATIENCE_S)
    assert outcome is not None
    return json.loads(outcome.json()), outcome.histograms()


@pytest.mark.parametrize("load_threads", [1, 2])
@pytest.mark.parametrize(
    "arrivals",
    [
        Steps(((1.0, 1.0), (0.0, 3600.0))),
        OnOff(1.0, 3600.0),
        Replay(tuple(at / STARTS for at in range(STARTS))),
    ],
    ids=lambda shape: shape.shape,
)
def test_what_is_offered_is_answered_to_the_unit_by_the_servers_own_count(
    target: MakeTarget, arrivals: Shape, load_threads: int
) -> None:
    """All starts lie in one second; the trial ends when the last is answered, however long that takes."""
    server = target()
    per_s = STARTS / 3601.0 if isinstance(arrivals, OnOff) else float(STARTS)
    result, _ = at_rate(server, per_s, arrivals, 30, length_s=3600.0, load_threads=load_threads, max_operations=STARTS)
    starts = result["starts"]
    assert server.counts()["requests"] == result["operations"] == STARTS
    assert (starts["offered"], starts["started"], starts["answered"]) == (STARTS, STARTS, STARTS)
    assert (starts["never_started"], result["response"]["count"]) == (0, STARTS)
    assert result["connections"]["opened"] == server.counts()["connections"] == starts["connections_used"] <= 30
    assert result["response"]["max_ns"] >= result["service"]["max_ns"], "what waited has waited in it"


def test_a_stall_shows_in_response_time_and_not_in_service_time(target: MakeTarget) -> None:
    """Of 300 requests a second a fifth is due while the server stands still: over four connections only four of them
    can be sent to it then, and the others wait for their turn.
    """
    server = target(stall={"for_s": 0.2, "every_s": 1.0})
    with asking(server.address, get_page, clients=1) as bare:
        result, blobs = at_rate(server, 300.0, Poisson(), 4, length_s=4.0)
    starts, count = result["starts"], result["operations"]
    assert _engine.quantiles(blobs["response"], [0.9])[0] > 50e6, "the queue is in the response time"
    longest = _engine.quantiles(blobs["service"], [1 - (nth + 0.5) / count for nth in range(min(count, 100))])
    stalled = sum(time_ns > 100e6 for time_ns in longest)
    # Each connection met each stall once; a few times the machine may hold up the one and not the other.
    assert 4 <= stalled <= 4 * (sum(time_s > 0.1 for time_s in bare.times_s) + 5)
    assert starts["ran_out"] >= 0.1 * starts["offered"]
    # Those that found no connection and began are late by so much; the others still waited when the trial ended.
    assert 0 <= starts["ran_out"] - starts["late"]["count"] <= starts["never_started"]


def test_a_server_that_answers_400_a_second_is_overloaded_at_800_and_nobody_else_is(
    target: MakeTarget, tmp_path: Path
) -> None:
    free, limited, path = target(), target(limit_per_s=400), tmp_path / "x.bakeoff"
    plan = plan_for(
        f"http://{free.address}/",
        f"http://{limited.address}/",
        suite="web-url",
        rate="100,800",
        length="1200ms",
        ramp_up="100ms",
        ramp_down="100ms",
        most_connections="300",
        plan={"blocks": 1},
    )
    start_run(plan, path, [LocalAgent("one")], Notebook())
    run = read_run(path)
    names = [contender.name for contender in run.contenders]
    behind = {(t.contender, t.load_step.x): is_overloaded(t) for t in run.trials}
    assert behind[names[1], 800.0], "it cannot answer more than half"
    for trial in run.trials:
        assert trial.starts is not None and trial.starts.offered == trial.load_step.x, "a window of one second"
        assert trial.starts.answered == trial.operations
    if any(trial.state == "voided" for trial in run.trials):  # the machine stood still: nothing is said of these
        return
    comparison = compare_run(run)
    if not behind[names[0], 800.0]:  # the machine of the moment carries twice the limit: then half of it, too
        assert not behind[names[0], 100.0] and not behind[names[1], 100.0]
        assert [one.overload_load_step for one in comparison.overload_points] == [None, run.load_steps[1]]
        assert comparison.pairs[0].curves[0].points[1].ratio >= 10.0
    text = json.loads(to_json(comparison))
    assert text["overload_points"][1]["overload_rate"]["per_s"] in (100.0, 800.0)
