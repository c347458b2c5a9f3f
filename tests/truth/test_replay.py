"""A replayed log against a server that writes down what it is asked, and when."""

import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from bakeoff import _engine
from bakeoff.agents.local import LocalAgent
from bakeoff.agents.result import TrialResult
from bakeoff.kinds.replay.run import ReplayCheck
from bakeoff.plan.load import PlanInput, parse_contenders, resolve_plan, with_flags
from bakeoff.run.checks.specs import trial_spec
from bakeoff.run.fleet.sessions import Fleet
from tests.control import PATIENCE_S

SECONDS, PER_S = 4, 25
PATHS = ("/", "/a?x=1", "/b", "/c%20d", "/rare")


@dataclass
class Book:
    """What a server was asked, in the order of arrival."""

    asked: list[tuple[float, str, str, str, bytes]] = field(default_factory=list)
    statuses: dict[str, int] = field(default_factory=dict)


@pytest.fixture
def server() -> Iterator[tuple[str, Book]]:
    """A server that answers everything, with the status of the path where the book has one."""
    book = Book()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = 1 << 16

        def _answer(self) -> None:
            at_s = time.perf_counter()
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            book.asked.append((at_s, self.command, self.path, self.headers["Host"], body))
            self.send_response(book.statuses.get(self.path, 200))
            self.send_header("Content-Length", "2")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(b"ok")

        do_GET = do_HEAD = do_POST = _answer

        def log_message(self, format: str, *args: Any) -> None:
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{httpd.server_address[1]}", book
    httpd.shutdown()


def made_up(path: Path) -> list[str]:
    """A log with PER_S requests in each second, its own requests in their order."""
    requests = []
    for number in range(SECONDS * PER_S):
        method = "HEAD" if number % 10 == 9 else "GET"
        requests.append(f"{method} {PATHS[number * number % 5 if number % 50 else 4]}")
    line = '::1 - - [10/Oct/2026:13:55:{second:02d} +0000] "{request} HTTP/1.1" 200 5 "-" "x"\n'
    path.write_text("".join(line.format(second=n // PER_S, request=request) for n, request in enumerate(requests)))
    return requests


def replay(log: Path, address: str, **settings: object) -> TrialResult:
    """One trial, without the checks before it."""
    given = PlanInput("command line", {"suite": "replay"}, {}, parse_contenders([f"a=http://{address}"]))
    plan = resolve_plan(with_flags(given, {}, {"log": str(log), **settings}, {}))
    agent = LocalAgent()
    spec = trial_spec(ReplayCheck(plan), plan.contenders[0], [address], agent.facts())
    outcome = _engine.start(spec.to_json()).go().wait(PATIENCE_S)
    assert outcome is not None
    return TrialResult.model_validate_json(outcome.json())


def assert_seen_in_order(book: Book, requests: list[str], result: TrialResult) -> None:
    """All that was begun came, in its order, but for what was on its way when the trial ended."""
    asked = [f"{method} {path}" for _, method, path, _, _ in book.asked]
    assert asked == requests[: len(asked)]
    assert result.starts is not None
    begun = result.starts.offered - result.starts.never_started
    assert begun - result.unfinished.operations <= len(asked) <= begun


def test_the_server_is_asked_what_the_log_has_in_its_order(tmp_path: Path, server: tuple[str, Book]) -> None:
    address, book = server
    requests = made_up(tmp_path / "log")
    book.statuses["/rare"] = 404
    result = replay(tmp_path / "log", address, most_connections=1, speed="1.25")
    assert result.starts is not None and result.starts.offered == len(requests)
    assert_seen_in_order(book, requests, result)
    assert result.window_s == SECONDS / 1.25
    assert result.workload is not None
    rows = {row["path"]: row for row in result.workload["paths"]["rows"]}
    in_log = Counter(request.partition("?")[0] for request in requests)
    assert {path: row["in_log"] for path, row in rows.items()} == in_log
    assert {path: row["asked"] for path, row in rows.items()} == in_log
    # What ended when the window was over is in no row: the last few at most.
    missing = {path: in_log[path] - row["answered"] - sum(row["errors"].values()) for path, row in rows.items()}
    ended = result.operations + sum(result.errors.values())
    assert all(count >= 0 for count in missing.values()) and sum(missing.values()) == len(requests) - ended
    rare = [row for path, row in rows.items() if path.endswith("/rare")]
    assert all(row["answered"] == 0 and row["other_status"] == row["errors"]["wrong_status"] for row in rare)
    assert all((row["logged_status"], row["got_status"]) == (200, 404) for row in rare)
    assert result.errors == {"wrong_status": sum(row["other_status"] for row in rare)}


def test_requests_arrive_at_the_moments_of_the_log_as_well_as_a_bare_client_is_woken(
    tmp_path: Path, server: tuple[str, Book]
) -> None:
    """The control sleeps until the same moments beside it, and is woken as late as the machine wakes anybody."""
    address, book = server
    made_up(tmp_path / "log")
    planned_s = [second + n / PER_S for second in range(SECONDS) for n in range(PER_S)]
    late_s: list[float] = []

    def control() -> None:
        began_s = time.perf_counter()
        for at_s in planned_s:
            time.sleep(max(0.0, began_s + at_s - time.perf_counter()))
            late_s.append(time.perf_counter() - began_s - at_s)

    thread = threading.Thread(target=control, daemon=True)
    thread.start()
    result = replay(tmp_path / "log", address)
    thread.join(PATIENCE_S)
    arrived_s = sorted(at_s for at_s, *_ in book.asked)
    assert result.starts is not None
    # The last is due 40 ms before the end: what was not begun by then, or was on its way, may never have come.
    assert len(planned_s) - result.starts.never_started - result.unfinished.operations <= len(arrived_s)
    offsets = [at_s - planned for at_s, planned in zip(arrived_s, planned_s, strict=False)]
    off_s = [offset - min(offsets) for offset in offsets]
    # Neither the server's threads nor the first request's connection are the schedule's: a few wakings' time.
    assert statistics.median(off_s) <= statistics.median(late_s) + 5 * max(late_s) + min(off_s), (off_s, late_s)


def test_a_log_that_loops_is_asked_again_and_again(tmp_path: Path, server: tuple[str, Book]) -> None:
    address, book = server
    requests = made_up(tmp_path / "log")
    result = replay(tmp_path / "log", address, speed="8", length="1250ms", loop=True, most_connections=1)
    assert result.starts is not None and result.starts.offered == len(requests) * 5 // 2
    assert_seen_in_order(book, requests * 3, result)


def test_bodies_and_hosts_are_those_that_were_given(tmp_path: Path, server: tuple[str, Book]) -> None:
    address, book = server
    line = '{host}:80 ::1 - - [10/Oct/2026:13:55:00 +0000] "{request} HTTP/1.1" 200 5\n'
    log = tmp_path / "log"
    log.write_text("".join(line.format(host=host, request="POST /form") for host in ("a.test", "b.test")))
    (tmp_path / "bodies.txt").write_text("POST /form hello.txt text/plain\n")
    (tmp_path / "hello.txt").write_text("hello")
    replay(log, address, bodies=str(tmp_path), host="from-log", most_connections=1, speed="0.3")
    replay(log, address, bodies=str(tmp_path), host="www.test", most_connections=1, speed="0.3")
    assert [(host, body) for *_, host, body in book.asked] == [
        (host, b"hello") for host in ("a.test", "b.test", "www.test", "www.test")
    ]


@pytest.mark.parametrize("agents", [2, 3])
def test_machines_that_divide_a_log_ask_together_what_one_does(
    tmp_path: Path, server: tuple[str, Book], agents: int
) -> None:
    """Each line is asked for once, by whichever machine, and one table has them all."""
    address, book = server
    requests = made_up(tmp_path / "log")
    given = PlanInput("command line", {"suite": "replay"}, {}, parse_contenders([f"a=http://{address}"]))
    plan = resolve_plan(with_flags(given, {}, {"log": str(tmp_path / "log")}, {}))
    fleet = Fleet([LocalAgent(f"m{number}") for number in range(agents)])
    spec = trial_spec(ReplayCheck(plan), plan.contenders[0], [address], fleet.agents[0].facts())
    outcome = fleet.start({agent.name: spec for agent in fleet.agents}).wait(PATIENCE_S)
    assert outcome is not None and outcome.whole is not None
    result = outcome.whole.result
    assert result.starts is not None and result.starts.offered == len(requests)
    asked = Counter(f"{method} {path}" for _, method, path, _, _ in book.asked)
    left = Counter(requests) - asked
    assert asked <= Counter(requests)
    assert 0 <= left.total() - result.starts.never_started <= result.unfinished.operations
    figures = result.workload or {}
    rows = {row["path"]: row for row in figures["paths"]["rows"]}
    in_log = Counter(request.partition("?")[0] for request in requests)
    assert {path: row["asked"] for path, row in rows.items()} == in_log and "ended" not in figures
    assert sum(row["answered"] for row in rows.values()) == result.operations > 0
