"""Mail that two or three machines divide: sent by one, read by another, and judged by the books of all together."""

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.spec import TrialSpec
from bakeoff.run.fleet.session import FleetOutcome
from bakeoff.run.fleet.sessions import Fleet
from tests.control import PATIENCE_S
from tests.mailtools import RUN, listed, places, serve, spec

Result = dict[str, Any]
# Of a trial, of its parts, and of the server.
Measured = tuple[Result, FleetOutcome, Result]


def divided(agents: int, description: dict[str, Any]) -> tuple[Result, FleetOutcome]:
    """What so many agents of this process measure together, and their parts."""
    fleet = Fleet([LocalAgent(f"m{number}") for number in range(agents)])
    workload = {
        "smtp": None, "pop3": None, "mailboxes_per_client": 5, "shared_mailboxes": False, "sending_share": 0.5,
        "recipients": ((1, 1.0),), "bodies": "plain", "sender": None, "initialise": "own", "retries": 100,
        "late_after_s": 5.0, "init_limit_s": 600.0, "linger_s": 1.0, "quiet_s": 5.0, **description["workload"],
    }  # fmt: skip
    side = {"server_name": "", "security": "none", "tls": None, "close_with_reset": False}
    smtp = {"protocol": "smtp", "auth": False, "pipelining": False, "messages_per_connection": 1}
    workload["smtp"] = {**side, **smtp, **workload["smtp"]}
    workload["pop3"] = {**side, "login": "auto", **workload["pop3"]}
    trial = TrialSpec.model_validate({**description, "workload": workload})
    session = fleet.start({agent.name: trial for agent in fleet.agents})
    outcome = session.wait(PATIENCE_S)
    assert outcome is not None and outcome.whole is not None, outcome
    result: Result = json.loads(outcome.whole.result.model_dump_json())
    assert result["fatal"] is None
    return result, outcome


def description(server: Any, **changes: Any) -> dict[str, Any]:
    where = places(server.address())
    counted = {"clients": 3, "length_s": 600.0, "ramp_up_s": 0.0, "ramp_down_s": 0.0, "max_operations": 1_200}
    # Machines do not end at the same time, and what was lost is waited for until the limit.
    changes = {"drain_limit_s": 10.0, "trial": counted, **changes}
    return spec(where["smtp"], where["pop3"], **changes)


def as_ledger(entries: list[str]) -> set[str]:
    return {entry.removeprefix(f"{RUN}.").replace(" to ", " in ") for entry in entries}


FAULTS = {
    "lose": {"count": 1, "of": 10},
    "duplicate": {"count": 1, "of": 10},
    "damage": {"count": 1, "of": 10},
    "defer": {"count": 2, "of": 10, "for_s": 0.5},
}


def counted(agents: int, **faults: Any) -> Measured:
    """Such a trial, and what the server counted."""
    server = serve(**faults)
    return *divided(agents, description(server)), json.loads(server.counts())


@pytest.fixture(scope="module")
def waiting() -> Iterator[Mapping[int | str, Future[Measured]]]:
    """Trials that wait for mail until the limit: all at the same time."""
    with ThreadPoolExecutor(5) as threads:
        by_agents = {agents: threads.submit(counted, agents, **FAULTS) for agents in (1, 2, 3)}
        half = threads.submit(counted, 2, lose={"count": 1, "of": 2})
        yield {**by_agents, "half": half, "none": threads.submit(counted, 2)}


@pytest.mark.parametrize("agents", [1, 2, 3])
def test_what_the_server_did_to_messages_is_told_one_by_one_by_however_many(
    waiting: Mapping[int | str, Future[Measured]], agents: int
) -> None:
    result, outcome, truth = waiting[agents].result()
    ledger = result["workload"]["ledger"]
    counts = ledger["counts"]
    assert ledger["balanced"], ledger["totals"]
    assert counts["accepted"] == truth["accepted"] > 30
    for ours, theirs in (("lost", "lost"), ("duplicate", "duplicated"), ("corrupt", "damaged")):
        assert counts[ours] == len(truth[theirs]) > 0
        assert listed(ledger, ours) == as_ledger(truth[theirs])
    assert counts["delivered"] == counts["accepted"] - counts["lost"] - counts["duplicate"] - counts["corrupt"]
    assert [counts[name] for name in ("ghost", "misdelivered", "foreign", "resurrected", "unchecked")] == [0] * 5
    flow = result["workload"]["flow"]
    assert sum(second["accepted"] for second in flow["per_second"]) == counts["accepted"]
    assert result["workload"]["init"]["mailboxes"] == 15
    assert {client["client"] for client in result["per_client"]} == {0, 1, 2}
    assert len(outcome.parts) == agents


def test_one_half_lost_is_lost_whoever_reads(waiting: Mapping[int | str, Future[Measured]]) -> None:
    result, _, truth = waiting["half"].result()
    counts = result["workload"]["ledger"]["counts"]
    assert counts["lost"] == len(truth["lost"]) and counts["delivered"] == counts["accepted"] - counts["lost"] > 10


def test_a_machine_waits_for_mail_of_others_that_comes_late() -> None:
    """Each message is put off for longer than its machine would need for its own: none is lost, and some are seen to be
    late.
    """
    server = serve(defer={"count": 1, "of": 1, "for_s": 1.2}, delay_s=0.002)
    changes = {"drain_limit_s": 30.0, "late_after_s": 0.5}
    result, _ = divided(2, description(server, trial={"clients": 2, "length_s": 3.0}, **changes))
    counts = result["workload"]["ledger"]["counts"]
    assert counts["lost"] == counts["unchecked"] == 0 and counts["delivered"] == counts["accepted"] > 0
    assert counts["late"] > 0


def test_a_part_alone_tells_books_and_no_verdict(waiting: Mapping[int | str, Future[Measured]]) -> None:
    result, outcome, truth = waiting["none"].result()
    parts = [part.outcome.result.workload for part in outcome.parts if part.outcome is not None]
    assert all(set(part or {}) == {"run", "sums", "window_ns", "entries"} for part in parts)
    accepted = result["workload"]["ledger"]["counts"]["accepted"]
    assert accepted and sum(len((part or {})["entries"]) for part in parts) < accepted * 160 + 2_000
    assert truth["accepted"] == accepted
