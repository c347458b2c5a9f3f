"""Known answers for mail: what the target is told to do to messages is what the ledger says, message for message."""

import json
import subprocess
import sys
from typing import Any

import pytest

from bakeoff.kinds.mail.plan import MailSettings
from tests.control import PATIENCE_S
from tests.mailtools import RUN, TIME_WAIT, listed, places, run, serve, spec, tcp_connections
from tests.ports import free_port


def classes(result: dict[str, Any]) -> dict[str, int]:
    """Counts of the ledger, which must balance."""
    ledger = result["workload"]["ledger"]
    assert ledger["balanced"], ledger["totals"]
    counts: dict[str, int] = ledger["counts"]
    return counts


def as_ledger(entries: list[str]) -> set[str]:
    """The target's `run.c.t.n to address` as the ledger's `c.t.n in address`."""
    return {entry.removeprefix(f"{RUN}.").replace(" to ", " in ") for entry in entries}


def test_lost_doubled_damaged_and_late_messages_are_told_one_by_one() -> None:
    server = serve(
        lose={"count": 1, "of": 25},
        duplicate={"count": 1, "of": 25},
        damage={"count": 1, "of": 25},
        defer={"count": 2, "of": 25, "for_s": 0.5},
    )
    where = places(server.address())
    # Some hundred messages, so that every id fits into the lists.
    trial = {"clients": 2, "virtual_users": 1, "max_operations": 6_000}
    result = run(spec(where["smtp"], where["pop3"], drain_limit_s=8, trial=trial))
    counts, ledger, truth = classes(result), result["workload"]["ledger"], json.loads(server.counts())
    assert counts["accepted"] == truth["accepted"] > 50
    for ours, theirs in (("lost", "lost"), ("duplicate", "duplicated"), ("corrupt", "damaged")):
        assert counts[ours] == len(truth[theirs]) > 0
        assert listed(ledger, ours) == as_ledger(truth[theirs])
    assert len(truth["deferred"]) > 0
    arrived = counts["accepted"] - counts["lost"] - counts["duplicate"] - counts["corrupt"]
    assert counts["delivered"] == arrived
    assert [counts[name] for name in ("ghost", "misdelivered", "foreign", "resurrected", "unknown")] == [0] * 5
    assert 1 <= len(ledger["corrupt_samples"]) <= 20


@pytest.mark.parametrize("where", ["memory", "maildir"])
def test_difficult_bodies_survive(where: str, tmp_path: Any) -> None:
    """Dots at line starts, lines of 998 bytes, trailing blanks, empty lines, and several recipients."""
    server = serve(maildir=str(tmp_path / "mail") if where == "maildir" else None)
    place = places(server.address())
    sizes = [[700, 5], [20_000, 3], [300_000, 1]]
    hard = {"bodies": "hard", "sizes": sizes, "recipients": [[1, 2], [3, 1]]}
    result = run(spec(place["smtp"], place["pop3"], trial={"max_operations": 2_000}, **hard))
    counts = classes(result)
    assert counts["accepted"] == counts["delivered"] == json.loads(server.counts())["accepted"] > 20
    assert result["errors"] == {} and result["fatal"] is None


def test_a_reply_that_never_came_leaves_the_message_in_doubt_and_not_lost() -> None:
    server = serve(drop_after_dot={"count": 1, "of": 10})
    place = places(server.address())
    result = run(spec(place["smtp"], place["pop3"], trial={"max_operations": 2_000}))
    counts = classes(result)
    assert counts["unknown"] == json.loads(server.counts())["dropped"] > 0
    assert counts["lost"] == counts["unknown_seen"] == 0


def test_refusing_replies_are_outcomes() -> None:
    reject = [
        {"command": "RCPT", "code": 450, "count": 1, "of": 7},
        {"command": "DOT", "code": 554, "count": 1, "of": 9},
        {"command": "CONNECT", "code": 421, "count": 1, "of": 11},
    ]
    place = places((server := serve(reject=reject)).address())
    result = run(spec(place["smtp"], place["pop3"], trial={"max_operations": 3_000}))
    counts, truth = classes(result), json.loads(server.counts())
    busy = result["workload"]["refusals"]["measured"]["counts"]["busy_421"]
    assert busy + counts["temporary"] + counts["permanent"] == truth["rejected"]
    assert counts["lost"] == counts["ghost"] == 0
    assert set(result["errors"]) == {"put_off", "wrong_status", "refused"}


def test_as_many_refused_connections_as_allowed_are_borne_and_the_next_is_fatal() -> None:
    """As published there may be a hundred; here twenty."""
    assert MailSettings.model_fields["retries"].default == 100
    for refused, fatal in ((20, False), (21, True)):
        server = serve(pop3_refuse_first=refused)
        place = places(server.address())
        result = run(spec(place["smtp"], place["pop3"], retries=20, trial={"clients": 1, "max_operations": 100}))
        assert (result["fatal"] is not None) is fatal, result["fatal"]
        counts = result["workload"]["refusals"]["init"]["counts"]
        assert (
            counts.get("reset", 0) + counts.get("refused", 0) == refused
        )  # a reset may come before the connect is told
        assert json.loads(server.counts())["refused"] == refused
        if fatal:
            assert result["fatal"].startswith("client 0: could not open a POP3 session in 21 tries")
            assert result["operations"] == 0
        else:
            assert result["operations"] > 0


def test_a_port_where_nobody_listens_is_fatal_as_refused() -> None:
    smtp, pop3 = (f"127.0.0.1:{free_port()}" for _ in range(2))
    result = run(spec(smtp, pop3, retries=4, trial={"clients": 1, "length_s": 1.0}))
    assert "(refused)" in result["fatal"]
    assert result["workload"]["refusals"]["init"]["counts"] == {"refused": 5}


def test_mail_that_is_not_ours_is_left_alone_unless_all_is_to_go() -> None:
    held = {}
    for initialise, removed in (("own", 0), ("all", 60)):
        server = serve(fill={"messages": 3, "bytes": 500})
        place = places(server.address())
        result = run(spec(place["smtp"], place["pop3"], initialise=initialise, trial={"max_operations": 1_000}))
        init = result["workload"]["init"]
        assert (init["mailboxes"], init["removed"]) == (20, removed)
        held[initialise] = init["foreign"]
        counts = classes(result)
        assert counts["accepted"] == counts["delivered"] > 0
        # Seen in each mailbox that a thread has read, three times at most, and never deleted.
        assert counts["foreign"] == (
            0 if initialise == "all" else sum(result["workload"]["ledger"]["foreign"].values())
        )
        assert json.loads(server.counts())["deleted"] == counts["accepted"] + removed
    assert len(held["own"]) == 20 and set(held["own"].values()) == {3}
    assert held["all"] == {}


def test_a_look_counts_and_touches_nothing() -> None:
    server = serve(fill={"messages": 2, "bytes": 500})
    place = places(server.address())
    result = run(
        spec(None, place["pop3"], initialise="look", trial={"length_s": 0.1, "ramp_up_s": 0, "ramp_down_s": 0})
    )
    assert sum(result["workload"]["init"]["foreign"].values()) == 40
    truth = json.loads(server.counts())
    assert (truth["deleted"], truth["retrieved"]) == (0, 0) and result["operations"] == 0


def test_a_drain_that_cannot_look_finds_nothing_lost() -> None:
    """POP3 dies in mid-trial; every message is still in the server."""
    place = places((server := serve(pop3_ends_after=20)).address())
    result = run(spec(place["smtp"], place["pop3"], drain_limit_s=1.0, trial={"max_operations": 2_000}))
    counts, ledger = classes(result), result["workload"]["ledger"]
    assert counts["lost"] == 0 < counts["unchecked"] <= counts["accepted"] == json.loads(server.counts())["accepted"]
    assert counts["unchecked"] + counts["delivered"] == counts["accepted"]
    assert sum(ledger["unchecked_mailboxes"].values()) > 0 and ledger["ids"]["unchecked"]


def test_a_misdelivered_message_is_lost_here_and_found_there() -> None:
    place = places((server := serve(misdeliver={"count": 1, "of": 40})).address())
    result = run(spec(place["smtp"], place["pop3"], drain_limit_s=5.0, trial={"max_operations": 3_000}))
    counts, truth = classes(result), json.loads(server.counts())
    assert counts["misdelivered"] == counts["lost"] == len(truth["misdelivered"]) > 0


def test_what_is_read_after_the_window_was_not_delivered_in_it() -> None:
    """The same server once shows its mail at once and once when the window is over."""
    found = {}
    for for_s in (0.0, 6.0):
        server = serve(defer={"count": 1, "of": 1, "for_s": for_s}, delay_s=0.001)
        place = places(server.address())
        result = run(spec(place["smtp"], place["pop3"], trial={"clients": 2, "length_s": 4.0}))
        flow, counts = result["workload"]["flow"], classes(result)
        assert counts["delivered"] == counts["accepted"] >= flow["accepted"] == flow["delivered_at_last"] > 10
        assert flow["delivered_per_s"] == pytest.approx(flow["delivered"] / result["window_s"])
        found[for_s] = flow
    assert found[6.0]["delivered"] == 0 == found[6.0]["read"]
    assert found[6.0]["in_delivery"]["peak"] > 10
    at_once = found[0.0]
    assert 0 < at_once["delivered"] <= min(at_once["accepted"], at_once["read"])
    assert at_once["delivered"] >= at_once["accepted"] - at_once["backlog"]["messages"] - 1


def test_late_messages_are_told_by_their_ids() -> None:
    server = serve(defer={"count": 1, "of": 20, "for_s": 4.0})
    place = places(server.address())
    trial = {"clients": 2, "max_operations": 3_000}
    result = run(spec(place["smtp"], place["pop3"], late_after_s=0.5, trial=trial))
    counts, truth = classes(result), json.loads(server.counts())
    late = {f"{each['id']} in {each['mailbox']}" for each in result["workload"]["ledger"]["ids"]["late"]}
    assert late and late <= as_ledger(truth["deferred"]), "what the server shows at once is never late"
    assert counts["late"] >= len(late)


def test_body_and_final_reply_are_told_apart() -> None:
    place = places((server := serve(delay_s=0.02)).address())
    result = run(spec(place["smtp"], None, trial={"clients": 1, "max_operations": 150}))
    assert server is not None
    steps = {step["name"]: step["summary"] for step in result["steps"]}
    body = next(entry for entry in result["per_operation"] if entry["name"] == "smtp-body")
    assert steps["smtp-body/first_byte"]["p50_ns"] >= 20e6, "the server holds its reply back"
    assert steps["smtp-body/written"]["min_ns"] < 20e6, "but not our writing"
    assert steps["smtp-body/written"]["count"] == body["operations"]


def test_visible_latency_is_an_interval_around_the_truth() -> None:
    """Every message is visible 300 ms after it was accepted: later than the last miss, not later than the first hit."""
    place = places((server := serve(defer={"count": 1, "of": 1, "for_s": 0.3})).address())
    # Without ramps the steps that are timed are those of all messages: one outside of a window may take longer.
    whole = {"clients": 2, "length_s": 3.0, "ramp_up_s": 0.0, "ramp_down_s": 0.0}
    result = run(spec(place["smtp"], place["pop3"], trial=whole))
    assert server is not None
    visible = result["workload"]["visible"]
    assert visible["after"]["p50_ns"] <= 301e6
    # The reply reaches us a little after the message was stored: within its step.
    body = next(entry["service"] for entry in result["per_operation"] if entry["name"] == "smtp-body")
    assert visible["by"]["min_ns"] >= 299e6 - body["max_ns"]


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_tls_end_to_end(security: str) -> None:
    server = serve(tls={}, implicit_tls=security == "tls")
    place = places(server.address())
    secure = {"security": security, "tls": {"verify": False}}
    result = run(
        spec(
            place["smtp"],
            place["pop3"],
            smtp_settings={**secure, "auth": True},
            pop3_settings=secure,
            sizes=[[900, 1], [200_000, 1]],
            trial={"max_operations": 1_000},
        )
    )
    counts = classes(result)
    assert result["fatal"] is None and result["errors"] == {}
    assert counts["accepted"] == counts["delivered"] > 10
    assert result["connections"]["tls_full"] + result["connections"]["tls_resumed"] > 10
    operations = {entry["name"]: entry["operations"] for entry in result["per_operation"]}
    assert (operations["smtp-starttls"] > 0) is (security == "starttls")
    assert operations["smtp-auth"] > 0


@pytest.mark.parametrize(
    "changes", [{"smtp_settings": {"pipelining": True}}, {"smtp_settings": {"messages_per_connection": 10}}]
)
def test_fewer_round_trips_change_nothing_in_the_books(changes: dict[str, Any]) -> None:
    place = places((server := serve()).address())
    result = run(
        spec(
            place["smtp"],
            place["pop3"],
            recipients=[[2, 1]],
            trial={"load_threads": 2, "max_operations": 2_000},
            **changes,
        )
    )
    counts = classes(result)
    assert counts["accepted"] == counts["delivered"] == json.loads(server.counts())["accepted"]


def test_lmtp_and_a_server_without_unique_ids() -> None:
    trial = {"max_operations": 3_000}
    place = places((server := serve(lmtp=True, uidl=False, duplicate={"count": 1, "of": 50})).address())
    result = run(
        spec(place["lmtp"], place["pop3"], smtp_settings={"protocol": "lmtp"}, recipients=[[2, 1]], trial=trial)
    )
    counts = classes(result)
    assert counts["duplicate"] > 0 and counts["lost"] == 0
    assert counts["accepted"] == counts["delivered"] + counts["duplicate"] == json.loads(server.counts())["accepted"]


def test_a_limit_of_sessions_shows_as_the_peak() -> None:
    place = places((server := serve(max_sessions=3, delay_s=0.002)).address())
    trial = {"clients": 4, "virtual_users": 2, "max_operations": 3_000}
    result = run(spec(place["smtp"], place["pop3"], initialise="nothing", trial=trial))
    sessions = result["workload"]["sessions"]
    assert sessions["pop3"]["peak"] == 3 and sessions["smtp"]["peak"] <= 3
    assert sessions["pop3"]["mean"] <= 3.0 and sessions["pop3_logged_in"]["peak"] <= 3
    assert json.loads(server.counts())["connections_refused"] > 0
    assert result["workload"]["refusals"]["measured"]["texts"]


def test_sessions_inside_and_in_front_of_the_door_add_up_to_the_threads() -> None:
    """Readers without pause: each thread is always connecting, logging in, or inside."""
    place = places((server := serve(delay_s=0.005)).address())
    trial = {"clients": 4, "virtual_users": 2, "length_s": 2.0}
    result = run(spec(None, place["pop3"], sending_share=0.0, trial=trial))
    assert server is not None
    door = result["workload"]["sessions"]["pop3"]
    assert door["peak"] == 8
    assert door["mean"] + door["waiting"] == pytest.approx(8, rel=0.05)


def left_behind(resets: bool) -> int:
    """How many connections a trial leaves in TIME_WAIT; its books are in order."""
    server = serve()
    where = places(server.address())
    how = {"close_with_reset": resets}
    trial = {"max_operations": 2_000}
    result = run(spec(where["smtp"], where["pop3"], smtp_settings=how, pop3_settings=how, trial=trial))
    counts = classes(result)
    assert counts["accepted"] == counts["delivered"] == json.loads(server.counts())["accepted"] > 20
    assert result["errors"] == {} and result["fatal"] is None
    ports = [int(address.rpartition(":")[2]) for address in (where["smtp"], where["pop3"])]
    return sum(tcp_connections(port, TIME_WAIT) for port in ports)


# Other tests leave connections by the ten thousand: they are in another namespace.
WITH_AND_WITHOUT_RESETS = """
import subprocess
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
from tests.truth.test_mail_truth import left_behind
print(left_behind(True), left_behind(False))
"""


def test_connections_that_end_by_a_reset_lose_nothing_and_leave_nothing_behind() -> None:
    command = ["unshare", "--net", "--map-root-user", sys.executable, "-c", WITH_AND_WITHOUT_RESETS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    by_reset, orderly = map(int, done.stdout.split())
    assert by_reset == 0 < orderly
