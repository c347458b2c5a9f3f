"""When load threads may poll for replies instead of sleeping."""

from typing import Any

import pytest

from bakeoff.agents.base import Facts
from bakeoff.agents.local import LocalAgent
from bakeoff.kinds.web.plan import WebSettings
from bakeoff.load.load_step import Clients
from bakeoff.run.checks.capacity_limit import GeneratorCapacity
from bakeoff.run.checks.polling import common_polling, polls
from bakeoff.run.checks.specs import trial_spec
from bakeoff.run.outcome.judge import to_record
from bakeoff.store.records.run_records import PlannedTrial
from tests.unit.run.fake import WEB, plan_for, result

OWN = ("127.0.0.1", "192.0.2.7", "2001:db8:0::7", "::1", "fe80::1")
FAR = "198.51.100.7:80"  # kept free for documentation


def facts(cores: int) -> Facts:
    return Facts({}, {}, tuple(range(cores)), OWN)


@pytest.mark.parametrize(
    ("cores", "settings", "addresses", "expected"),
    [
        (4, {}, [FAR], True),
        (4, {"load_threads": 3}, [FAR], True),
        (4, {"load_threads": 4}, [FAR], False),
        (1, {}, [FAR], False),
        (1, {"pin": "0"}, [FAR], True),
        (4, {"pin": "0,1", "load_threads": 3}, [FAR], False),
        (4, {}, ["127.0.0.1:80"], False),
        (4, {}, ["[::1]:80"], False),
        (4, {}, [FAR, "127.0.0.1:80"], False),
        (4, {}, [], False),
        (4, {}, ["192.0.2.7:80"], False),
        (4, {}, ["[2001:db8::7]:80"], False),
        (4, {"pin": "0"}, ["127.0.0.1:80"], False),
        (1, {"poll": "on"}, ["127.0.0.1:80"], True),
        (4, {"poll": "off"}, [FAR], False),
    ],
)
def test_only_a_generator_with_cores_of_its_own_polls(
    cores: int, settings: dict[str, Any], addresses: list[str], expected: bool
) -> None:
    assert polls(WebSettings.model_validate(settings), addresses, facts(cores)) is expected


def test_contenders_are_measured_in_one_way() -> None:
    plan = plan_for("http://127.0.0.1:1", suite="web-url", poll="on")
    spec = trial_spec(WEB.check(plan), plan.contenders[0], ["127.0.0.1:1"], facts(2))
    found = common_polling({"a": spec, "b": spec.model_copy(update={"poll": False})})
    assert [spec.poll for spec in found.values()] == [False, False]
    assert all(spec.poll for spec in common_polling({"a": spec, "b": spec}).values())


def test_what_polling_took_is_stored() -> None:
    planned = PlannedTrial(3, "a", Clients(2), 1, 99)
    record = to_record(
        planned, "now", result(generator={"polled_s": 0.5, "busy_share": 0.2}), 0.05, GeneratorCapacity(1e6), WEB
    )
    assert record.polled_share == pytest.approx(0.25)
    assert to_record(planned, "now", result(), 0.05, GeneratorCapacity(1e6), WEB).polled_share is None


def test_an_agent_knows_the_addresses_of_its_machine() -> None:
    answer = LocalAgent().facts()
    assert "127.0.0.1" in answer.addresses and answer.processors and answer.build["version"]
