"""Absolute times and rates of Bakeoff itself, which no test may hold: they need a quiet machine with two processors.

What the tests hold without a clock (reports against bare clients, queues against what the server kept) is held here
with one. Ends with 1 when a figure misses its mark.

    python benchmarks/absolute.py
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import ROOT, machine_line

from bakeoff import _engine
from bakeoff.agents.local import LocalAgent
from bakeoff.compare import compare_run
from bakeoff.plan.load import PlanInput, resolve_plan
from bakeoff.report.compose import compose
from bakeoff.report.renderers import html
from bakeoff.run.driver import start_run
from bakeoff.run.observe.observer import PlainObserver
from bakeoff.store.sqlite.read import read_run

sys.path.insert(0, str(ROOT))
from tests.conftest import Target, app_workload, run_trial, web_workload
from tests.truth.queueing import waiting_time_m_d_c
from tests.truth.test_app_queue import ARRIVALS_PER_S, CLIENTS, SERVERS, SERVICE_S, think_s
from tests.unit.compare.synthetic import FULL_LOAD_STEPS, run
from tests.unit.store.builders import stored

# Independent copies side by side: they sleep most of the time, and together they are a long run in a short time.
COPIES, QUEUE_S = 16, 25.0
PLANNED_SERVICE_S = 0.001
STARTS = 10

Row = tuple[str, float, float, float]


def delay() -> list[Row]:
    """A server that holds each reply back by 5 ms: p50 and p99, in ms."""
    server = Target(delay_s=0.005)
    service = run_trial(web_workload(server.address), clients=2, length_s=3, ramp_up_s=0.2)["service"]
    server.stop()
    return [(f"delay of 5 ms, {name}, ms", service[f"{name}_ns"] / 1e6, 4.99, 5.2) for name in ("p50", "p99")]


def generator_capacity() -> list[Row]:
    """The workload that does nothing."""
    result = run_trial({"kind": "null"}, clients=8, length_s=1)
    rate = result["operations"] / result["window_s"]
    cost = result["generator"]["cpu_us_per_operation"]
    return [("null operations/s", rate, 1e6, float("inf")), ("null CPU, us per operation", cost, 0.0, 1.0)]


def limit() -> list[Row]:
    """A server that answers 1,000 requests/s."""
    server = Target(limit_per_s=1000)
    result = run_trial(web_workload(server.address), clients=8, length_s=5, ramp_up_s=0.5, ramp_down_s=0.5)
    server.stop()
    return [("limit of 1,000 requests/s", result["operations"] / result["window_s"], 990.0, 1010.0)]


def queue() -> list[Row]:
    """M/D/2 at 60 % of its capacity: waits within 5 % of the theory, ms."""
    servers = [Target(kind="app", service_s=SERVICE_S, threads=SERVERS) for _ in range(COPIES)]
    spec = {"load": {"clients": CLIENTS}, "length_s": QUEUE_S, "ramp_up_s": 1, "think_s": think_s()}
    spec |= {"think_distribution": "exponential"}
    workloads = [app_workload(server.address, {"download": 1}, download_bytes=0) for server in servers]
    trials = [
        _engine.start(json.dumps(spec | {"seed": seed, "workload": work})).go() for seed, work in enumerate(workloads)
    ]
    results: list[dict[str, Any]] = [json.loads(trial.wait(QUEUE_S + 60).json()) for trial in trials]
    steps = [step["summary"] for result in results for step in result["steps"] if step["name"] == "queue"]
    mean_ms = sum(step["mean_ns"] * step["count"] for step in steps) / sum(step["count"] for step in steps) / 1e6
    theory_ms = waiting_time_m_d_c(ARRIVALS_PER_S, SERVICE_S, SERVERS) * 1e3
    for server in servers:
        server.stop()
    return [("wait in M/D/2, ms", mean_ms, 0.95 * theory_ms, 1.05 * theory_ms)]


def capacity() -> list[Row]:
    """Servers limited to 1,000 and 1,050 requests/s, searched in six blocks as plans are by default: their capacities,
    and which one is called better (1 the first, 2 the second, 0 none).
    """
    servers = [Target(limit_per_s=per_s) for per_s in (1000.0, 1050.0)]
    given = PlanInput(
        "absolute",
        {"suite": "web-url"},
        {},
        [{"name": name, "address": f"http://{s.address}/"} for name, s in zip("ab", servers, strict=True)],
        capacity={"objective": "p99<=50ms,errors<=0.1%", "shares": "none"},
    )
    with tempfile.TemporaryDirectory() as folder, Path("/dev/null").open("w") as quiet:
        path = Path(folder) / "x.bakeoff"
        start_run(resolve_plan(given), path, [LocalAgent()], PlainObserver(quiet))
        comparison = compare_run(read_run(path))
    for server in servers:
        server.stop()
    assert comparison.capacity is not None
    first, second = (each.capacity for each in comparison.capacity.contenders)
    winner = {"a": 1.0, "b": 2.0}.get(comparison.pairs[0].primary.verdict.winner or "", 0.0)
    return [
        ("capacity of a limit of 1,000/s", first, 990.0, 1010.0),
        ("capacity of a limit of 1,050/s", second, 1039.5, 1060.5),
        ("the better one of them", winner, 2.0, 2.0),
    ]


def planned() -> list[Row]:
    """M/D/1 at 80 % of its capacity, by Poisson arrivals of a rate: response times within 5 % of the theory, ms."""
    server = Target(kind="app", service_s=PLANNED_SERVICE_S, threads=1)
    per_s = 0.8 / PLANNED_SERVICE_S
    load = {"rate": {"per_s": per_s, "arrivals": {"shape": "poisson"}, "most_connections": 1000}}
    workload = app_workload(server.address, {"download": 1}, download_bytes=0)
    result = run_trial(workload, load=load, length_s=QUEUE_S, ramp_up_s=1)
    server.stop()
    theory_ms = 1e3 * (PLANNED_SERVICE_S + waiting_time_m_d_c(per_s, PLANNED_SERVICE_S, 1))
    return [("response time in M/D/1, ms", result["response"]["mean_ns"] / 1e6, 0.95 * theory_ms, 1.05 * theory_ms)]


def report() -> list[Row]:
    """Processor time from a full run file to its page, s; imports and the drawing engine are paid before."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [
            stored(run(blocks=1), Path(folder) / "small.bakeoff"),
            stored(run(load_steps=FULL_LOAD_STEPS, blocks=8, window_s=240.0), Path(folder) / "full.bakeoff"),
        ]
        for path in paths:
            before = time.process_time()
            record = read_run(path)
            html.render(compose(record, compare_run(record)))
            taken_s = time.process_time() - before
    return [("page of a full run, s of CPU", taken_s, 0.0, 3.0)]


def start() -> list[Row]:
    """Processor time of `bakeoff --help`, s: the best of some, as a shell pays it once files are in memory."""
    taken_s = []
    for _ in range(STARTS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "bakeoff", "--help"], stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken_s.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return [("bakeoff --help, s of CPU", min(taken_s), 0.0, 0.15)]


def main() -> int:
    """Measures all, and says which are beside their marks."""
    print(machine_line())
    parts: list[Callable[[], list[Row]]] = [start, delay, limit, generator_capacity, report, queue, planned, capacity]
    missed = 0
    for part in parts:
        for name, value, least, most in part():
            good = least <= value <= most
            missed += not good
            print(f"{'ok  ' if good else 'MISS'} {name}: {value:.4g} (wanted {least:.4g} to {most:.4g})", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
