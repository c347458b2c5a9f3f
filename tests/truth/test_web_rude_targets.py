"""Servers that cut corners on the wire: what they do must be counted, and must not make them look fast."""

from collections.abc import Callable

import pytest

from bakeoff.agents.result import TrialResult
from bakeoff.run.outcome.judge import judge
from tests.conftest import Target, run_trial, web_workload
from tests.unit.run.fake import WEB

MakeTarget = Callable[..., Target]
# A client listens for a moment when it has its last reply; a server thread may stand still for longer than that.
TRIES = 5


@pytest.mark.parametrize("with_reset", [False, True])
def test_every_request_that_a_kept_connection_leaves_unanswered_is_asked_again_once_and_counted(
    target: MakeTarget, with_reset: bool
) -> None:
    """As RFC 9112, 9.3.1 lets clients do. The server's own count of requests without a reply, and Bakeoff's of requests
    that it asked again and of those that failed on a new connection, are the same.
    """
    server = target(unanswered_every=5, cut_with_reset=with_reset)
    result = run_trial(web_workload(server.address), clients=4, max_operations=1000)
    name = "reset_before_first_byte" if with_reset else "closed_early"
    failed, again = sum(result["errors"].values()), result["workload"]["stale_connections"]
    assert set(result["errors"]) <= {name}
    assert again + failed == server.counts()["unanswered"] >= 200
    assert result["operations"] + failed == 1000


@pytest.mark.parametrize("keep_alive", [True, False])
def test_a_close_that_is_left_to_the_client_costs_no_operation_anything(target: MakeTarget, keep_alive: bool) -> None:
    """Each wait for a close was 100 ms of an operation once: 400 operations of one client took 40 s."""
    leaves, closes = target(leave_open=True), target(keep_alive=False)
    own = run_trial(web_workload(leaves.address, keep_alive=keep_alive), max_operations=400)
    other = run_trial(web_workload(closes.address, keep_alive=keep_alive), max_operations=400)
    assert own["operations"] == other["operations"] == leaves.counts()["requests"] == 400
    assert own["errors"] == other["errors"] == {}
    assert own["connections"]["late_closes"] >= 400 - 64, "all but those that still wait at the end"
    assert other["connections"].get("late_closes", 0) < 40, "but for those for which the machine was late"
    busy_s = [sum(client["busy_s"] for client in result["per_client"]) for result in (own, other)]
    assert busy_s[0] < 0.1 * 400 / 4, f"waits for closes are in the operations: {busy_s}"


def test_a_slow_close_is_a_step_of_its_own(target: MakeTarget) -> None:
    server = target(leave_open=True)
    result = run_trial(web_workload(server.address, keep_alive=False), max_operations=3, think_s=0.4)
    steps = {step["name"]: step["summary"] for step in result["steps"]}
    assert steps["close"]["count"] == 2, "that of the last operation came after the end"
    assert steps["close"]["min_ns"] >= 99e6


def test_every_badly_chunked_reply_is_an_error(target: MakeTarget) -> None:
    """`0x400` begins with a 0: a lenient reader takes it for the end of the body. No length is known here."""
    server = target(bad_chunk_every=4)
    result = run_trial(web_workload(server.address, length=None), clients=3, max_operations=400)
    assert result["errors"] == {"protocol": 100}
    assert server.counts()["bad_chunks"] == 100


@pytest.mark.parametrize("think_s", [0.0, 0.02])
def test_one_reply_that_nobody_asked_for_is_heard_and_fails_the_trial(target: MakeTarget, think_s: float) -> None:
    heard = ("failed", "1 reply came that no request had asked for: any figure may count one as an answer")
    found = []
    for _ in range(TRIES):
        server = target(unsolicited_every=50)
        result = run_trial(web_workload(server.address), max_operations=50, think_s=think_s)
        assert server.counts()["unsolicited"] == 1
        found.append(judge(TrialResult.model_validate(result), 0.05, WEB))
        if found[-1] == heard:
            break
    assert found[-1] == heard, found


def test_servers_that_reset_what_they_have_accepted_do_not_refuse(target: MakeTarget) -> None:
    """A second connection is accepted and reset at once, sooner or later than the client hears of its connect."""
    server = target(max_connections=1)
    result = run_trial(web_workload(server.address), clients=8, max_operations=400, connect_timeout_s=60)
    assert set(result["errors"]) == {"reset_before_first_byte"}
    tls = {"scheme": "https", "tls": {"verify": False}}
    result = run_trial(web_workload(server.address, **tls), clients=8, length_s=0.5)
    assert set(result["errors"]) <= {"reset_before_first_byte", "tls"}
