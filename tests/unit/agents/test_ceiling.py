"""The ceiling of a generator: what it asks of a server on loopback that does nothing."""

from __future__ import annotations

import socket

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.spec import NullWorkload, TrialSpec
from bakeoff.kinds.spec import OfNothing
from bakeoff.kinds.web.spec import ClassSpec, RequestSpec, WebWorkload
from bakeoff.mix import Clients

PATIENCE_S = 60.0


def web(**changes: object) -> WebWorkload:
    """Work of two classes: one page of 3,000 bytes, and as often one of 1,000 and a HEAD."""
    large = RequestSpec(method="GET", path="/a", length=3_000, sha256=None)
    small = (
        RequestSpec(method="POST", path="/b", length=1_000, sha256="0" * 64, body=0),
        RequestSpec(method="HEAD", path="/c", length=9_999, sha256=None),
    )
    told: dict[str, object] = {
        "scheme": "http", "host": "example", "addresses": ("192.0.2.1:1",), "unix": None, "http": "1.1",
        "keep_alive": True, "receive_buffer_bytes": None, "close_with_reset": False, "source_addresses": ("192.0.2.2",),
        "requests_per_connection": None, "tls": None, "check_every": 1, "headers": (("X-Any", "1"),), "bodies": ("00",),
        "classes": (
            ClassSpec(name="a", weight=1, expect=(), requests=(large,)),
            ClassSpec(name="b", weight=1, expect=(), requests=small),
        ),
    }  # fmt: skip
    return WebWorkload.model_validate({**told, **changes})


@pytest.mark.parametrize("keep_alive", [True, False])
@pytest.mark.parametrize("http", ["1.0", "1.1"])
def test_every_request_of_a_ceiling_is_asked_of_a_server_and_answered(keep_alive: bool, http: str) -> None:
    nothing = web(keep_alive=keep_alive, http=http).of_nothing
    assert nothing is not None and nothing.is_kept == keep_alive
    spec = TrialSpec(workload=NullWorkload(server=nothing), load=Clients(3), length_s=3600.0, max_operations=2_000)
    # Over the wire to another machine and back.
    spec = TrialSpec.model_validate_json(spec.to_json())
    session = LocalAgent().start(spec)
    outcome = session.go().wait(PATIENCE_S)
    assert outcome is not None
    result = outcome.result
    page_bytes = nothing.server["page_bytes"]
    assert page_bytes == 1_750, "half of 3,000 and a quarter of 1,000: a HEAD has no body"
    assert sum(result.errors.values()) == 0 and result.statuses["2xx"] == result.operations >= 2_000
    assert result.bytes_in >= result.operations * page_bytes
    opened = result.connections.opened
    assert opened == 3 if keep_alive else opened >= result.operations


def test_the_server_is_gone_when_the_ceiling_is_known() -> None:
    nothing = web().of_nothing
    assert nothing is not None
    seen: list[str] = []

    class Watched(OfNothing):
        def at(self, address: str) -> WebWorkload:
            seen.append(address)
            return super().at(address)  # type: ignore[return-value]

    watched = Watched(asked=nothing.asked, server=nothing.server, words=nothing.words)
    spec = TrialSpec(workload=NullWorkload(server=watched), load=Clients(1), length_s=3600.0, max_operations=10)
    assert LocalAgent().start(spec).go().wait(PATIENCE_S) is not None
    host, _, port = seen[0].rpartition(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), PATIENCE_S)


@pytest.mark.parametrize("changes", [{"scheme": "https"}, {"http": "2"}, {"http": "3"}])
def test_what_the_server_does_not_speak_has_no_ceiling(changes: dict[str, object]) -> None:
    assert web(**changes).of_nothing is None
