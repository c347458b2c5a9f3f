"""Known answers: a target with a programmed behaviour must be reported as it behaves."""

import json
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bakeoff import _engine
from tests.conftest import Target, run_trial, web_workload
from tests.control import PATIENCE_S, asking, assert_not_always_later, get_page, later
from tests.ports import free_port

MakeTarget = Callable[..., Target]


def test_a_delay_of_5_ms_is_reported_as_5_ms(target: MakeTarget) -> None:
    """Never shorter; and at p50 and p95 no longer than bare clients see it that ask the same server meanwhile."""
    server = target(delay_s=0.005)

    results: list[dict[str, Any]] = []

    def measure() -> str:
        with asking(server.address, get_page, clients=6) as bare:
            result = run_trial(web_workload(server.address), clients=6, length_s=600, max_operations=2000)
        results.append(result)
        service = result["service"]
        assert service["min_ns"] / 1e6 >= 4.99 and min(bare.times_s) >= 0.00499, "no reply can be faster than the delay"
        levels = ((0.5, "p50_ns"), (0.95, "p95_ns"))
        return "".join(later(name, at, service[name] / 1e9, 2000, bare, slack_s=0.0002) for at, name in levels)

    assert_not_always_later(measure)
    result = results[0]
    service = result["service"]
    # What is reported fills the time of the clients, to the last operation of each.
    busy_s = service["mean_ns"] * service["count"] / 1e9
    assert busy_s <= 6 * result["elapsed_s"]
    assert busy_s >= 6 * (result["window_s"] - 2 * service["max_ns"] / 1e9)


def test_every_stall_of_200_ms_shows(target: MakeTarget) -> None:
    """Each client is caught by each stall once, as a bare client is."""
    server = target(stall={"for_s": 0.2, "every_s": 1.0})
    spec = {"load": {"clients": 4}, "length_s": 8.0, "seed": 1, "workload": web_workload(server.address)}
    with asking(server.address, get_page, clients=1) as bare:
        outcome = _engine.start(json.dumps(spec)).go().wait(PATIENCE_S)
    result, blob = json.loads(outcome.json()), outcome.histograms()["service"]
    count = result["operations"]
    longest = _engine.quantiles(blob, [1 - (nth + 0.5) / count for nth in range(min(count, 100))])
    stalled = sum(time_ns > 100e6 for time_ns in longest)
    # Eight stalls, of which the ends of the trial may cut off one or two; a machine that stands still itself makes one
    # of two, and a few times it may hold up the one client and not the other.
    assert stalled >= 3 * 4
    assert stalled <= 4 * (sum(time_s > 0.1 for time_s in bare.times_s) + 5)
    assert result["service"]["max_ns"] > 100e6 > result["service"]["p50_ns"], "the median is not stalled"
    assert sum((row["service"]["max_ns"] or 0) > 100e6 for row in result["per_second"]) >= 2


def test_every_tenth_connection_refused_is_exactly_a_tenth_of_errors(target: MakeTarget) -> None:
    server = target(refuse={"count": 1, "of": 10})
    workload = web_workload(server.address, keep_alive=False, http="1.0")
    result = run_trial(workload, clients=4, max_operations=1000)
    assert result["errors"] == {"reset_before_first_byte": 100}
    assert result["operations"] == 900
    assert server.counts()["refused"] == 100


@pytest.mark.parametrize("keep_alive", [True, False])
def test_requests_counted_by_the_target_equal_those_reported(target: MakeTarget, keep_alive: bool) -> None:
    server = target()
    result = run_trial(web_workload(server.address, keep_alive=keep_alive), clients=7, max_operations=5003)
    counts = server.counts()
    assert result["operations"] == counts["requests"] == 5003
    assert result["bytes_in"] == counts["bytes"]
    assert result["connections"]["opened"] == counts["connections"] == (7 if keep_alive else 5003)
    assert sum(client["operations"] for client in result["per_client"]) == 5003
    assert sum(row["operations"] for row in result["per_second"]) == 5003


@pytest.mark.parametrize("where", ["IPv6", "unix socket", "HEAD", "HTTP/1.0 keep-alive", "chunked", "two cores"])
def test_every_way_to_connect_and_to_frame_counts_alike(target: MakeTarget, tmp_path: Path, where: str) -> None:
    place = {"IPv6": {"host": "::1"}, "unix socket": {"unix": str(tmp_path / "sock")}, "chunked": {"chunked": True}}
    server = target(**place.get(where, {}))
    workload = web_workload(server.address, http="1.0" if where == "HTTP/1.0 keep-alive" else "1.1")
    if where == "HEAD":
        workload["classes"][0]["requests"][0]["method"] = "HEAD"
    result = run_trial(
        workload, clients=5, virtual_users=2, max_operations=777, load_threads=2 if where == "two cores" else 1
    )
    assert (result["operations"], result["errors"]) == (777, {})
    assert server.counts()["requests"] == 777
    assert (result["bytes_in"] > 777 * 1024) == (where != "HEAD"), "no body is an answer to HEAD"
    # The virtual users of one load thread begin together; on two, one may have done all before the other begins.
    opened = result["connections"]["opened"]
    assert opened <= 10 if where == "two cores" else opened == 10


@pytest.mark.parametrize("asked", [4096, 65536, 16 << 20])
def test_the_receive_buffer_is_set_and_read_back(target: MakeTarget, asked: int) -> None:
    """A bare socket is asked for the same: what the kernel makes of it (twice as much, less at its limit) is alike."""
    server = target()
    result = run_trial(web_workload(server.address, receive_buffer_bytes=asked), clients=2, max_operations=20)
    with socket.socket() as bare:
        bare.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, asked)
        assert result["connections"]["receive_buffer_bytes"] == bare.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
    untold = run_trial(web_workload(server.address), clients=2, max_operations=20)
    assert untold["connections"]["receive_buffer_bytes"] == 0, "nobody asked for one"


def test_a_limit_of_1000_requests_a_second_is_never_passed_and_each_is_counted(target: MakeTarget) -> None:
    server = target(limit_per_s=1000)
    result = run_trial(web_workload(server.address), clients=8, length_s=3, ramp_up_s=0.5, ramp_down_s=0.5)
    assert result["window_s"] == pytest.approx(2, abs=1e-6)
    # At either end of the window eight replies may have been on their way.
    assert 0 < result["operations"] <= 2 * 1000 + 2 * 8
    # One request of each client may be on its way when the trial is over.
    everything = result["operations"] + result["outside"]["operations"]
    assert everything <= server.counts()["requests"] <= everything + 8


def test_littles_law_holds(target: MakeTarget) -> None:
    """N = X·(R+Z+L): the clients are always either served or thinking, or late, on a busy machine. Only what is under
    way at the edges of the window is missing: one cycle of each client at either end.
    """
    server = target(delay_s=0.004)
    # Without a ramp, of which lateness is told as well.
    result = run_trial(web_workload(server.address), clients=12, length_s=2.5, think_s=0.006)
    rate = result["operations"] / result["window_s"]
    late = result["generator"]["late_start"]
    busy = rate * (result["service"]["mean_ns"] / 1e9 + 0.006 + (late["mean_ns"] or 0) / 1e9)
    longest_s = (result["service"]["max_ns"] + (late["max_ns"] or 0)) / 1e9 + 0.006
    assert busy == pytest.approx(12, rel=0.005 + longest_s / result["window_s"])


def test_damaged_and_cut_bodies_are_counted_exactly(target: MakeTarget) -> None:
    cut = target(truncate_every=5)
    result = run_trial(web_workload(cut.address), clients=2, max_operations=500)
    assert result["errors"] == {"short_body": 100}

    forced = target(status={"code": 503, "every": 4})
    result = run_trial(web_workload(forced.address), clients=2, max_operations=400)
    assert result["errors"] == {"wrong_status": 100}
    assert result["statuses"] == {"2xx": 300, "5xx": 100}
    assert result["workload"]["failed"] == {"requests": {"GET /page": {"503": 100}}, "others": 0, "answered": {}}


def test_a_changed_byte_is_caught_by_the_hash(target: MakeTarget, tmp_path: Path) -> None:
    import hashlib

    body = bytes(range(256)) * 8
    (tmp_path / "page").write_bytes(body)
    server = target(root=str(tmp_path), corrupt_every=10)
    workload = web_workload(server.address, check_every=1, length=len(body))
    workload["classes"][0]["requests"][0]["sha256"] = hashlib.sha256(body).hexdigest()
    result = run_trial(workload, clients=3, max_operations=1000)
    assert result["errors"] == {"wrong_content": 100}
    assert result["workload"]["bodies_hashed"] == 1000


def test_a_closed_port_is_refused_and_not_hammered() -> None:
    result = run_trial(web_workload(f"127.0.0.1:{free_port()}"), clients=2, length_s=3)
    assert result["operations"] == 0
    assert set(result["errors"]) == {"refused"}
    # At once, then after 1, 2, 4 … 64 ms, then each 100 ms: 37 tries of each client in 3 s, when none is late.
    assert 2 <= result["errors"]["refused"] <= 2 * 37 + 2


def test_a_server_that_never_answers_times_out(target: MakeTarget) -> None:
    server = target(delay_s=30)
    result = run_trial(web_workload(server.address), clients=2, max_operations=6, reply_timeout_s=0.4)
    assert (result["operations"], result["errors"]) == (0, {"reply_timeout": 6})
    assert result["elapsed_s"] >= 3 * 0.4, "each client waits for one at a time, and for all of its time-out"


PORTS_EXHAUSTED = """
import json, subprocess, sys
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
open("/proc/sys/net/ipv4/ip_local_port_range", "w").write("50000 50019")
open("/proc/sys/net/ipv4/tcp_tw_reuse", "w").write("0")
from bakeoff import _engine
from tests.conftest import Target, run_trial, web_workload
server = Target()
workload = web_workload(server.address, requests_per_connection=1)
print(json.dumps(run_trial(workload, clients=2, max_operations=60)["errors"]))
"""


def test_running_out_of_ports_is_an_error_class_of_its_own() -> None:
    """In a network namespace with 20 local ports, where the client closes first."""
    command = ["unshare", "--net", "--map-root-user", sys.executable, "-c", PORTS_EXHAUSTED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    assert "ports_exhausted" in done.stdout


def test_the_null_workload_shows_the_tools_own_generator_capacity(target: MakeTarget) -> None:
    """Without I/O it must do more than with it, on the same processor in the same moments: in turn, five times."""
    address, lower = target().address, 0
    for _ in range(5):
        null = run_trial({"kind": "null"}, clients=8, max_operations=300_000)
        web = run_trial(web_workload(address), clients=8, max_operations=5_000)
        per_cpu_s = [result["operations"] / result["generator"]["cpu_s"] for result in (null, web)]
        lower += per_cpu_s[0] > 3 * per_cpu_s[1]
    assert lower == 5
