"""HTTP/2 against a server on another implementation, whose counts and faults are known."""

import ssl
from pathlib import Path

import pytest

from bakeoff.agents.result import TrialResult
from bakeoff.run.outcome.judge import judge
from tests.conftest import run_trial, web_workload
from tests.control import most_connections_taken
from tests.http2_server import Behaviour, Http2Server
from tests.servers.conftest import certificate
from tests.unit.run.fake import WEB


def workload(server: Http2Server, **settings: object) -> dict[str, object]:
    return web_workload(server.address, **{"http": "2", **settings})


@pytest.mark.parametrize("streams", [1, 7])
@pytest.mark.parametrize("table_bytes", [4096, 0])
def test_every_request_is_counted_on_both_sides(streams: int, table_bytes: int) -> None:
    with Http2Server(Behaviour(table_bytes=table_bytes)) as server:
        headers = [("User-Agent", "bakeoff"), ("X-Own", "1")]
        spec = workload(server, headers=headers, path="/page?q=1")
        result = run_trial(spec, clients=2, virtual_users=2, streams=streams, max_operations=600)
    assert result["errors"] == {}
    assert result["operations"] == server.counts["requests"] == server.counts["replies"] == 600
    assert server.paths == {"GET http://localhost/page?q=1": 600}
    assert server.counts["connections"] == result["connections"]["opened"] == 4
    assert server.counts["streams"] <= streams
    # A head of three indexed fields or short ones, a frame of data, their heads; all that both sides wrote of it.
    assert 600 * (1024 + 9 + 9 + 1) <= result["bytes_in"] <= 600 * (1024 + 9 + 9 + 20)
    steps = {step["name"]: step["summary"]["count"] for step in result["steps"]}
    assert steps["connect"] == 4, "once for each connection"
    assert steps.get("stream", 0) <= 4 * (streams - 1), "the others waited for it"
    assert steps["first_byte"] == 600


def test_over_tls_by_alpn_with_a_certificate_that_is_checked(tmp_path: Path) -> None:
    key, cert = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    context.set_alpn_protocols(["h2"])
    tls = {"verify": True, "ca_file": str(cert)}
    with Http2Server(tls=context) as server:
        result = run_trial(workload(server, scheme="https", tls=tls), clients=2, streams=5, max_operations=300)
        assert (result["operations"], result["errors"]) == (300, {})
        assert server.counts["requests"] == 300
        steps = {step["name"]: step["summary"]["count"] for step in result["steps"]}
        assert steps["tls"] == steps["connect"] == 2
        untrusted = run_trial(workload(server, scheme="https"), max_operations=3)
        assert untrusted["errors"] == {"tls": 3}
    context.set_alpn_protocols(["http/1.1"])
    with Http2Server(tls=context) as server:
        unspoken = run_trial(workload(server, scheme="https", tls=tls), streams=3, max_operations=3)
        assert unspoken["errors"] == {"tls": 3}


def test_a_reset_stream_is_an_error_of_its_own_and_costs_no_other_request() -> None:
    with Http2Server(Behaviour(reset_every=10)) as server:
        result = run_trial(workload(server), streams=8, max_operations=500)
    assert result["errors"] == {"stream_reset": server.counts["reset"]} == {"stream_reset": 50}
    assert (result["operations"], server.counts["connections"]) == (450, 1)
    assert judge(TrialResult.model_validate(result), 0.05, WEB)[0] == "failed"


def test_requests_that_a_server_puts_back_are_asked_again_and_counted() -> None:
    with Http2Server(Behaviour(refuse_every=10)) as server:
        result = run_trial(workload(server), streams=4, max_operations=450)
    assert (result["operations"], result["errors"]) == (450, {})
    assert result["workload"]["put_back"] == server.counts["refused"] == server.counts["requests"] - 450
    assert server.counts["refused"] >= 45


@pytest.mark.parametrize("streams", [1, 6])
def test_a_server_that_ends_connections_by_goaway_loses_no_request(streams: int) -> None:
    with Http2Server(Behaviour(away_after=20)) as server:
        result = run_trial(workload(server), clients=2, streams=streams, max_operations=400)
    assert (result["operations"], result["errors"]) == (400, {})
    assert server.counts["replies"] == 400
    assert server.counts["farewells"] >= 18
    assert result["connections"]["opened"] == server.counts["connections"] >= 20


def test_a_connection_that_is_dropped_takes_its_requests_with_it() -> None:
    with Http2Server(Behaviour(drop_after=30)) as server:
        result = run_trial(workload(server), streams=3, max_operations=300)
    failed = sum(result["errors"].values())
    assert result["operations"] == server.counts["replies"]
    assert result["operations"] + failed == 300
    assert set(result["errors"]) <= {"closed_early", "reset_before_first_byte"}
    assert server.counts["dropped"] <= failed <= 3 * server.counts["dropped"]


def test_no_more_streams_are_open_than_the_server_allows_and_the_wait_is_a_step() -> None:
    with Http2Server(Behaviour(streams=2)) as server:
        result = run_trial(workload(server), streams=6, max_operations=600)
    assert (result["operations"], result["errors"]) == (600, {})
    assert result["workload"]["put_back"] == 0 and server.counts["streams"] <= 6
    waits = next(step["summary"] for step in result["steps"] if step["name"] == "stream")
    assert waits["count"] > 400, "four of six wait at any time"
    # The wait is a part of the operation's time, so none looks fast by it: N = X * R.
    busy_s = sum(client["busy_s"] for client in result["per_client"])
    # Of each stream but for what is less than an operation at either end.
    longest_s = result["service"]["max_ns"] / 1e9
    assert 6 * (result["window_s"] - 2 * longest_s) <= busy_s <= 6 * result["elapsed_s"]


@pytest.mark.parametrize(
    ("behaviour", "name"),
    [
        (Behaviour(cut_every=4), "short_body"),
        (Behaviour(body=b"y" * 10), "wrong_content"),
        (Behaviour(body=b"x" * 1024, stated=1000), "protocol"),
    ],
)
def test_bodies_are_held_to_what_was_stated_and_agreed(behaviour: Behaviour, name: str) -> None:
    with Http2Server(behaviour) as server:
        result = run_trial(workload(server), streams=4, max_operations=40)
    wrong = 10 if behaviour.cut_every else 40
    assert (result["errors"], result["operations"]) == ({name: wrong}, 40 - wrong)


def test_long_bodies_come_whole_through_their_windows() -> None:
    body = b"z" * 3_000_000
    with Http2Server(Behaviour(body=body)) as server:
        result = run_trial(workload(server, length=len(body)), streams=3, max_operations=12)
    assert (result["operations"], result["errors"]) == (12, {})


def test_a_silent_server_times_out_by_stream_and_is_told_so() -> None:
    with Http2Server(Behaviour(silent=True)) as server:
        result = run_trial(workload(server), streams=3, max_operations=3, reply_timeout_s=2.0)
        assert result["errors"] == {"reply_timeout": 3}


def test_a_server_of_http_1_is_an_error_and_not_a_wait(target: object) -> None:
    assert callable(target)
    server = target()
    result = run_trial(web_workload(server.address, http="2"), streams=2, max_operations=8)
    assert sum(result["errors"].values()) == 8
    assert set(result["errors"]) <= {"protocol", "closed_early", "reset_before_first_byte"}


def test_a_rate_takes_idle_streams_before_it_opens_a_connection() -> None:
    with Http2Server() as server:
        load = {"rate": {"per_s": 200.0, "arrivals": {"shape": "constant"}, "most_connections": 10}}
        result = run_trial(workload(server), load=load, streams=20, length_s=600, max_operations=200)
    assert result["errors"] == {}
    assert result["operations"] == server.counts["replies"] == 200
    assert server.counts["connections"] <= most_connections_taken(result, 200.0, 20)
