"""Known answer: what a target with a programmed service time says of its queue is what is reported."""

from collections.abc import Callable

import pytest

from tests.app_parts import assert_parts_fill_the_whole, means_of
from tests.conftest import Target, app_workload, run_trial
from tests.truth.queueing import simulate_finite_source, waiting_time_m_d_c

MakeTarget = Callable[..., Target]

SERVICE_S = 0.003
SERVERS = 2
UTILISATION = 0.6
ARRIVALS_PER_S = UTILISATION * SERVERS / SERVICE_S
CLIENTS = 500


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


def test_queue_and_service_are_reported_as_the_server_kept_them(target: MakeTarget) -> None:
    """And they fill the time of clients that never rest: with so many in front of so few threads, most of it is wait.

    How near real waits come to the theory above is a matter of the machine: `benchmarks/absolute.py` looks at that.
    """
    clients, operations = 8, 2_000
    server = target(kind="app", service_s=0.001, threads=SERVERS)
    workload = app_workload(server.address, {"download": 1}, download_bytes=0)
    result = run_trial(workload, clients=clients, length_s=600, max_operations=operations)
    kept = server.counts()["kinds"]["download"]
    means = means_of(result)
    assert (result["operations"], kept["requests"], result["errors"]) == (operations, operations, {})
    # Histograms have three digits, and the server's last replies may come when the trial has its number.
    for name in ("queue", "service"):
        assert means[name] == pytest.approx(kept[f"{name}_mean_ns"], rel=0.03)
    assert_parts_fill_the_whole(result)
    # Only two are served at a time, whatever the machine does: the others wait for as long. The first of each client
    # may find less before it.
    least = (clients / SERVERS - 1) * means["service"] * (1 - clients / operations)
    assert means["queue"] + means["network"] >= 0.95 * least
