"""Known answer: a target with a programmed service time queues as queueing theory says."""

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from bakeoff import _engine
from tests.conftest import Target, app_workload
from tests.truth.queueing import simulate_finite_source, waiting_time_m_d_c

MakeTarget = Callable[..., Target]

SERVICE_S = 0.003
SERVERS = 2
UTILISATION = 0.6
ARRIVALS_PER_S = UTILISATION * SERVERS / SERVICE_S
CLIENTS = 500
# Independent copies side by side: they sleep most of the time, and together they are a long run in a short time.
COPIES = 16
LENGTH_S = 25.0
ROUNDS_MAX = 8


def think_s() -> float:
    """The pause with which `CLIENTS` clients make the wanted number of requests."""
    return CLIENTS / ARRIVALS_PER_S - SERVICE_S - waiting_time_m_d_c(ARRIVALS_PER_S, SERVICE_S, SERVERS)


def test_the_theory_gives_the_published_values() -> None:
    """One server: Pollaczek and Khinchine's formula. Two servers: half of M/M/2's wait, nearly."""
    for utilisation in (0.3, 0.6, 0.9):
        one = waiting_time_m_d_c(utilisation, 1.0, 1)
        assert one == pytest.approx(utilisation / (2 * (1 - utilisation)), rel=1e-6)
        two = waiting_time_m_d_c(2 * utilisation, 1.0, 2)
        exponential = utilisation**2 / (1 - utilisation**2)
        assert 0.5 < two / exponential < 0.56


def test_the_simulation_agrees_with_the_theory() -> None:
    """So many clients that it makes no difference that they are not without number."""
    theory = waiting_time_m_d_c(ARRIVALS_PER_S, SERVICE_S, SERVERS)
    simulated = simulate_finite_source(CLIENTS, think_s(), SERVICE_S, SERVERS, 1_000_000, seed=1)
    assert simulated == pytest.approx(theory, rel=0.02)


def measure(target: MakeTarget, round_number: int) -> dict[str, float]:
    """Seconds that a request waits and is served in the mean over all copies, and the rate of one copy."""
    servers = [target(kind="app", service_s=SERVICE_S, threads=SERVERS) for _ in range(COPIES)]
    spec = {"clients": CLIENTS, "length_s": LENGTH_S, "ramp_up_s": 1, "think_s": think_s()}
    spec |= {"think_distribution": "exponential"}
    trials = [
        _engine.start(
            json.dumps(
                spec
                | {"seed": round_number * COPIES + copy}
                | {"workload": app_workload(server.address, {"download": 1}, download_bytes=0)}
            )
        )
        for copy, server in enumerate(servers)
    ]
    results: list[dict[str, Any]] = [json.loads(trial.wait(90).json()) for trial in trials]
    assert not any(result["errors"] for result in results)
    means = {"rate": sum(r["operations"] for r in results) / sum(r["window_s"] for r in results)}
    for name in ("queue", "service"):
        steps = [step["summary"] for result in results for step in result["steps"] if step["name"] == name]
        total = sum(step["count"] for step in steps)
        means[name] = sum(step["mean_ns"] * step["count"] for step in steps) / total / 1e9
    return means


@pytest.mark.timeout(400)
def test_queue_time_is_that_of_m_d_2_within_5_percent(target: MakeTarget, prompt: None) -> None:
    """`app` with 3 ms of service and two service threads, 400 requests/s of a Poisson process.

    A round in which the machine itself lengthened the service says nothing of the queue; the first other one counts.
    """
    theory = waiting_time_m_d_c(ARRIVALS_PER_S, SERVICE_S, SERVERS)
    for round_number in range(ROUNDS_MAX):
        means = measure(target, round_number)
        sys.stdout.write(f"{means}, theory: {theory}\n")
        if means["service"] == pytest.approx(SERVICE_S, rel=0.004):
            assert means["rate"] == pytest.approx(ARRIVALS_PER_S, rel=0.01)
            assert means["queue"] == pytest.approx(theory, rel=0.05)
            return
    pytest.fail("the machine is too busy for a service time of 3 ms: run the test alone")
