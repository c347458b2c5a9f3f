"""Client and server of the app workload against each other, through the engine."""

import socket
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from bakeoff.core.errors import ContenderError
from bakeoff.kinds.app.hello import greet
from bakeoff.kinds.app.plan import parse_app_address
from tests.app_parts import PARTS, assert_parts_fill_the_whole, means_of
from tests.conftest import Target, app_workload, run_trial
from tests.control import PATIENCE_S
from tests.ports import free_port

MakeTarget = Callable[..., Target]
KINDS = ("upload", "download", "processor", "read", "write")


def test_transactions_counted_by_the_server_equal_those_reported(target: MakeTarget) -> None:
    server = target(kind="app")
    result = run_trial(app_workload(server.address), clients=7, max_operations=5000)
    counts = server.counts()
    assert not result["errors"] and result["operations"] == 5000
    for operation in result["per_operation"]:
        assert counts["kinds"][operation["name"]]["requests"] == operation["operations"]
        # A deck of five cards is dealt to its end before the next.
        assert operation["operations"] == pytest.approx(1000, abs=7 * 5)
    assert counts["kinds"]["hello"]["requests"] == counts["connections"] == 7
    assert result["bytes_in"] == counts["bytes"] and result["bytes_out"] == counts["bytes_in"]
    assert result["workload"]["verified"] == {"records": pytest.approx(1000, abs=35), "damaged": 0, "lost": 0} | {
        "wrong_results": 0
    }


def test_network_queue_and_service_make_up_the_whole(target: MakeTarget) -> None:
    server = target(kind="app", service_s=0.004, threads=1)
    workload = app_workload(server.address, {"upload": 1})
    result = run_trial(workload, clients=4, length_s=600, max_operations=400)
    means = means_of(result)
    assert_parts_fill_the_whole(result)
    parts = sum(means[name] for name in PARTS)
    assert parts == pytest.approx(sum(means[f"upload/{name}"] for name in PARTS), rel=1e-6)
    kept = server.counts()["kinds"]["upload"]
    steps = {step["name"]: step["summary"] for step in result["steps"]}
    # What the server counted besides: the first of each client, which have no parts, and what came after the last.
    queued_ns, others = steps["queue"]["count"] * means["queue"], kept["requests"] - steps["queue"]["count"]
    rest_ns = kept["requests"] * kept["queue_mean_ns"] - queued_ns
    assert 0 < others <= 8 and -0.002 * queued_ns <= rest_ns <= others * kept["queue_max_ns"] + 0.002 * queued_ns
    # One thread, four clients that always want something: three wait while one is served, but behind the last.
    behind_ns = 6 * steps["service"]["max_ns"] / steps["service"]["count"]
    assert means["queue"] + means["network"] >= 0.98 * 3 * means["service"] - behind_ns
    assert result["workload"]["server"]["threads"] == 1


def test_damaged_and_lost_writes_are_caught(target: MakeTarget) -> None:
    """A segment of one record in play: every write is read back before the next."""
    mix = {"write": 1.0, "read": 1.0}
    for fault, name in (("damage_every", "damaged"), ("lose_every", "lost")):
        server = target(kind="app", **{fault: 10})
        workload = app_workload(server.address, mix, working_set=0.0001)
        result = run_trial(workload, clients=1, max_operations=4000)
        spoilt = server.counts()["spoilt"]
        found = result["workload"]["verified"]
        assert spoilt == 200
        # Each read of it is an error until it is written again, and the record is counted once.
        assert found[name] <= result["errors"]["wrong_content"] <= 2 * found[name]
        # A write that is followed by another before it is read is never seen: a quarter of a deck of two.
        assert 0.5 * spoilt <= found[name] <= spoilt
        other = "lost" if name == "damaged" else "damaged"
        assert found[other] == 0 and set(result["errors"]) == {"wrong_content"}


def test_a_faultless_server_is_never_accused(target: MakeTarget) -> None:
    server = target(kind="app", segment_bytes=1 << 20)
    mix = {"write": 2.0, "read": 1.0}
    workload = app_workload(server.address, mix, record_bytes=512, read_records=5, write_records=3)
    for seed in (1, 2):  # the second run finds the segments of the first
        result = run_trial(workload, clients=5, max_operations=20_000, seed=seed, load_threads=2)
        assert not result["errors"]
        assert result["workload"]["verified"]["records"] > 30_000
    assert server.counts()["segments"] == 5


def test_a_full_queue_is_told_and_keeps_the_connection(target: MakeTarget) -> None:
    server = target(kind="app", service_s=0.02, threads=1, queue=1)
    result = run_trial(app_workload(server.address, {"upload": 1}), clients=4, length_s=600, max_operations=60)
    # A hello that finds the queue full is refused; whoever is in stays in.
    assert set(result["errors"]) <= {"wrong_status", "refused"} and result["operations"] > 0
    assert result["connections"]["opened"] <= 4 + result["errors"].get("refused", 0)
    # The reply to a client may come after the end of the trial, where nothing counts any more.
    assert result["workload"]["refusals"] == {"busy": pytest.approx(result["errors_total"], abs=4)}


def test_a_server_without_room_refuses_and_is_not_hammered(target: MakeTarget) -> None:
    server = target(kind="app", data_limit_bytes=16 << 20)
    result = run_trial(app_workload(server.address), clients=2, length_s=4)
    assert result["operations"] > 0 and set(result["errors"]) == {"refused"}
    # At once, then after 1, 2, 4 … 64 ms, then each 100 ms: 47 tries in four seconds, when none is late.
    assert result["errors_total"] <= 2 * 48, "the pause between tries grows"


def test_a_unix_socket(target: MakeTarget, tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = str(tmp_path / "app.sock")
    target(kind="app", unix=path)
    workload = app_workload("", addresses=[], unix=path)
    assert run_trial(workload, clients=2, max_operations=500)["operations"] == 500


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A socket that accepts and says nothing."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server


def test_the_check_before_timing_knows_an_app_server(target: MakeTarget, listener: socket.socket) -> None:
    server = target(kind="app", threads=3, service_s=0.001, direct=False, fsync=True, data_limit_bytes=16 << 20)
    found = greet("a", parse_app_address(server.address), [server.address], 4096, PATIENCE_S)
    assert (found.segment_bytes, found.threads, found.service_ns, found.fsync) == (16 << 20, 3, 1_000_000, True)
    with pytest.raises(ContenderError, match="bad parameter"):
        greet("a", parse_app_address(server.address), [server.address], 1000, PATIENCE_S)

    web = target().address
    with pytest.raises(ContenderError):
        greet("web", parse_app_address(web), [web], 0, PATIENCE_S)
    silent = f"127.0.0.1:{listener.getsockname()[1]}"
    with pytest.raises(ContenderError, match="no answer within"):
        greet("silent", parse_app_address(silent), [silent], 0, 0.3)
    closed = f"127.0.0.1:{free_port()}"
    with pytest.raises(ContenderError, match="connection refused"):
        greet("closed", parse_app_address(closed), [closed], 0, PATIENCE_S)
