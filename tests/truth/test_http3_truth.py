"""HTTP/3 against a server on another implementation, whose counts and faults are known."""

import socket
from pathlib import Path

import pytest

from bakeoff.agents.result import TrialResult
from bakeoff.core.errors import ContenderError
from bakeoff.kinds.web.checks.probe import Prober
from bakeoff.kinds.web.plan import WebSettings
from bakeoff.kinds.web.settings.address import parse_web_address
from bakeoff.run.outcome.judge import judge
from tests.conftest import run_trial, web_workload
from tests.control import most_connections_taken
from tests.http3_server import Behaviour, Http3Server
from tests.ports import free_port
from tests.servers.conftest import certificate
from tests.unit.run.fake import WEB


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    key, cert = certificate(tmp_path_factory.mktemp("tls"))
    return cert, key


Identity = tuple[Path, Path]


def workload(server: Http3Server, cert: Path, **settings: object) -> dict[str, object]:
    tls = {"verify": True, "ca_file": str(cert)}
    return web_workload(server.address, **{"http": "3", "scheme": "https", "tls": tls, **settings})


@pytest.fixture
def closed_port() -> str:
    return f"127.0.0.1:{free_port()}"


@pytest.mark.parametrize(("streams", "strange"), [(1, False), (7, False), (3, True)])
def test_every_request_is_counted_on_both_sides(identity: Identity, streams: int, strange: bool) -> None:
    with Http3Server(*identity, Behaviour(strange=strange)) as server:
        headers = [("User-Agent", "bakeoff"), ("X-Own", "1")]
        spec = workload(server, identity[0], headers=headers, path="/page?q=1")
        result = run_trial(spec, clients=2, virtual_users=2, streams=streams, max_operations=400)
    assert result["errors"] == {}
    assert result["operations"] == server.counts["requests"] == server.counts["replies"] == 400
    assert server.paths == {"GET https://localhost/page?q=1": 400}
    assert server.counts["connections"] == result["connections"]["opened"] == 4
    # A head of some bytes, a frame of data: all that the server wrote of it on the stream.
    assert 400 * 1030 <= result["bytes_in"] <= 400 * 1080
    steps = {step["name"]: step["summary"]["count"] for step in result["steps"]}
    assert steps["connect"] == 4, "once for each connection, its handshake included"
    assert "tls" not in steps
    assert steps["first_byte"] == 400


def test_certificates_are_checked_and_so_is_the_protocol(identity: Identity) -> None:
    with Http3Server(*identity) as server:
        untrusted = run_trial(workload(server, identity[0], tls=None), max_operations=3)
        assert untrusted["errors"] == {"tls": 3}
        unchecked = run_trial(workload(server, identity[0], tls={"verify": False}), max_operations=3)
        assert (unchecked["operations"], unchecked["errors"]) == (3, {})
    with Http3Server(*identity, Behaviour(alpn="other")) as server:
        unspoken = run_trial(workload(server, identity[0]), streams=3, max_operations=3)
        assert unspoken["errors"] == {"tls": 3}


def test_a_reset_stream_is_an_error_of_its_own_and_costs_no_other_request(identity: Identity) -> None:
    with Http3Server(*identity, Behaviour(reset_every=10)) as server:
        result = run_trial(workload(server, identity[0]), streams=8, max_operations=300)
    assert result["errors"] == {"stream_reset": server.counts["reset"]} == {"stream_reset": 30}
    assert (result["operations"], server.counts["connections"]) == (270, 1)
    assert judge(TrialResult.model_validate(result), 0.05, WEB)[0] == "failed"


def test_requests_that_a_server_rejects_are_asked_again_and_counted(identity: Identity) -> None:
    with Http3Server(*identity, Behaviour(reject_every=10)) as server:
        result = run_trial(workload(server, identity[0]), streams=4, max_operations=270)
    assert (result["operations"], result["errors"]) == (270, {})
    assert result["workload"]["put_back"] == server.counts["rejected"] == server.counts["requests"] - 270


@pytest.mark.parametrize("streams", [1, 6])
def test_a_server_that_says_goaway_loses_no_request(identity: Identity, streams: int) -> None:
    with Http3Server(*identity, Behaviour(away_after=20)) as server:
        result = run_trial(workload(server, identity[0]), clients=2, streams=streams, max_operations=200)
    assert (result["operations"], result["errors"]) == (200, {})
    # A connection takes what comes until the client has read that it ends: at most one more of each stream. The last
    # of each client may never come to its farewell.
    most = 20 + streams
    assert server.counts["farewells"] >= (200 - 2 * 19) / most
    assert result["connections"]["opened"] == server.counts["connections"] >= 200 / most


def test_a_connection_that_is_dropped_takes_its_requests_with_it(identity: Identity) -> None:
    with Http3Server(*identity, Behaviour(drop_after=30)) as server:
        result = run_trial(workload(server, identity[0]), streams=3, max_operations=200)
    failed = sum(result["errors"].values())
    assert result["operations"] + failed == 200
    assert set(result["errors"]) == {"closed_early"}
    assert server.counts["dropped"] <= failed <= 3 * server.counts["dropped"] + 3


def test_no_more_streams_are_open_than_the_server_allows_and_the_wait_is_a_step(identity: Identity) -> None:
    with Http3Server(*identity, Behaviour(streams=2)) as server:
        result = run_trial(workload(server, identity[0]), streams=6, max_operations=300)
    assert (result["operations"], result["errors"]) == (300, {})
    waits = next(step["summary"] for step in result["steps"] if step["name"] == "stream")
    assert waits["count"] > 3
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
def test_bodies_are_held_to_what_was_stated_and_agreed(identity: Identity, behaviour: Behaviour, name: str) -> None:
    with Http3Server(*identity, behaviour) as server:
        result = run_trial(workload(server, identity[0]), streams=4, max_operations=40)
    wrong = 10 if behaviour.cut_every else 40
    assert (result["errors"], result["operations"]) == ({name: wrong}, 40 - wrong)


def test_long_bodies_come_whole_through_their_windows(identity: Identity) -> None:
    body = b"z" * 500_000
    with Http3Server(*identity, Behaviour(body=body)) as server:
        result = run_trial(workload(server, identity[0], length=len(body)), streams=3, max_operations=4)
    assert (result["operations"], result["errors"]) == (4, {})


def test_a_silent_server_times_out_by_stream(identity: Identity) -> None:
    with Http3Server(*identity, Behaviour(silent=True)) as server:
        result = run_trial(workload(server, identity[0]), streams=3, max_operations=3, reply_timeout_s=2.0)
    assert result["errors"] == {"reply_timeout": 3}


def test_a_closed_port_and_a_mute_one_are_errors(identity: Identity, closed_port: str) -> None:
    spec = web_workload(closed_port, http="3", scheme="https")
    assert run_trial(spec, streams=2, max_operations=4)["errors"] == {"refused": 4}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mute:
        mute.bind(("127.0.0.1", 0))
        spec = web_workload(f"127.0.0.1:{mute.getsockname()[1]}", http="3", scheme="https")
        result = run_trial(spec, streams=2, max_operations=2, connect_timeout_s=0.2)
    assert result["errors"] == {"connect_timeout": 2}


def test_a_rate_takes_idle_streams_before_it_opens_a_connection(identity: Identity) -> None:
    with Http3Server(*identity) as server:
        load = {"rate": {"per_s": 100.0, "arrivals": {"shape": "constant"}, "most_connections": 10}}
        spec = workload(server, identity[0])
        result = run_trial(spec, load=load, streams=20, length_s=600, max_operations=100)
    assert result["errors"] == {}
    assert result["operations"] == server.counts["replies"] == 100
    assert server.counts["connections"] <= most_connections_taken(result, 100.0, 20)


def prober(address: str, **settings: object) -> Prober:
    given = {"http": "3", "streams": 4, "connect_timeout": "60s", **settings}
    return Prober("one", parse_web_address(f"https://{address}/page"), WebSettings.model_validate(given))


def test_the_check_reads_a_whole_reply_and_says_what_stands_in_its_way(identity: Identity, closed_port: str) -> None:
    with Http3Server(*identity, Behaviour(streams=2)) as server:
        reply = prober(server.address, ca_file=str(identity[0])).fetch("/page")
        assert (reply.status, reply.length, reply.version, reply.streams_allowed) == (200, 1024, "3", 2)
        with pytest.raises(ContenderError, match=r"its certificate is not trusted .*--ca-file"):
            prober(server.address).fetch("/page")
    with (
        Http3Server(*identity, Behaviour(alpn="other")) as server,
        pytest.raises(ContenderError, match="no HTTP/3 is agreed"),
    ):
        prober(server.address, insecure=True).fetch("/page")
    with pytest.raises(ContenderError, match=r"the UDP port is closed.*leave out --http 3"):
        prober(closed_port).fetch("/page")
