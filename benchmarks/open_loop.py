"""How exactly tools that send by the clock keep their schedule, seen from the server.

A null server (`benchmarks/arrivals.c`) notes when requests arrive, by the kernel's stamps of their packets. A tool is
to send so many a second; the error is the distance of the k-th arrival from the k-th point of an even grid that is laid
through the middle of all. Beside it stands the median time of a reply that the tool prints. The generator is bound to
one core and the server to another. Each repeat visits every tool once, in an order that turns by one; the table has
medians. The yardstick is a bare client in C (`benchmarks/open_loop.c`), with one timed wait for each send, and with a
wait that ends early and a look at the clock for the rest. `--write` puts the table into docs/performance.md.

    python benchmarks/open_loop.py [--repeats 5] [--seconds 5] [--only TOOL] [--write]
"""

import argparse
import contextlib
import json
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from common import machine_line, put_table

from bakeoff import _engine

HERE = Path(__file__).resolve().parent
PEERS = HERE.parent / ".servers/peers/bin"
SERVER_CORE, CLIENT_CORE = "0", "1"
PORT = 18095
URL = f"http://127.0.0.1:{PORT}/"
# What arrives before is not looked at: connections are opened then.
SETTLING_S = 0.5
K6_SCRIPT = """
import http from 'k6/http';
export const options = { discardResponseBodies: true, summaryTrendStats: ['med', 'p(99)'], scenarios: { even: {
  executor: 'constant-arrival-rate', rate: %d, timeUnit: '1s', duration: '%gs', preAllocatedVUs: %d, maxVUs: 1000 } } };
export default function () { http.get('%s'); }
"""


@dataclass(frozen=True)
class Case:
    """So many requests a second for so long, over so many connections where a tool must be told."""

    per_s: int
    seconds: float
    connections: int


@dataclass(frozen=True)
class Printed:
    """What a tool says of the server's time, ms, and its own CPU time, s; None where it does not say."""

    p50_ms: float | None
    cpu_s: float | None = None


@dataclass(frozen=True)
class Figures:
    """What one run of a tool came to."""

    p50_us: float
    p99_us: float
    cpu_share: float
    printed_us: float | None
    arrived: float


class Tools:
    """The tools, each started with a case; where `place` is a folder of its own."""

    def __init__(self, case: Case, place: Path, built: Path) -> None:
        self.case, self.place, self.built = case, place, built

    def run(self, *command: str) -> str:
        """The output of a command that is bound to the generator's core."""
        path = f"{PEERS}:{os.environ['PATH']}"
        bound = ["timeout", str(self.case.seconds + 20), "taskset", "-c", CLIENT_CORE, *command]
        done = subprocess.run(bound, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path})
        return done.stdout + done.stderr

    def bare(self, how: str) -> Printed:
        """The bare client."""
        output = self.run(str(self.built / "open_loop"), str(PORT), str(self.case.per_s), f"{self.case.seconds:g}", how)
        _, cpu_s, p50_us, _ = map(float, output.split())
        return Printed(p50_us / 1e3, cpu_s)

    def bakeoff(self) -> Printed:
        """One trial with full recording; its own CPU time is that of the load thread."""
        request = {"path": "/", "length": 2}
        page = {"name": "page", "weight": 1, "expect": [200], "requests": [request]}
        workload = {
            "kind": "web", "scheme": "http", "host": "127.0.0.1", "addresses": [f"127.0.0.1:{PORT}"], "http": "1.1",
            "keep_alive": True, "classes": [page],
        }  # fmt: skip
        rate = {"per_s": self.case.per_s, "arrivals": {"shape": "constant"}, "most_connections": 1000}
        spec = {
            "workload": workload, "load": {"rate": rate}, "length_s": self.case.seconds, "pin": [int(CLIENT_CORE)],
            "seed": 1,
        }  # fmt: skip
        outcome = _engine.start(json.dumps(spec)).go().wait(self.case.seconds + 60)
        assert outcome is not None
        result = json.loads(outcome.json())
        assert not result["errors"], result["errors"]
        return Printed(result["service"]["p50_ns"] / 1e6, result["generator"]["cpu_s"])

    def oha(self) -> Printed:
        """oha counts from the planned start with `--latency-correction`; here from the send, as the others do."""
        output = self.run(
            "oha", "--no-tui", "-c", str(self.case.connections), "-q", str(self.case.per_s),
            "-z", f"{self.case.seconds:g}s", "--output-format", "json", URL,
        )  # fmt: skip
        return Printed(1e3 * json.loads(output)["latencyPercentiles"]["p50"])

    def vegeta(self) -> Printed:
        """vegeta opens as many workers as it needs."""
        (self.place / "targets").write_text(f"GET {URL}\n")
        results = f"{self.place}/results"
        self.run(
            "vegeta", "attack", f"-rate={self.case.per_s}", f"-duration={self.case.seconds:g}s",
            f"-targets={self.place}/targets", f"-output={results}",
        )  # fmt: skip
        return Printed(json.loads(self.run("vegeta", "report", "-type=json", results))["latencies"]["50th"] / 1e6)

    def k6(self) -> Printed:
        """k6 with a constant arrival rate."""
        script = self.place / "script.js"
        script.write_text(K6_SCRIPT % (self.case.per_s, self.case.seconds, self.case.connections, URL))
        summary = self.place / "summary.json"
        self.run("k6", "run", "--quiet", "--no-usage-report", "--summary-export", str(summary), str(script))
        return Printed(json.loads(summary.read_text())["metrics"]["http_req_duration"]["med"])

    def wrk2(self) -> Printed:
        """wrk2, whose program is called `wrk2` here: it calls itself wrk."""
        output = self.run(
            "wrk2", "-t1", f"-c{self.case.connections}", f"-d{self.case.seconds:g}s", f"-R{self.case.per_s}",
            "--latency", URL,
        )  # fmt: skip
        found = re.search(r"50\.000%\s+([\d.]+)(us|ms|s)", output)
        return Printed(None if found is None else float(found[1]) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[found[2]])

    def hey(self) -> Printed:
        """hey limits each of its workers."""
        output = self.run(
            "hey", "-z", f"{self.case.seconds:g}s", "-c", str(self.case.connections),
            "-q", f"{self.case.per_s / self.case.connections:g}", URL,
        )  # fmt: skip
        found = re.search(r"50%+ in ([\d.]+) secs", output)
        return Printed(None if found is None else 1e3 * float(found[1]))

    def bombardier(self) -> Printed:
        """bombardier limits all its connections together."""
        output = self.run(
            "bombardier", "-c", str(self.case.connections), "-d", f"{self.case.seconds:g}s", "-r",
            str(self.case.per_s), "-l", "-o", "json", "-p", "result", URL,
        )  # fmt: skip
        return Printed(json.loads(output)["result"]["latency"]["percentiles"]["50"] / 1e3)

    def h2load(self) -> Printed:
        """h2load in HTTP/1.1 mode limits each of its clients; the median is from its log, as it prints a mean only."""
        log = self.place / "h2load.log"
        self.run(
            "h2load", "--h1", "-t1", f"-c{self.case.connections}", f"-D{self.case.seconds:g}",
            f"--rps={self.case.per_s / self.case.connections:g}", f"--log-file={log}", URL,
        )  # fmt: skip
        times_us = [float(line.split()[2]) for line in log.read_text().splitlines() if len(line.split()) > 2]
        return Printed(statistics.median(times_us) / 1e3 if times_us else None)


TOOLS: dict[str, Callable[[Tools], Printed]] = {
    "bare client, timed wait": lambda tools: tools.bare("plain"),
    "bare client, timed wait and spin": lambda tools: tools.bare("spin"),
    "bakeoff": Tools.bakeoff,
    "oha": Tools.oha,
    "vegeta": Tools.vegeta,
    "wrk2": Tools.wrk2,
    "k6": Tools.k6,
    "hey": Tools.hey,
    "bombardier": Tools.bombardier,
    "h2load": Tools.h2load,
}
OWN = 3  # tools at the head of the table that need not be installed
NOT_HERE = {"wrk2": "not measured here: its source is on GitHub alone"}


def is_installed(tool: str) -> bool:
    """Whether a tool of TOOLS can be run here."""
    own = list(TOOLS)[:OWN]
    return tool in own or shutil.which(tool, path=f"{PEERS}:{os.environ['PATH']}") is not None


@contextlib.contextmanager
def server(built: Path, stamps: Path) -> Iterator[None]:
    """The null server; when it is left, its stamps are written."""
    bound = ["taskset", "-c", SERVER_CORE, str(built / "arrivals"), str(PORT), str(stamps)]
    with subprocess.Popen(bound) as process:
        time.sleep(0.2)
        if process.poll() is not None:
            raise SystemExit(f"the null server did not start: is port {PORT} free?")
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)


def error_us(stamps_ns: npt.NDArray[np.int64], per_s: int) -> npt.NDArray[np.float64]:
    """How far each arrival is from its point of the grid, µs."""
    stamps_ns = np.sort(stamps_ns)
    stamps_ns = stamps_ns[stamps_ns >= stamps_ns[0] + SETTLING_S * 1e9]
    distance = stamps_ns - stamps_ns[0] - np.arange(len(stamps_ns)) * (1e9 / per_s)
    error: npt.NDArray[np.float64] = np.abs(distance - np.median(distance)) / 1e3
    return error


def measure(tool: str, case: Case, built: Path) -> Figures:
    """Runs one tool once."""
    with tempfile.TemporaryDirectory() as place:
        stamps = Path(place) / "stamps"
        with server(built, stamps):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            printed = TOOLS[tool](Tools(case, Path(place), built))
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = printed.cpu_s
        if cpu_s is None:
            cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        arrivals = np.loadtxt(stamps, dtype=np.int64, ndmin=1)
    error = error_us(arrivals, case.per_s)
    p50, p99 = np.percentile(error, [50, 99])
    reported_us = None if printed.p50_ms is None else 1e3 * printed.p50_ms
    return Figures(p50, p99, cpu_s / case.seconds, reported_us, len(arrivals) / case.seconds)


def rows(case: Case, tools: list[str], repeats: int, built: Path) -> list[str]:
    """The table of a case, line by line."""
    found: dict[str, list[Figures]] = {tool: [] for tool in tools}
    there = [tool for tool in tools if is_installed(tool)]
    for repeat in range(repeats):
        for at in range(len(there)):
            tool = there[(at + repeat) % len(there)]
            found[tool].append(measure(tool, case, built))
            print(f"{case.per_s}/s {tool}: {found[tool][-1]}", flush=True)
    lines = [
        f"| {case.per_s:,}/s | error p50, µs | p99, µs | CPU of a core | printed p50, µs | arrived, 1/s |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for tool in tools:
        if not found[tool]:
            lines.append(f"| {tool} | {NOT_HERE.get(tool, 'not installed')} | | | | |")
            continue

        def median(part: Callable[[Figures], float | None], runs: list[Figures] = found[tool]) -> float | None:
            listed = [value for value in map(part, runs) if value is not None]
            return statistics.median(listed) if listed else None

        printed = median(lambda f: f.printed_us)
        cells = (
            f"{median(lambda f: f.p50_us):,.1f}",
            f"{median(lambda f: f.p99_us):,.1f}",
            f"{median(lambda f: 100 * f.cpu_share):.2f} %",
            "–" if printed is None else f"{printed:,.0f}",
            f"{median(lambda f: f.arrived):,.1f}",
        )
        lines.append(f"| {tool} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Measures, prints, and writes when asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--only", choices=tuple(TOOLS))
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    tools = [given.only] if given.only else list(TOOLS)
    cases = [Case(5_000, given.seconds, 50), Case(10, 2 * given.seconds, 1)]
    with tempfile.TemporaryDirectory() as built:
        for program in ("arrivals", "open_loop"):
            subprocess.run(["gcc", "-O2", "-o", f"{built}/{program}", f"{HERE}/{program}.c"], check=True)
        tables = ["\n".join(rows(case, tools, given.repeats, Path(built))) for case in cases]
    lengths = " and ".join(f"{case.seconds:g} s" for case in cases)
    head = f"{machine_line()}; medians of {given.repeats} interleaved runs of {lengths}."
    text = "\n\n".join([head, *tables])
    print(text)
    if given.write:
        put_table(HERE.parent / "docs/performance.md", "open-loop", text)


if __name__ == "__main__":
    main()
