"""httperf's work by several machines: one sequence of starts, one report."""

import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.compare.run import compare_run
from bakeoff.compat.httperf.divided import Divided
from bakeoff.compat.httperf.options import parse
from bakeoff.compat.httperf.run import run, trial_spec
from bakeoff.core.errors import GeneratorError, PlanError
from bakeoff.kinds.httperf.figures import HttperfFigures
from bakeoff.plan.load import PlanInput, parse_contenders, resolve_plan
from bakeoff.run.driver import start_run
from bakeoff.run.outcome import disturbances
from bakeoff.store.sqlite.read import read_run
from tests.control import PATIENCE_S
from tests.unit.run.fake import WHENEVER, Notebook, plan_for

URIS = [f"/{number}" for number in range(8)]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No trial of this process is void because its machine stood still."""
    monkeypatch.setattr(disturbances, "STOP_S", PATIENCE_S)
    monkeypatch.setattr(disturbances, "LOST_SHARE", PATIENCE_S)


class Site:
    """Counts what is asked for."""

    def __init__(self) -> None:
        asked = self.asked = Counter[str]()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                asked[self.path] += 1
                self.send_response(200)
                self.send_header("Content-Length", "4")
                self.end_headers()
                self.wfile.write(b"page")

            def log_message(self, *words: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 1_000  # a busy machine accepts late

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def words(self, *more: str) -> list[str]:
        return ["--server", "127.0.0.1", "--port", str(self.server.server_address[1]), *more]


class Silent:
    def show(self, snapshot: object) -> None:
        pass

    def end(self) -> None:
        pass


def report(words: list[str], machines: int) -> str:
    found: list[str] = []
    agent = Divided([LocalAgent(f"m{number}") for number in range(machines)])
    assert not run(parse(words), agent, found.append, lambda text: None, Silent())  # type: ignore[arg-type]
    return "".join(found)


@pytest.mark.parametrize("machines", [1, 3])
def test_every_start_is_one_machine_s_and_the_report_is_that_of_all(machines: int, tmp_path: Path) -> None:
    site = Site()
    log = tmp_path / "uris"
    log.write_bytes(b"".join(uri.encode() + b"\0" for uri in URIS))
    words = site.words(
        "--num-conns", "20", "--num-calls", "2", "--rate", "100", "--wlog", f"y,{log}", "--timeout", "900"
    )
    said = report(words, machines)
    site.server.shutdown()
    assert "Total: connections 20 requests 40 replies 40 test-duration " in said
    assert "Reply status: 1xx=0 2xx=40 3xx=0 4xx=0 5xx=0" in said and "Errors: total 0 " in said
    assert sum(site.asked.values()) == 40 and set(site.asked) == set(URIS)


def test_sessions_are_divided_and_a_list_that_ends_is_asked_for_once(tmp_path: Path) -> None:
    site = Site()
    said = report(site.words("--wsess", "7,2,0.01", "--rate", "100", "--timeout", "900"), 3)
    assert "Total: connections 7 requests 14 replies 14 " in said and "Session rate " in said
    log = tmp_path / "uris"
    log.write_bytes(b"".join(uri.encode() + b"\0" for uri in URIS))
    site.asked.clear()
    report(site.words("--num-conns", "100", "--rate", "200", "--wlog", f"n,{log}", "--timeout", "900"), 3)
    site.server.shutdown()
    assert site.asked == Counter(URIS)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--agents", "2", "--rate", "5"], "say with --cluster ADDRESS"),
        (["--cluster", "h", "--agents", "2"], "without a rate one connection"),
        (["--cluster", "h", "--agents", "0"], "--agents: "),
        (["--cluster", "h", "--rate", "5", "--verbose"], "--verbose describes one machine"),
        (["--cluster", "h", "--rate", "5", "--output", "x"], "`bakeoff run httperf --cluster` keeps a run"),
    ],
)
def test_what_several_machines_cannot_do_is_refused(words: list[str], why: str) -> None:
    with pytest.raises(PlanError, match=why):
        parse(words)


def test_a_plan_without_a_rate_is_not_divided_and_the_engine_says_so_as_well() -> None:
    given = PlanInput(
        "plan.toml", {"suite": "httperf"}, {}, parse_contenders(["a=http://h/"]), {}, None, {"agents": 2}, {}
    )
    with pytest.raises(PlanError, match="one machine's work: leave agents out, or give rate or period"):
        resolve_plan(given)
    plan = resolve_plan(
        PlanInput("p", {"suite": "httperf"}, {"rate": "5"}, given.contenders, {}, None, {"agents": 2}, {})
    )
    assert plan.fleet.agents == 2


def test_a_machine_that_is_lost_leaves_no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site()
    lost = Divided([LocalAgent("a"), LocalAgent("b")])
    session = lost.start(trial_spec(parse(site.words("--num-conns", "4", "--rate", "50"))))
    outcome = None
    while outcome is None:
        outcome = session._session.wait(0.1)
    gone = type(outcome)(None, outcome.parts)
    monkeypatch.setattr(session._session, "wait", lambda timeout_s: gone)
    with pytest.raises(GeneratorError, match="there is no report"):
        session.wait(1.0)
    site.server.shutdown()


def test_a_run_of_several_machines_has_one_client_and_books_that_add_up(tmp_path: Path) -> None:
    site, path = Site(), tmp_path / "x.bakeoff"
    words = {"rate": "100,200", "num_conns": "30", "num_calls": "2", "timeout": "900", "length": "1h"}
    address = f"http://127.0.0.1:{site.server.server_address[1]}/"
    plan = plan_for(address, suite="httperf", plan={"blocks": 1}, fleet=WHENEVER, **words)
    start_run(plan, path, [LocalAgent("one"), LocalAgent("two")], Notebook())
    site.server.shutdown()
    recorded = read_run(path)
    assert [trial.state for trial in recorded.trials] == ["ok", "ok"], [trial.reason for trial in recorded.trials]
    for trial in recorded.trials:
        figures = trial.figures(HttperfFigures)
        assert figures.errors.total == 0, figures.errors
        assert (figures.connections, figures.starts, figures.starts_planned, figures.replies) == (30, 30, 30, 60)
        assert [share.agent for share in trial.per_agent] == ["one", "two"]
        assert sum(share.operations for share in trial.per_agent) == trial.operations == 90
        assert trial.starts is not None and trial.starts.offered == 30 and len(trial.per_client) == 1
    exact = next(audit for audit in compare_run(recorded).audits if audit.name == "Connections")
    assert exact.deviating == ()
