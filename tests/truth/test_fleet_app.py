"""Application work that machines divide: what the server says of itself is one story, however many were told it."""

from collections.abc import Callable
from typing import Any

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.spec import TrialSpec
from bakeoff.run.fleet.sessions import Fleet
from tests.conftest import Target, app_workload
from tests.control import PATIENCE_S

CLIENTS = 5


def divided(server: Target, agents: int, **settings: Any) -> tuple[Any, list[Any]]:
    workload = app_workload(server.address, unix=None, source_addresses=(), working_set=1.0)
    given = {"load": {"clients": CLIENTS}, "length_s": 1.2, "seed": 3, **settings}
    spec = TrialSpec.model_validate({"workload": workload, **given})
    fleet = Fleet([LocalAgent(f"m{number}") for number in range(agents)])
    outcome = fleet.start({agent.name: spec for agent in fleet.agents}).wait(PATIENCE_S)
    assert outcome is not None and outcome.whole is not None
    return outcome.whole.result, [part.outcome.result for part in outcome.parts if part.outcome is not None]


@pytest.mark.parametrize("agents", [1, 2, 3])
def test_counts_and_checks_of_all_machines_add_up(target: Callable[..., Target], agents: int) -> None:
    server = target(kind="app", threads=2)
    result, parts = divided(server, agents, max_operations=2_000, length_s=600.0)
    figures, kinds = result.workload, server.counts()["kinds"]
    assert (result.operations, result.errors, len(parts)) == (2_000, {}, agents)
    assert figures["verified"]["records"] == kinds["read"]["requests"] > 0
    assert [figures["verified"][name] for name in ("damaged", "lost", "wrong_results")] == [0, 0, 0]
    assert figures["server"]["threads"] == 2 and figures["refusals"] == {}
    assert figures["server"]["segment_bytes"] > 0
    assert {client.client for client in result.per_client} == set(range(CLIENTS))


def test_what_the_server_used_is_known_from_the_first_sample_to_the_last(target: Callable[..., Target]) -> None:
    result, parts = divided(target(kind="app", threads=2), 2, length_s=4.0)
    looks = [look["uptime"] for part in parts for look in _looks(part.workload)]
    assert result.workload["server"]["watched_s"] == pytest.approx((max(looks) - min(looks)) / 1e9)


def _looks(part: dict[str, Any]) -> list[dict[str, int]]:
    return [{"uptime": look[0]} for look in part["used"] or ()]
