"""An agent without an engine and a web server without a corpus, for tests of the driver and its checks."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from bakeoff.agents.base import Facts
from bakeoff.agents.machine.environment import environment
from bakeoff.agents.machine.preflight import preflight
from bakeoff.agents.machine.socket_capacity import Demand
from bakeoff.agents.result import EngineEvent, Outcome, Snapshot, SoakInterval, TrialResult
from bakeoff.agents.spec import WHOLE, Slice, TrialSpec
from bakeoff.kinds.web.settings.classes import web_classes
from bakeoff.plan.load import PlanInput, parse_contenders, resolve_plan, with_flags
from bakeoff.plan.model import Plan
from bakeoff.plan.suites import load_suite
from bakeoff.run.kind import Check, run_part
from bakeoff.store.records.run_records import EventRecord, PlannedTrial, SoakIntervalRecord, TrialRecord
from bakeoff.testdata.corpus.manifest import MANIFEST_NAME, Manifest, ManifestFile

# What runs know of two kinds: one whose figures say nothing against a trial, one whose figures can.
WEB, MAIL = run_part("web"), run_part("mail")
# A histogram as the engine writes one.
HDR = bytes.fromhex("1c84931300000005000000000000000300000000000000010000034630b8a0003ff0000000000000cf0f02cd0f")
EMPTY = {
    "count": 0,
    "mean_ns": None,
    "p50_ns": None,
    "p95_ns": None,
    "p99_ns": None,
    "p999_ns": None,
    "max_ns": None,
    "min_ns": None,
}
SOME = {
    "count": 500,
    "mean_ns": 2e6,
    "p50_ns": 2_000_000,
    "p95_ns": 3_000_000,
    "p99_ns": 4_000_000,
    "p999_ns": 5_000_000,
    "max_ns": 6_000_000,
    "min_ns": 1_000_000,
}


def result(clients: int = 2, **changes: Any) -> TrialResult:
    """A good result; `changes` replace single keys, `generator` is merged."""
    generator = {
        "cpu_s": 0.1,
        "cpu_share": 0.2,
        "cpu_us_per_operation": 40.0,
        "threads": 1,
        "late_start": EMPTY,
        "lag": EMPTY,
        "rss_bytes": 1,
    }
    table = {
        "window_s": 2.0,
        "elapsed_s": 2.5,
        "cancelled": False,
        "fatal": None,
        "operations": 500,
        "errors_total": 0,
        "bytes_in": 5000,
        "bytes_out": 100,
        "errors": {},
        "outside": {"operations": 1, "errors_total": 0},
        "statuses": {"2xx": 500},
        "service": SOME,
        "histogram": "service",
        "per_operation": [
            {
                "name": "223",
                "operations": 500,
                "errors": {},
                "bytes_in": 5000,
                "bytes_out": 100,
                "service": SOME,
                "histogram": "op/223",
            }
        ],
        "steps": [{"name": "connect", "summary": SOME, "histogram": "step/connect"}],
        "per_second": [
            {
                "second": 0,
                "phase": "window",
                "operations": 500,
                "errors": 0,
                "bytes_in": 5000,
                "service": SOME,
            }
        ],
        "per_client": [
            {"client": i, "operations": 500 // clients, "errors": 0, "bytes_in": 1, "busy_s": 1.9}
            for i in range(clients)
        ],
        "connections": {"opened": 500, "failed": 0},
        "workload": None,
    }
    generator |= changes.pop("generator", {})
    return TrialResult.model_validate_json(json.dumps(table | {"generator": generator} | changes))


class FakeSession:
    """Ends at the `ends_at`th `wait`; each wait calls `act`."""

    def __init__(self, outcome: TrialResult, act: Callable[[], None] | None, ends_at: int = 2) -> None:
        self._result, self._act, self._ends_at = outcome, act, ends_at
        self._waits, self._cancelled, self._went = 0, False, False

    def armed(self, timeout_s: float) -> bool:
        return True

    def go(self, at_ns: int = 0) -> Self:
        self._went = True
        return self

    def barrier(self) -> int:
        return 0

    def release_barrier(self, number: int, at_ns: int) -> None:
        raise AssertionError("nobody waits")

    def snapshot(self) -> Snapshot:
        return Snapshot(elapsed_s=1.0, phase="window", operations=10, errors=0, bytes_in=100)

    def drain_events(self) -> Sequence[EngineEvent]:
        return [EngineEvent(at_s=0.5, level="info", text="seen")] if self._waits == 1 else []

    def drain_intervals(self) -> Sequence[SoakInterval]:
        return []

    def wait(self, timeout_s: float) -> Outcome | None:
        self._waits += 1
        assert self._went or self._cancelled, "nobody said go"
        if self._cancelled:
            return Outcome(self._result.model_copy(update={"cancelled": True, "elapsed_s": 0.5}), {"service": HDR})
        if self._act is not None:
            self._act()
        return Outcome(self._result, {"service": HDR}) if self._waits >= self._ends_at else None

    def cancel(self) -> None:
        self._cancelled = True


class FakeAgent:
    """Gives `answer(spec)` for every trial; `before` is called in the middle of each of them."""

    def __init__(
        self,
        answer: Callable[[TrialSpec], TrialResult] = lambda spec: result(spec.load.clients),
        before: Callable[[TrialSpec, int], None] | None = None,
        name: str = "local",
    ) -> None:
        self.name = name
        self.specs: list[TrialSpec] = []
        self.null_specs: list[TrialSpec] = []
        self._answer, self._before = answer, before

    def facts(self) -> Facts:
        return Facts(environment(), {"version": "fake"}, (0, 1), ("127.0.0.1",))

    def clock(self) -> int:
        return time.monotonic_ns()

    def preflight(self, demand: Demand) -> Sequence[str]:
        return preflight(demand)

    def check(self, plan: Plan) -> Check:
        return run_part(plan.kind).check(plan)

    def accept(self, spec: TrialSpec, part: Slice = WHOLE) -> None:
        pass

    def start(self, spec: TrialSpec, part: Slice = WHOLE) -> FakeSession:
        if spec.workload.kind == "null":
            self.null_specs.append(spec)
            return FakeSession(result(operations=2_000_000), None, ends_at=1)
        self.specs.append(spec)
        number, before = len(self.specs), self._before
        return FakeSession(self._answer(spec), None if before is None else lambda: before(spec, number))


class Notebook:
    """An observer that writes everything down."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.trials: list[TrialRecord] = []
        self.events: list[EventRecord] = []

    def on_run_start(self, plan: Plan, trials: int) -> None:
        self.said.append(f"run {trials}")

    def on_forecast(self, trials: int) -> None:
        self.said.append(f"forecast {trials}")

    def on_trial_start(self, trial: PlannedTrial) -> None:
        self.said.append(f"start {trial.order}")

    def on_snapshot(self, trial: PlannedTrial, snapshot: Snapshot) -> None:
        self.said.append(f"snapshot {trial.order}")

    def on_interval(self, row: SoakIntervalRecord, left_s: float) -> None:
        self.said.append(f"interval {row.number}")

    def on_trial_end(self, record: TrialRecord) -> None:
        self.said.append(f"end {record.order}")
        self.trials.append(record)

    def on_event(self, event: EventRecord) -> None:
        self.events.append(event)

    def on_question(self, open: bool) -> None:
        self.said.append("question" if open else "answer")

    def on_run_end(self) -> None:
        self.said.append("over")


def small_manifest(seed: int = 1) -> tuple[Manifest, dict[str, bytes]]:
    """A manifest with two files per class of web-static, and the files by path."""
    pages: dict[str, bytes] = {}
    classes: dict[str, tuple[ManifestFile, ...]] = {}
    for cls in web_classes(load_suite("web-static").classes):
        if cls.source == "files":
            for i in range(2):
                pages[f"{cls.name}/{i}.bin"] = f"{seed} {cls.name} {i} ".encode() * 20
            names = [name for name in pages if name.startswith(f"{cls.name}/")]
            classes[cls.name] = tuple(
                ManifestFile(path=name, size=len(pages[name]), sha256=sha256(pages[name]).hexdigest()) for name in names
            )
    total = sum(map(len, pages.values()))
    manifest = Manifest(suite="web-static", seed=seed, files=len(pages), bytes_total=total, classes=classes)
    return manifest, pages


class WebServer:
    """Serves pages by path; `fault(path, count)` may give another (status, body) or raise to drop it."""

    def __init__(self, pages: dict[str, bytes]) -> None:
        self.pages = pages
        self.fault: Callable[[str, int], tuple[int, bytes] | None] = lambda path, count: None
        self.requests: list[str] = []
        self.headers: dict[str, str] = {}
        # Of each request: method, path, headers, and what it carried.
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        self.address = ""

    def reply(self, path: str) -> tuple[int, bytes]:
        self.requests.append(path)
        body = self.pages.get(path.lstrip("/"))
        wrong = self.fault(path, len(self.requests))
        if wrong is not None:
            return wrong
        return (404, b"not here") if body is None else (200, body)


@contextmanager
def serving(pages: dict[str, bytes]) -> Iterator[WebServer]:
    """A WebServer on a free port of the loopback."""
    site = WebServer(pages)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            carried = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            site.asked.append((self.command, self.path, dict(self.headers.items()), carried))
            try:
                status, body = site.reply(self.path)
            except ConnectionError:
                self.close_connection = True
                return
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            for name, value in site.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_HEAD = do_POST = do_PURGE = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    site.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def two_contenders() -> Iterator[tuple[WebServer, WebServer]]:
    """Two servers of the same small corpus."""
    manifest, pages = small_manifest()
    pages = pages | {MANIFEST_NAME: manifest.to_bytes()}
    with serving(dict(pages)) as one, serving(dict(pages)) as two:
        yield one, two


# Of tests in which several agents have one machine, which may be busy with other things when they start.
WHENEVER = {"start_spread": "60s"}


def plan_for(
    *addresses: str,
    suite: str = "web-static",
    resets: dict[str, str] | None = None,
    plan: dict[str, Any] | None = None,
    fleet: dict[str, Any] | None = None,
    agents: dict[str, Any] | None = None,
    **settings: Any,
) -> Plan:
    """A plan of 2 blocks and load steps 1, 2 (or a `rate`) for contenders a, b, …; `agents` are the tables
    [agents.NAME].
    """
    load = {} if "rate" in settings else {"clients": "1,2"}
    words = [f"{name}={address}" for name, address in zip("abcdef", addresses, strict=False)]
    given = PlanInput("test", {"suite": suite, "blocks": 2}, {**load, "length": "1s"}, parse_contenders(words))
    given = replace(given, agents=agents or {})
    return resolve_plan(with_flags(given, plan or {}, settings, resets or {}, fleet=fleet))


def count_lines(path: Path) -> int:
    """Lines of a file that a reset command appends to."""
    return len(path.read_text().splitlines()) if path.exists() else 0
