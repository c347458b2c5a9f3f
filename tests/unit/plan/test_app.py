from typing import Any

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.kinds.app.plan import parse_app_address
from bakeoff.kinds.app.plan import workload as workload_of
from bakeoff.kinds.app.spec import AppWorkload
from bakeoff.plan.load import resolve_plan
from bakeoff.plan.model import Plan
from tests.unit.plan.test_load import flags


def plan(**settings: Any) -> Plan:
    return resolve_plan(flags("app", "a=127.0.0.1:8090", "b=unix:/run/app.sock", **settings))


def workload(**settings: Any) -> AppWorkload:
    resolved = plan(**settings)
    return workload_of(resolved, resolved.contenders[0], ["127.0.0.1:8090"])


def test_the_published_load_steps_and_equal_shares() -> None:
    full = resolve_plan(flags("app", "a=h:1", plan={"size": "full"}))
    assert full.settings.clients == (1, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60)
    assert (full.settings.think_s, full.settings.delay_s) == (0, 0)
    assert {c.name: c.weight for c in full.classes} == dict.fromkeys(
        ("upload", "download", "processor", "read", "write"), 20
    )
    assert any("equal" in text for text in full.assumed), "assumed values are named"


@pytest.mark.parametrize("size", ["quick", "long", "full"])
def test_at_rates_no_more_segments_are_asked_for_than_by_the_published_clients(size: str) -> None:
    made = resolve_plan(flags("app", "a=h:1", plan={"size": size}, rate="500"))
    assert made.settings.clients_by_step == (60,)
    more = resolve_plan(flags("app", "a=h:1", plan={"size": size}, rate="500", most_connections="400"))
    assert more.settings.clients_by_step == (400,)


def test_settings_reach_the_workload_in_bytes() -> None:
    spec = workload(upload="1MiB", record="8KiB", weights="read=3,processor=0", working_set="25%")
    assert (spec.upload_bytes, spec.record_bytes, spec.working_set) == (1 << 20, 8192, 0.25)
    shares = {c.name: c.weight for c in spec.classes}
    assert shares["read"] == pytest.approx(100 * 3 / 63) and "processor" not in shares
    resolved = plan()
    assert workload_of(resolved, resolved.contenders[1], []).unix == "/run/app.sock"


def test_a_resolved_plan_reads_back_as_itself() -> None:
    resolved = plan(record="8KiB", think="5ms", think_distribution="exponential")
    assert Plan.from_dict(resolved.to_dict()) == resolved


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"virtual_users": "2"}, "one request outstanding"),
        ({"record": "1000"}, "multiple of 512"),
        ({"weights": "gossip=1"}, "gossip"),
        ({"weights": "upload=0,download=0,processor=0,read=0,write=0"}, "not all of them 0"),
        ({"upload": "1GiB"}, "upload"),
        ({"working_set": "0"}, "working"),
        ({"keep_alive": False}, "belongs to suites of kind web"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(PlanError, match=words):
        plan(**settings)


def test_addresses() -> None:
    assert parse_app_address("app://10.0.0.1:8090").place == "10.0.0.1:8090"
    assert parse_app_address("[::1]:8090").place == "[::1]:8090"
    assert parse_app_address("server.example:8090").host == "server.example"
    assert parse_app_address("unix:/run/x").unix == "/run/x"
    wrong = ("8090", "host", "host:0", "host:65536", "::1:8090", "http://h:80", "h:80/x", "unix:x", ":80", "h:８０")
    for text in wrong:
        with pytest.raises(PlanError):
            parse_app_address(text)
