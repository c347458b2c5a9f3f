"""Known answers of open-loop loads, through real sockets."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from bakeoff import _engine
from tests.conftest import Target, app_workload, run_trial, web_workload
from tests.control import PATIENCE_S, asking, get_page
from tests.mailtools import places, run, serve, spec

TRIES = 3

MakeTarget = Callable[..., Target]


def rate(per_s: float, most_connections: int = 1000, **arrivals: Any) -> dict[str, Any]:
    """A load of so many starts a second; constant unless another shape is given."""
    shape = arrivals or {"shape": "constant"}
    return {"rate": {"per_s": per_s, "arrivals": shape, "most_connections": most_connections}}


def longer_than(blob: bytes, time_ns: float, count: int) -> int:
    """How many of the `count` times of a histogram are longer."""
    times = _engine.quantiles(blob, [(nth + 0.5) / count for nth in range(count)])
    return sum(one > time_ns for one in times)


# The last of so many starts is due then, s.
SHAPES: list[tuple[dict[str, Any], int, float]] = [
    ({"shape": "constant"}, 101, 0.5),
    ({"shape": "burst", "size": 50}, 101, 0.5),
    ({"shape": "on_off", "on_s": 0.1, "off_s": 0.1}, 81, 0.4),
    ({"shape": "steps", "steps": [[0.5, 0.2], [0.0, 0.1], [2.0, 10.0]]}, 81, 0.45),
    ({"shape": "replay", "at_s": [0.0, 0.1, 0.1, 0.4]}, 4, 0.4),
]


@pytest.mark.parametrize("load_threads", [1, 2])
@pytest.mark.parametrize(("shape", "count", "last_s"), SHAPES, ids=[str(shape[0]["shape"]) for shape in SHAPES])
def test_every_start_of_a_shape_reaches_the_server_and_none_too_early(
    target: MakeTarget, shape: dict[str, Any], count: int, last_s: float, load_threads: int
) -> None:
    server = target()
    load = rate(200, **shape)
    result = run_trial(
        web_workload(server.address), load=load, length_s=600, max_operations=count, load_threads=load_threads
    )
    starts = result["starts"]
    assert (result["operations"], result["errors"], server.counts()["requests"]) == (count, {}, count)
    assert (starts["offered"], starts["started"], starts["never_started"]) == (count, count, 0)
    assert result["response"]["count"] == count
    # No more than rounding is allowed: a start that is not due does not begin.
    assert result["elapsed_s"] >= last_s - 1e-6
    assert server.counts()["connections"] == result["connections"]["opened"] <= starts["connections_used"]


def test_as_many_connections_are_opened_as_the_replies_take(target: MakeTarget) -> None:
    """Each start while others wait for their replies needs one of its own, and no more than there may be are opened."""
    server = target(delay_s=0.05)
    enough = run_trial(web_workload(server.address), load=rate(200), length_s=600, max_operations=60)
    assert enough["starts"]["connections_used"] == server.counts()["connections"] >= 10
    assert (enough["starts"]["ran_out"], enough["starts"]["late"]["count"]) == (0, 0)
    server = target(delay_s=0.05)
    few = run_trial(web_workload(server.address), load=rate(200, most_connections=3), length_s=3.0)
    starts = few["starts"]
    assert starts["connections_used"] == server.counts()["connections"] == 3
    # Three connections carry 60 a second at most.
    assert (starts["offered"], starts["started"] <= 183) == (600, True)
    assert starts["never_started"] == 600 - starts["started"]
    # Those that were late, and those that still wait at the end unless a reply of that very moment has freed one.
    assert starts["ran_out"] - starts["late"]["count"] in (0, starts["never_started"])


def test_a_stall_is_in_the_response_time_of_all_that_it_kept_waiting(target: MakeTarget) -> None:
    """And in the service time of as many as were being served, as bare clients see it that ask meanwhile."""
    stall_s, every_s, per_s, connections = 0.3, 2.0, 500, 4
    server = target(stall={"for_s": stall_s, "every_s": every_s})
    load = rate(per_s, most_connections=connections)
    spec = {"load": load, "length_s": 2 * every_s, "seed": 1, "workload": web_workload(server.address)}
    third_ns = stall_s / 3 * 1e9
    for _ in range(TRIES):
        with asking(server.address, get_page, clients=1) as bare:
            outcome = _engine.start(json.dumps(spec)).go().wait(PATIENCE_S)
        assert outcome is not None
        result, blobs = json.loads(outcome.json()), outcome.histograms()
        # Of two stalls the trial's ends may cut off one: whoever came in the first two thirds of the other waited for
        # the last third, but for those that it was serving.
        kept_waiting = longer_than(blobs["response"], third_ns, result["operations"])
        assert kept_waiting >= per_s * stall_s * 2 / 3 - connections
        held_up = longer_than(blobs["service"], third_ns, result["operations"])
        # A few times the machine may hold up the one and not the other.
        assert held_up <= connections * (sum(1e9 * time_s > third_ns for time_s in bare.times_s) + 5)
        if result["starts"]["ran_out"] >= kept_waiting - held_up - connections:
            break
    # A generator that was held up itself has starts that waited for no connection.
    assert result["starts"]["ran_out"] >= kept_waiting - held_up - connections
    assert result["starts"]["offered"] == 2 * every_s * per_s


def simulated_response_s(at_s: npt.NDArray[np.float64], service_s: float) -> float:
    """The mean time from arrival to end at a single server that serves in order, each for so long."""
    end_s, total_s = 0.0, 0.0
    for arrival_s in at_s:
        end_s = max(end_s, arrival_s) + service_s
        total_s += end_s - arrival_s
    return total_s / len(at_s)


def test_poisson_arrivals_wait_for_a_single_server_as_a_queue_fed_with_them_does(target: MakeTarget) -> None:
    """80 % of a server of 1 ms: no reply can come sooner than in the simulation, nor than the server says. How near the
    mean comes to the theory is a matter of the machine: `benchmarks/absolute.py` looks at that.
    """
    count, service_s = 2_000, 0.001
    at_s = np.cumsum(np.random.default_rng(7).exponential(service_s / 0.8, count))
    server = target(kind="app", service_s=service_s, threads=1)
    load = rate(0.8 / service_s, shape="replay", at_s=at_s.tolist())
    workload = app_workload(server.address, {"download": 1}, download_bytes=0)
    result = run_trial(workload, load=load, length_s=600, max_operations=count)
    assert (result["operations"], result["errors"], result["starts"]["ran_out"]) == (count, {}, 0)
    # Histograms have three digits.
    assert result["response"]["mean_ns"] / 1e9 >= 0.998 * simulated_response_s(at_s, service_s)
    kept = server.counts()["kinds"]["download"]
    assert kept["requests"] == count
    assert kept["queue_mean_ns"] + kept["service_mean_ns"] <= result["response"]["mean_ns"] * 1.002


def test_a_turn_of_mail_is_a_message_or_a_session_of_reading_and_users_take_turns() -> None:
    server = serve()
    where, users = places(server.address()), 4
    trial = {"length_s": 2.0, "ramp_up_s": 0.0, "ramp_down_s": 0.0}
    whole = spec(where["smtp"], where["pop3"], sending_share=0.5, drain_limit_s=60, trial=trial)
    result = run(whole | {"load": rate(50, most_connections=users)})
    starts, ledger = result["starts"], result["workload"]["ledger"]
    done = {one["name"]: one["operations"] for one in result["per_operation"]}
    assert (starts["offered"], starts["connections_used"], result["errors"]) == (100, users, {})
    # A turn that runs when the trial ends is not counted.
    sent, read = done["smtp-quit"], done["pop3-quit"]
    assert starts["started"] - users <= sent + read <= starts["started"]
    assert abs(sent - read) <= 2 * users, "each user sends and reads by turns"
    assert (ledger["balanced"], ledger["counts"]["lost"]) == (True, 0)
    assert ledger["counts"]["accepted"] == json.loads(server.counts())["accepted"] >= sent
    # Those that found no user and began are late by so much; the others still waited when the trial ended.
    assert 0 <= starts["ran_out"] - starts["late"]["count"] <= starts["never_started"]
    # A response time is that of a whole turn: there is one for each that ended, and for each that was not over.
    assert starts["answered"] == sent + read < result["operations"]
    assert result["response"]["count"] == starts["answered"] + starts["queue"][-1]
    of_turns_ns = sum(one["service"]["count"] * (one["service"]["mean_ns"] or 0) for one in result["per_operation"])
    assert result["response"]["mean_ns"] * result["response"]["count"] >= 0.99 * of_turns_ns
