"""Known answers, on sockets: what a mail trial tells of a server that shows mail late or refuses some of it."""

import base64

import pytest

from bakeoff.agents.engine import load_engine
from tests.mailtools import places, run, serve, spec

DEFERRED_S = 1.5


def test_every_message_that_is_shown_later_is_told_as_not_there_until_then() -> None:
    """Never longer than it was held back; and who looked in vain in the window knows that it was still inside."""
    server = serve(defer={"count": 1, "of": 1, "for_s": DEFERRED_S})
    at = places(server.address())
    output = run(spec(at["smtp"], at["pop3"], sending_share=0.3))["workload"]
    after, accepted = output["visible"]["after"], output["ledger"]["counts"]["accepted"]
    assert after["count"] == accepted > 0 and after["max_ns"] > 0
    late = base64.b64decode(output["visible"]["after_histogram"])
    assert load_engine().counts_within(late, [2**62])[0] == accepted
    assert load_engine().quantiles(late, [0.5])[0] == after["p50_ns"]
    inside = output["flow"]["in_delivery"]
    assert 0 <= inside["at_start"] <= inside["peak"] and 0 < inside["at_end"] <= inside["peak"]


@pytest.mark.parametrize("recipients", [1, 2])
def test_refused_recipients_are_counted_as_messages_and_whole_messages_are_timed(recipients: int) -> None:
    """The server counts what it refuses; 1 of 5."""
    server = serve(reject=[{"command": "RCPT", "code": 550, "count": 1, "of": 5}])
    at = places(server.address())
    trial = {"max_operations": 4_000, "ramp_up_s": 0.0, "ramp_down_s": 0.0}
    output = run(spec(at["smtp"], at["pop3"], recipients=[[recipients, 1.0]], trial=trial))["workload"]
    messages, visits = output["done"]["messages"], output["done"]["visits"]
    counts = output["ledger"]["counts"]
    # Those that the end of the trial cut off are in the books, and ended in no way.
    assert counts["permanent"] - 4 * recipients <= messages["failed"] <= counts["permanent"]
    assert messages["failed"] / messages["tried"] == pytest.approx(0.2, abs=0.03)
    for part in ("failing_mailboxes", "failing_clients"):
        assert sum(each["failed"] for each in messages[part].values()) == messages["failed"], part
    assert len(messages["failing_clients"]) == 4 and visits["failing_mailboxes"] == {}
    taken = counts["accepted"] / recipients
    assert messages["time"]["count"] <= counts["accepted"] and messages["time"]["count"] >= taken - 4
    assert visits["failed"] == 0 and 0 < visits["time"]["count"] == visits["tried"]
    # A message is all of its steps, one after the other.
    steps = {row["name"]: row["service"] for row in reported_steps(server, recipients)}
    assert steps["smtp-body"]["p50_ns"] < messages["time"]["max_ns"]


def reported_steps(server: object, recipients: int) -> list[dict[str, dict[str, int]]]:
    """The steps of one more trial."""
    at = places(server.address())  # type: ignore[attr-defined]
    result = run(spec(at["smtp"], at["pop3"], recipients=[[recipients, 1.0]], trial={"max_operations": 500}))
    rows: list[dict[str, dict[str, int]]] = result["per_operation"]
    return rows
