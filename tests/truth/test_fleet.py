"""Two agents of this process against one server: what it counted is what they measured together."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bakeoff import _engine
from bakeoff.agents.local import LocalAgent
from bakeoff.agents.spec import Slice, TrialSpec
from bakeoff.load.arrivals import Arrivals, Constant, Poisson
from bakeoff.load.load_step import Clients, Rate
from bakeoff.run.checks.specs import trial_spec
from bakeoff.run.driver import start_run
from bakeoff.run.fleet.sessions import Fleet
from bakeoff.store.sqlite.read import read_run
from tests.conftest import Target
from tests.control import PATIENCE_S
from tests.unit.run.fake import WEB, WHENEVER, Notebook, plan_for

pytestmark = pytest.mark.usefixtures("patient")


def spec_for(server: Target, **changes: Any) -> TrialSpec:
    """Clients that ask for one page, a thousand times in all."""
    plan = plan_for(f"http://{server.address}/", suite="web-url")
    agent = LocalAgent()
    spec = trial_spec(WEB.check(plan), plan.contenders[0], [server.address], agent.facts())
    quiet = {"load": Clients(5), "max_operations": 1_000, "length_s": 3600.0, "delay_s": 0.0, "think_s": 0.0}
    return spec.model_copy(update=quiet | changes)


def test_the_server_has_counted_what_both_have_measured(target: Callable[..., Target]) -> None:
    server = target()
    fleet = Fleet([LocalAgent("one"), LocalAgent("two")])
    spec = spec_for(server)
    outcome = fleet.start({"one": spec, "two": spec}).wait(PATIENCE_S)
    assert outcome is not None and outcome.whole is not None
    whole, counts = outcome.whole.result, server.counts()
    assert whole.operations == counts["requests"] == 1_000 and whole.errors_total == 0
    parts = [part.outcome.result for part in outcome.parts if part.outcome is not None]
    assert [part.operations for part in parts] == [400, 600], "by their clients: 2 and 3 of 5"
    assert whole.bytes_in == sum(part.bytes_in for part in parts) == counts["bytes"]
    assert whole.statuses == {"2xx": 1_000} and whole.connections.opened == counts["connections"]
    assert {client.client for client in whole.per_client} == {0, 1, 2, 3, 4}
    assert sum(client.operations for client in whole.per_client) == 1_000
    for name in ("service", "step/first_byte"):
        assert json.loads(_engine.ForTests.summary(outcome.whole.histograms[name]))["count"] == 1_000
    assert sum(second.service.count for second in whole.per_second) == 1_000


def test_clients_do_the_same_whichever_agent_drives_them(target: Callable[..., Target]) -> None:
    """A client's requests come from its number and the seed alone."""
    server = target()
    spec = spec_for(server, max_operations=50)
    for of in (1, 2, 5):
        seen = set[int]()
        for index in range(of):
            session = LocalAgent().start(spec, Slice(index=index, of=of))
            outcome = session.go().wait(PATIENCE_S)
            assert outcome is not None
            seen |= {client.client for client in outcome.result.per_client}
        assert seen == {0, 1, 2, 3, 4}


@pytest.mark.parametrize("shape", [Constant(), Poisson()], ids=["constant", "poisson"])
def test_two_agents_send_a_rate_to_the_unit(target: Callable[..., Target], shape: Arrivals) -> None:
    """Each begins its half of one schedule, and the server has seen every start once."""
    server, count = target(), 400
    fleet = Fleet([LocalAgent("one"), LocalAgent("two")])
    rate = Rate(per_s=1_000.0, arrivals=shape, most_connections=100)
    spec = spec_for(server, load=rate, max_operations=count, load_threads=2)
    outcome = fleet.start({"one": spec, "two": spec}).wait(PATIENCE_S)
    assert outcome is not None and outcome.whole is not None
    whole = outcome.whole.result
    assert whole.starts is not None and whole.response is not None
    assert (whole.starts.offered, whole.starts.started, whole.starts.never_started) == (count, count, 0)
    assert whole.operations == whole.response.count == server.counts()["requests"] == count
    parts = [part.outcome.result for part in outcome.parts if part.outcome is not None]
    assert [part.operations for part in parts] == [count // 2] * 2
    # Half of 400 starts at 500 a second, and none before its moment.
    if isinstance(shape, Constant):
        assert all(part.elapsed_s >= (count / 2 - 2) / 500 - 1e-6 for part in parts)
    for name in ("response", "response/url", "late"):
        document = json.loads(_engine.ForTests.summary(outcome.whole.histograms[name]))["count"]
        assert document == (whole.starts.late.count if name == "late" else count)


def test_a_run_of_two_agents_has_a_share_of_each(target: Callable[..., Target], tmp_path: Path) -> None:
    server, path = target(), tmp_path / "x.bakeoff"
    plan = plan_for(
        f"http://{server.address}/", suite="web-url", clients="2", operations="100", plan={"blocks": 1}, fleet=WHENEVER
    )
    start_run(plan, path, [LocalAgent("one"), LocalAgent("two")], Notebook())
    (trial,) = read_run(path).trials
    assert (trial.state, trial.operations, trial.errors_total) == ("ok", 100, 0)
    assert [(share.agent, share.clients, share.operations) for share in trial.per_agent] == [
        ("one", 1, 50),
        ("two", 1, 50),
    ]
