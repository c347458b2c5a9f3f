"""The generator capacity of a generator: what it asks of a server on loopback that does nothing."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any, Self

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.result import TrialResult
from bakeoff.agents.spec import NullWorkload, TrialSpec
from bakeoff.kinds.app.spec import AppWorkload
from bakeoff.kinds.spec import NullCalibration
from bakeoff.kinds.web.spec import ClassSpec, RequestSpec, WebWorkload
from bakeoff.load.load_step import Clients
from tests.conftest import Target
from tests.control import PATIENCE_S


def web(**changes: object) -> WebWorkload:
    """Work of two classes: one page of 3,000 bytes, and as often one of 1,000 and a HEAD."""
    large = RequestSpec(method="GET", path="/a", length=3_000, sha256=None)
    small = (
        RequestSpec(method="POST", path="/b", length=1_000, sha256="0" * 64, body=0),
        RequestSpec(method="HEAD", path="/c", length=9_999, sha256=None),
    )
    table: dict[str, object] = {
        "scheme": "http", "host": "example", "addresses": ("192.0.2.1:1",), "unix": None, "http": "1.1",
        "keep_alive": True, "receive_buffer_bytes": None, "close_with_reset": False, "source_addresses": ("192.0.2.2",),
        "requests_per_connection": None, "tls": None, "check_every": 1, "headers": (("X-Any", "1"),), "bodies": ("00",),
        "classes": (
            ClassSpec(name="a", weight=1, expect=(), requests=(large,)),
            ClassSpec(name="b", weight=1, expect=(), requests=small),
        ),
    }  # fmt: skip
    return WebWorkload.model_validate({**table, **changes})


def app() -> AppWorkload:
    """Requests of every kind, several records each."""
    kinds = ("upload", "download", "processor", "read", "write")
    return AppWorkload.model_validate(
        {
            "addresses": ("192.0.2.1:1",), "unix": None, "source_addresses": (),
            "classes": [{"name": name, "weight": 1.0} for name in kinds], "upload_bytes": 40_000,
            "download_bytes": 70_000, "rounds": 50, "record_bytes": 512, "read_records": 3, "write_records": 2,
            "working_set": 0.001,
        }
    )  # fmt: skip


def asked(null: NullCalibration, address: str, streams: int = 1, operations: int = 1_000) -> TrialResult:
    """A trial of the same work, as any contender at this address is asked for it."""
    spec = TrialSpec(
        workload=null.asked.at(address),
        load=Clients(3),
        streams=streams,
        length_s=3600.0,
        max_operations=operations,
    )
    outcome = LocalAgent().start(spec).go().wait(PATIENCE_S)
    assert outcome is not None
    return outcome.result


def measured(null: NullCalibration, operations: int = 1_000) -> TrialResult:
    """A trial as the generator capacity is measured, of so many operations."""
    work = NullWorkload(server=null)
    spec = TrialSpec(workload=work, load=Clients(3), length_s=3600.0, max_operations=operations)
    outcome = LocalAgent().start(spec).go().wait(PATIENCE_S)
    assert outcome is not None and outcome.result.operations
    return outcome.result


CHECKED = {"verify": True, "ca_file": "/none", "resumption": True}
WAYS: list[dict[str, Any]] = [
    {"scheme": scheme, "http": http, "keep_alive": keep_alive, "tls": tls}
    for scheme, tls in (("http", None), ("https", CHECKED))
    for http, keep_alive in (("1.0", True), ("1.0", False), ("1.1", True), ("1.1", False), ("2", True))
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: f"{way['scheme']}-{way['http']}-{way['keep_alive']}")
def test_every_request_of_a_ceiling_is_asked_of_a_server_and_answered(way: dict[str, Any]) -> None:
    null = web(**way).null_calibration
    assert null is not None and null.connects_every == (None if way["keep_alive"] else 1)
    spec = TrialSpec(workload=NullWorkload(server=null), load=Clients(3), length_s=3600.0, max_operations=1_000)
    # Over the wire to another machine and back.
    spec = TrialSpec.model_validate_json(spec.to_json())
    session = LocalAgent().start(spec)
    outcome = session.go().wait(PATIENCE_S)
    assert outcome is not None
    result = outcome.result
    page_bytes = null.server["page_bytes"]
    assert isinstance(page_bytes, int) and page_bytes == 1_750, "half of 3,000, a quarter of 1,000: a HEAD has no body"
    assert sum(result.errors.values()) == 0 and result.statuses["2xx"] == result.operations >= 1_000
    assert result.bytes_in >= result.operations * page_bytes
    opened = result.connections.opened
    assert opened == 3 if way["keep_alive"] else opened >= result.operations
    made = result.connections.tls_full + result.connections.tls_resumed
    assert made == (opened if way["scheme"] == "https" else 0)
    assert way["keep_alive"] or result.connections.tls_resumed > 0.9 * made or not made


def test_certificates_are_checked_where_the_plan_says_so(tmp_path: Path) -> None:
    """They are a part of what a handshake costs; each server has one of its own."""
    null = web(scheme="https", tls=CHECKED).null_calibration
    assert null is not None
    server = Target(**null.described(1, str(tmp_path / "own.pem")))
    other = Target(**null.described(1, str(tmp_path / "other.pem")))
    spec = {"load": Clients(1), "length_s": 3600.0, "max_operations": 5}
    for certificate, refused in (("own.pem", False), ("other.pem", True)):
        work = null.asked.at(server.address, str(tmp_path / certificate))
        outcome = LocalAgent().start(TrialSpec(workload=work, **spec)).go().wait(PATIENCE_S)
        assert outcome is not None and ("tls" in outcome.result.errors) == refused
    for one in (server, other):
        one.stop()


@pytest.mark.parametrize("way", WAYS, ids=lambda way: f"{way['scheme']}-{way['http']}-{way['keep_alive']}")
def test_the_server_counts_what_the_client_counts(way: dict[str, Any], tmp_path: Path) -> None:
    """Also where replies are larger than what a socket takes at once, and many are owed on a connection."""
    null = web(**way).null_calibration
    assert null is not None
    most = 20 if way["http"] == "2" else 1
    for size, streams, operations in ((0, 1, 100), (200_000, most, 300)):
        sized = null.model_copy(update={"server": {**null.server, "page_bytes": size}})
        server = Target(**sized.described(2, str(tmp_path / "c.pem")))
        result = asked(null, server.address, streams, operations)
        counted = server.counts()
        server.stop()
        assert sum(result.errors.values()) == 0
        assert counted["requests"] == result.operations >= operations
        assert counted["body_bytes"] == size * result.operations and counted["open"] == 0
        assert counted["connections"] == result.connections.opened


def test_results_of_the_app_protocol_are_right_though_nothing_is_done(tmp_path: Path) -> None:
    null = app().null_calibration
    assert null is not None
    server = Target(**null.described(1, str(tmp_path / "c.pem")))
    result = asked(null, server.address, operations=3_000)
    counted = server.counts()
    server.stop()
    assert sum(result.errors.values()) == 0 and counted["requests"] == result.operations + 3, "each client says hello"
    observed = result.workload or {}
    assert observed["verified"]["records"] > 1_000 and not any(
        observed["verified"][n] for n in ("damaged", "lost", "wrong_results")
    )
    assert len(result.per_operation) == 5 and all(one.operations > 300 for one in result.per_operation)


def test_asking_a_server_costs_what_asking_it_for_the_ceiling_does(tmp_path: Path) -> None:
    """By processor time of an operation, and in turn: whatever else the machine does, it does to both."""
    for null in (web().null_calibration, web(**WAYS[-1]).null_calibration, app().null_calibration):
        assert null is not None
        server = Target(**null.described(1, str(tmp_path / "c.pem")))
        ratios = []
        for _ in range(5):
            one = measured(null)
            other = asked(null, server.address)
            costs = [result.generator.cpu_s / result.operations for result in (one, other)]
            ratios.append(costs[0] / costs[1])
        server.stop()
        assert 1 / 3 < sorted(ratios)[2] < 3


def test_a_slow_server_is_far_below_the_generator_capacity() -> None:
    null = web().null_calibration
    assert null is not None
    slow = Target(delay_s=0.5)
    result, most = asked(null, slow.address, operations=12), measured(null, 5_000)
    slow.stop()
    # Three clients ask it 6 times a second at most, however busy the machine is, which has 80 s for the others.
    assert result.operations / result.window_s < 0.1 * most.operations / most.window_s


def test_the_server_is_gone_when_the_ceiling_is_known() -> None:
    null = web().null_calibration
    assert null is not None
    seen: list[str] = []

    class Watched(WebWorkload):
        def at(self, address: str, certificate: str | None = None) -> Self:
            seen.append(address)
            return super().at(address, certificate)

    watched = null.model_copy(update={"asked": Watched.model_validate(null.asked.model_dump())})
    spec = TrialSpec(workload=NullWorkload(server=watched), load=Clients(1), length_s=3600.0, max_operations=10)
    assert LocalAgent().start(spec).go().wait(PATIENCE_S) is not None
    host, _, port = seen[0].rpartition(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), PATIENCE_S)


def test_what_the_server_does_not_speak_has_no_generator_capacity() -> None:
    assert web(scheme="https", http="3").null_calibration is None
    assert app().model_copy(update={"download_bytes": 2 << 20}).null_calibration is None


def test_a_way_of_asking_is_the_same_for_pages_of_other_sizes_and_other_addresses() -> None:
    other = (
        ClassSpec(
            name="a", weight=1, expect=(), requests=(RequestSpec(method="GET", path="/", length=5, sha256=None),)
        ),
    )
    ways = [one.null_calibration for one in (web(), web(host="b", classes=other), web(http="2"), web(headers=()))]
    one, same, *others = [null.way for null in ways if null is not None]
    assert one == same and len({one, *others}) == 3
