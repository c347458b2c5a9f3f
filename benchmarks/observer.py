"""What watching a trial adds to its figures: whole runs beside the same trials with nobody around them.

Each round measures, in an order that turns by one: the engine's trial in a process that sleeps until it is over
(*bare*), a run of `bakeoff run` on a terminal with its live line and default settings (*bakeoff*), the same of another
checkout (`--before FOLDER`, with its engine built), and at a rate a bare client in C (`benchmarks/open_loop.c`), too.
Everybody has ordinary priority; the load is bound to one core, a server to another. At a rate the error is the distance
of the arrivals from an even grid, by the kernel's stamps at a null server (`benchmarks/arrivals.c`); the other figures
are what is printed. Ratios are taken in each round, to the bare trial of the round; the table has medians.

    python benchmarks/observer.py [--rounds 7] [--seconds 5] [--only CASE] [--before FOLDER] [--write]
"""

import argparse
import contextlib
import json
import os
import pty
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from common import machine_line, put_table

HERE = Path(__file__).resolve().parent
SERVER_CORE, CLIENT_CORE = 0, 1
PORT = 18096
PER_S = 5_000
BARE, C_CLIENT, BEFORE, AFTER = "bare trial", "bare client in C", "bakeoff before", "bakeoff"
WAIT_S = 120.0
SERIES = ("service", "response", "generator_late_start", "generator_lag")
TRIES = 4
SETTLING_S = 0.5
PLAN = """
[plan]
name = "observer"
suite = "{suite}"
blocks = 1
[settings]
{settings}
pin = [{core}]
[[contender]]
name = "one"
address = "{address}"
"""


@dataclass(frozen=True)
class Case:
    """A load, as the lines of its plan, and the server that it needs."""

    words: str
    suite: str
    settings: str
    server: str


LENGTH = '\nlength = "{seconds:g}s"\nramp_up = "500ms"\nramp_down = "0s"'
WEB = 'http = "1.1"\nkeep_alive = true\n'
CASES = {
    "rate": Case(f"{PER_S:,}/s", "web-url", f"{WEB}rate = [{PER_S}]\nmost_connections = 1000{LENGTH}", "arrivals"),
    "closed": Case("60 connections", "web-url", f"{WEB}clients = [60]{LENGTH}", "arrivals"),
    "files": Case(
        "file-blocks, depth 1", "file-blocks",
        'outstanding = 1\nclients = [1]\nregion = "256MiB"\nblock_sizes = "4KiB"\npatterns = "random_read"\n'
        'cell_time = "{seconds:g}s"\nramp_up = "500ms"\nlength = "10min"', "folder",
    ),
    "smtp": Case(
        "SMTP, 10 sessions", "mail-pop",
        'users = "users.csv"\nclients = [10]\nthreads = 1\nmailboxes = 2\nsizes = "4KiB"\nsending_share = "100%"'
        + LENGTH, "mail",
    ),
}  # fmt: skip

# Runs in a process of its own: all is made ready as for a run, then one trial, and this process sleeps.
ALONE = """
import json, sys
from pathlib import Path
from bakeoff import _engine
from bakeoff.agents.make import make_agent
from bakeoff.plan.load import read_plan_file, resolve_plan
from bakeoff.run.fleet.sessions import Fleet
from bakeoff.run.contenders.prepared import PreparedContenders
plan = resolve_plan(read_plan_file(Path(sys.argv[1])))
ground = PreparedContenders(plan, Fleet([make_agent()]))
load_step = plan.settings.load_steps[0]
(spec,) = ground.specs().of("one", load_step, plan.seed).values()
outcome = _engine.start(spec.to_json()).go().wait(600)
ground.close()
print(outcome.json())
"""


@dataclass(frozen=True)
class Figures:
    """Of one run, µs; the error only where there is a schedule."""

    error_us: float | None
    p50_us: float
    p99_us: float
    p999_us: float | None


@contextlib.contextmanager
def serving(case: Case, place: Path) -> Iterator[str]:
    """The server of a case on its core; gives the address."""
    if case.server == "folder":
        folder = place / "folder"
        folder.mkdir(exist_ok=True)
        yield str(folder)
        return
    if case.server == "arrivals":
        command = [str(HERE_BUILT / "arrivals"), str(PORT), str(place / "stamps")]
        address = f"http://127.0.0.1:{PORT}/"
    else:
        ports = ["--smtp-port", str(PORT), "--pop3-port", str(PORT + 1)]
        command = [sys.executable, "-m", "bakeoff", "serve", "mail", *ports]
        address = f"smtp=127.0.0.1:{PORT},pop3=127.0.0.1:{PORT + 1}"
    with subprocess.Popen(
        command, preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CORE}), stdout=subprocess.DEVNULL
    ) as process:
        time.sleep(0.3 if case.server == "arrivals" else 2.0)
        try:
            yield address
        finally:
            process.send_signal(signal.SIGTERM)


HERE_BUILT = Path()


def env(checkout: Path) -> dict[str, str]:
    """The environment in which that checkout's program runs."""
    return {**os.environ, "PYTHONPATH": str(checkout / "python"), "TERM": "xterm-256color", "COLUMNS": "120"}


def alone(plan: Path, checkout: Path) -> tuple[float, float, float | None]:
    """p50, p99 and p99.9 of the trial with nobody around it, µs."""
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(plan)], env=env(checkout), capture_output=True, text=True, timeout=WAIT_S
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    result = json.loads(done.stdout)
    return of(result["response"] or result["service"])


def of(summary: dict[str, Any]) -> tuple[float, float, float | None]:
    """The figures of a summary as the engine tells it."""
    last = summary["p999_ns"]
    return summary["p50_ns"] / 1e3, summary["p99_ns"] / 1e3, None if last is None else last / 1e3


def whole_run(plan: Path, checkout: Path, place: Path) -> tuple[float, float, float | None]:
    """The same of a run on a terminal; a run whose trial is void, as this machine was taken from it, is repeated."""
    for _ in range(TRIES):
        found, observed = one_run(plan, checkout, place)
        if found:
            p50, p99, p999 = found.get("response") or found["service"]
            return p50 / 1e3, p99 / 1e3, None if p999 is None else p999 / 1e3
    raise SystemExit(observed[-3000:])


def one_run(plan: Path, checkout: Path, place: Path) -> tuple[dict[str, tuple[Any, ...]], str]:
    """The percentiles by what they are of, none of a run that failed, and what the terminal was told."""
    path = place / "run.bakeoff"
    path.unlink(missing_ok=True)
    command = [sys.executable, "-m", "bakeoff", "run", str(plan), "-o", str(path)]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, env=env(checkout), stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        received = bytearray()
        reader = threading.Thread(target=drain, args=(ours, received))
        reader.start()
        code = process.wait(WAIT_S)
        reader.join()
    os.close(ours)
    with contextlib.closing(sqlite3.connect(path)) as file:
        query = "SELECT {0}_p50_ns, {0}_p99_ns, {0}_p999_ns FROM trials"
        rows = {series: file.execute(query.format(series)).fetchone() for series in SERIES}
    found = {series: row for series, row in rows.items() if row[0] is not None}
    return {} if code else found, received.decode("utf-8", "replace")


def drain(terminal: int, given: bytearray) -> None:
    """Read what a terminal is told until nobody has it open any more."""
    with contextlib.suppress(OSError):
        while piece := os.read(terminal, 65536):
            given += piece


def error_p99_us(stamps: Path) -> float:
    """The schedule's error in the longest stretch of requests without a gap: checks come before and after a trial."""
    times = np.sort(np.loadtxt(stamps, dtype=np.int64, ndmin=1))
    edges = [0, *(np.flatnonzero(np.diff(times) > 100_000_000) + 1), len(times)]
    begin, end = max(pairwise(edges), key=lambda edge: edge[1] - edge[0])
    times = times[begin:end]
    times = times[times >= times[0] + SETTLING_S * 1e9]
    distance = times - times[0] - np.arange(len(times)) * (1e9 / PER_S)
    return float(np.percentile(np.abs(distance - np.median(distance)), 99)) / 1e3


def measure(case: Case, who: str, seconds: float, place: Path, checkout: Path) -> Figures:
    """One run of one of them."""
    with serving(case, place) as address:
        plan = place / "plan.toml"
        settings = case.settings.format(seconds=seconds)
        plan.write_text(PLAN.format(suite=case.suite, settings=settings, core=CLIENT_CORE, address=address))
        if case.server == "mail":
            shutil.copy(USERS, place / "users.csv")
        if who == C_CLIENT:
            command = ["taskset", "-c", str(CLIENT_CORE), str(HERE_BUILT / "open_loop"), str(PORT), str(PER_S)]
            done = subprocess.run([*command, f"{seconds:g}", "plain"], capture_output=True, text=True, check=True)
            observed = done.stdout.split()
            p50, p99, p999 = float(observed[2]), float(observed[3]), None
        elif who == BARE:
            p50, p99, p999 = alone(plan, checkout)
        else:
            p50, p99, p999 = whole_run(plan, checkout, place)
    error = error_p99_us(place / "stamps") if "rate" in case.settings else None
    return Figures(error, p50, p99, p999)


USERS = Path()


def median(values: list[float | None]) -> float | None:
    """Of those that are known."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def cell(value: float | None, digits: int = 0) -> str:
    """A figure of the table."""
    return "–" if value is None else f"{value:,.{digits}f}"


def rows(case: Case, rounds: list[dict[str, Figures]]) -> list[str]:
    """The lines of a case."""
    lines = []
    for who in rounds[0]:
        cells = []
        for name in ("error_us", "p50_us", "p99_us", "p999_us"):
            value = median([getattr(each[who], name) for each in rounds])
            both = [(getattr(each[who], name), getattr(each[BARE], name)) for each in rounds]
            ratio = median([a / b for a, b in both if a is not None and b])
            cells.append(cell(value) + (f" ({cell(ratio, 2)} ×)" if ratio is not None and who != BARE else ""))
        lines.append(f"| {case.words} | {who} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Measures, prints, and writes when asked."""
    global HERE_BUILT, USERS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--only", choices=tuple(CASES))
    parser.add_argument("--before", type=Path, help="another checkout")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    head = "| load | who | schedule's error p99, µs | p50, µs | p99, µs | p99.9, µs |"
    lines = [head, "|---|---|--:|--:|--:|--:|"]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        HERE_BUILT, USERS = place, place / "all-users.csv"
        for program in ("arrivals", "open_loop"):
            subprocess.run(["gcc", "-O2", "-o", f"{name}/{program}", f"{HERE}/{program}.c"], check=True)
        make = [sys.executable, "-m", "bakeoff", "users", "new", "--count", "20", "--domain", "bakeoff.test"]
        subprocess.run([*make, "-o", str(USERS)], check=True, stdout=subprocess.DEVNULL)
        for key, case in CASES.items():
            if given.only not in (None, key):
                continue
            them = [BARE, *([C_CLIENT] if key == "rate" else []), *([BEFORE] if given.before else []), AFTER]
            rounds = []
            for number in range(given.rounds):
                found = {}
                for who in [*them[number % len(them) :], *them[: number % len(them)]]:
                    checkout = given.before if who == BEFORE else HERE.parent
                    found[who] = measure(case, who, given.seconds, place, checkout)
                    print(f"{case.words} {who}: {found[who]}", flush=True)
                rounds.append({who: found[who] for who in them})
            lines += rows(case, rounds)
    how = f"medians of {given.rounds} interleaved rounds of {given.seconds:g} s, at ordinary priority"
    head_cells = f"{machine_line()}; {how}."
    text = "\n".join([head_cells, "", *lines])
    print(text)
    if given.write:
        put_table(HERE.parent / "docs/performance.md", "observer", text)


if __name__ == "__main__":
    main()
