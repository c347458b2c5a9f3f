"""Known answers: a target with a programmed behaviour must be reported as it behaves."""

import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Target, run_trial, web_workload

MakeTarget = Callable[..., Target]


def test_a_delay_of_5_ms_is_reported_as_5_ms(target: MakeTarget, prompt: None) -> None:
    """p50 and p99 within 0.2 ms. A busy machine can only add time: of twelve short runs one must be undisturbed,
    and the median of their medians must be right in any case.
    """
    server = target(delay_s=0.005)
    seen = []
    for _ in range(12):
        service = run_trial(web_workload(server.address), clients=2, length_s=1.2, ramp_up_s=0.2)["service"]
        assert service["min_ns"] / 1e6 >= 4.99, "no reply can be faster than the delay"
        seen.append((service["p50_ns"] / 1e6, service["p99_ns"] / 1e6))
        if len(seen) >= 3 and any(pair == pytest.approx((5.0, 5.0), abs=0.2) for pair in seen):
            break
    else:
        pytest.fail(f"no run within 0.2 ms of 5 ms at p50 and p99: {seen}")
    assert statistics.median(p50_ms for p50_ms, _ in seen) == pytest.approx(5.0, abs=0.2)


def test_a_stall_of_200_ms_every_second_shows(target: MakeTarget) -> None:
    """Each client is caught by each stall once, and every second of the series shows it."""
    server = target(stall={"for_s": 0.2, "every_s": 1.0})
    result = run_trial(web_workload(server.address), clients=4, length_s=5.2, ramp_up_s=0.1, ramp_down_s=0.1)
    assert 190 <= result["service"]["max_ns"] / 1e6 <= 260
    full_seconds = [row for row in result["per_second"] if row["phase"] == "window"][:-1]
    assert len(full_seconds) >= 3
    assert all(row["service"]["max_ns"] > 100e6 for row in full_seconds)
    assert result["service"]["p50_ns"] < 20e6, "the median operation is not stalled"


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
    result = run_trial(workload, clients=5, threads=2, max_operations=777, cores=2 if where == "two cores" else 1)
    assert (result["operations"], result["errors"]) == (777, {})
    assert server.counts()["requests"] == 777
    # The threads of one core begin together; on two cores one may have done all the work before the other begins.
    opened = result["connections"]["opened"]
    assert opened <= 10 if where == "two cores" else opened == 10


def test_a_limit_of_1000_requests_a_second_is_reported_within_1_percent(target: MakeTarget) -> None:
    server = target(limit_per_s=1000)
    result = run_trial(web_workload(server.address), clients=8, length_s=5, ramp_up_s=0.5, ramp_down_s=0.5)
    assert result["operations"] / result["window_s"] == pytest.approx(1000, rel=0.01)


def test_littles_law_holds(target: MakeTarget) -> None:
    """N = X·(R+Z+L): the clients are always either served or thinking, or late, on a busy machine."""
    server = target(delay_s=0.004)
    result = run_trial(web_workload(server.address), clients=12, length_s=4, ramp_up_s=1, think_s=0.006)
    rate = result["operations"] / result["window_s"]
    late_s = result["generator"]["late_start"]["mean_ns"] / 1e9
    busy = rate * (result["service"]["mean_ns"] / 1e9 + 0.006 + late_s)
    assert busy == pytest.approx(12, rel=0.02)


def test_damaged_and_cut_bodies_are_counted_exactly(target: MakeTarget) -> None:
    cut = target(truncate_every=5)
    result = run_trial(web_workload(cut.address), clients=2, max_operations=500)
    assert result["errors"] == {"short_body": 100}

    forced = target(status={"code": 503, "every": 4})
    result = run_trial(web_workload(forced.address), clients=2, max_operations=400)
    assert result["errors"] == {"wrong_status": 100}
    assert result["statuses"] == {"2xx": 300, "5xx": 100}


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


def test_a_closed_port_is_refused_and_not_hammered(target: MakeTarget) -> None:
    server = target()
    address = server.address
    server.stop()
    result = run_trial(web_workload(address), clients=2, length_s=1)
    assert result["operations"] == 0
    assert set(result["errors"]) == {"refused"}
    assert 10 <= result["errors"]["refused"] <= 100, "the pause between tries grows to 100 ms"


def test_a_server_that_never_answers_times_out(target: MakeTarget) -> None:
    server = target(delay_s=30)
    result = run_trial(web_workload(server.address), clients=2, length_s=1.5, reply_timeout_s=0.4)
    assert set(result["errors"]) == {"reply_timeout"}
    assert 4 <= result["errors"]["reply_timeout"] <= 8


PORTS_EXHAUSTED = """
import json, subprocess, sys
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
open("/proc/sys/net/ipv4/ip_local_port_range", "w").write("50000 50019")
open("/proc/sys/net/ipv4/tcp_tw_reuse", "w").write("0")
from tests.conftest import Target, run_trial, web_workload
server = Target()
workload = web_workload(server.address, requests_per_connection=1)
print(json.dumps(run_trial(workload, clients=2, length_s=1)["errors"]))
"""


def test_running_out_of_ports_is_an_error_class_of_its_own() -> None:
    """In a network namespace with 20 local ports, where the client closes first."""
    command = ["unshare", "--net", "--map-root-user", sys.executable, "-c", PORTS_EXHAUSTED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "ports_exhausted" in done.stdout


def test_the_null_workload_shows_the_tools_own_ceiling() -> None:
    result = run_trial({"kind": "null"}, clients=8, length_s=0.5)
    assert result["operations"] / result["window_s"] > 1_000_000
    assert result["generator"]["cpu_us_per_operation"] < 1.0
