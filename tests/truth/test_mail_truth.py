"""Known answers for mail: what the target is told to do to messages is what the ledger says, message for message."""

import json
from typing import Any

import pytest

from tests.mailtools import RUN, TIME_WAIT, places, run, serve, spec, tcp_connections


def classes(result: dict[str, Any]) -> dict[str, int]:
    """Counts of the ledger, which must balance."""
    ledger = result["workload"]["ledger"]
    assert ledger["balanced"], ledger["books"]
    counts: dict[str, int] = ledger["counts"]
    return counts


def told(entries: list[str]) -> set[str]:
    """The target's `run.c.t.n to address` as the ledger's `c.t.n in address`."""
    return {entry.removeprefix(f"{RUN}.").replace(" to ", " in ") for entry in entries}


def test_lost_doubled_damaged_and_late_messages_are_told_one_by_one() -> None:
    server = serve(
        lose={"count": 1, "of": 100},
        duplicate={"count": 1, "of": 100},
        damage={"count": 1, "of": 100},
        defer={"count": 2, "of": 100, "for_s": 0.5},
    )
    where = places(server.address())
    # A delay makes it some thousand messages, so that every id fits into the lists.
    result = run(
        spec(where["smtp"], where["pop3"], drain_limit_s=5, trial={"clients": 2, "threads": 1, "length_s": 3.0})
    )
    counts, ledger, truth = classes(result), result["workload"]["ledger"], json.loads(server.counts())
    assert counts["accepted"] == truth["accepted"] > 1000
    for ours, theirs in (("lost", "lost"), ("duplicate", "duplicated"), ("corrupt", "damaged")):
        assert counts[ours] == len(truth[theirs]) > 0
        assert set(ledger["ids"][ours]) == told(truth[theirs])
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
    result = run(spec(place["smtp"], place["pop3"], bodies="hard", sizes=sizes, recipients=[[1, 2], [3, 1]]))
    counts = classes(result)
    assert counts["accepted"] == counts["delivered"] == json.loads(server.counts())["accepted"] > 20
    assert result["errors"] == {} and result["fatal"] is None


def test_a_reply_that_never_came_leaves_the_message_in_doubt_and_not_lost() -> None:
    server = serve(drop_after_dot={"count": 1, "of": 10})
    place = places(server.address())
    result = run(spec(place["smtp"], place["pop3"]))
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
    result = run(spec(place["smtp"], place["pop3"]))
    counts, truth = classes(result), json.loads(server.counts())
    busy = result["workload"]["refusals"]["measured"]["counts"]["busy_421"]
    assert busy + counts["temporary"] + counts["permanent"] == truth["rejected"]
    assert counts["lost"] == counts["ghost"] == 0
    assert set(result["errors"]) == {"wrong_status", "refused"}


def test_ninety_nine_refused_connections_are_borne_and_the_hundredth_is_fatal() -> None:
    for refused, fatal in ((99, False), (100, True)):
        server = serve(pop3_refuse_first=refused)
        place = places(server.address())
        result = run(spec(place["smtp"], place["pop3"], trial={"clients": 1, "length_s": 1.0}))
        assert (result["fatal"] is not None) is fatal, result["fatal"]
        counts = result["workload"]["refusals"]["init"]["counts"]
        assert (
            counts.get("reset", 0) + counts.get("refused", 0) == refused
        )  # a reset may come before the connect is told
        assert json.loads(server.counts())["refused"] == refused
        if fatal:
            assert result["fatal"].startswith("client 0: could not open a POP3 session in 100 tries")
            assert result["operations"] == 0
        else:
            assert result["operations"] > 0


def test_a_port_where_nobody_listens_is_fatal_as_refused() -> None:
    place = places((server := serve()).address())
    server.stop()
    result = run(spec(place["smtp"], place["pop3"], tries=5, trial={"clients": 1, "length_s": 1.0}))
    assert "(refused)" in result["fatal"]
    assert result["workload"]["refusals"]["init"]["counts"] == {"refused": 5}


def test_mailboxes_are_emptied_before_the_trial() -> None:
    server = serve(fill={"messages": 3, "bytes": 500})
    place = places(server.address())
    result = run(spec(place["smtp"], place["pop3"], trial={"length_s": 1.0}))
    assert result["workload"]["init"] == {"mailboxes": 20, "removed": 60}
    assert classes(result)["foreign"] == 0


def test_the_time_is_shared_thirty_to_seventy() -> None:
    """Whatever a step costs: here sending is made slow by large messages."""
    place = places((server := serve(delay_s=0.001)).address())
    result = run(spec(place["smtp"], place["pop3"], trial={"clients": 4, "length_s": 4.0}))
    assert server is not None
    assert result["workload"]["share"]["sending"] == pytest.approx(0.30, abs=0.02)


def test_visible_latency_is_an_interval_around_the_truth() -> None:
    """Every message is visible 300 ms after it was accepted: later than the last miss, not later than the first hit."""
    place = places((server := serve(defer={"count": 1, "of": 1, "for_s": 0.3})).address())
    result = run(spec(place["smtp"], place["pop3"], trial={"clients": 2, "length_s": 3.0}))
    assert server is not None
    visible = result["workload"]["visible"]
    assert visible["after"]["p50_ns"] <= 301e6
    assert visible["by"]["min_ns"] >= 295e6  # the reply reaches us a little after the message was stored


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
    result = run(spec(place["smtp"], place["pop3"], recipients=[[2, 1]], trial={"cores": 2}, **changes))
    counts = classes(result)
    assert counts["accepted"] == counts["delivered"] == json.loads(server.counts())["accepted"]


def test_lmtp_and_a_server_without_unique_ids() -> None:
    place = places((server := serve(lmtp=True, uidl=False, duplicate={"count": 1, "of": 50})).address())
    result = run(spec(place["lmtp"], place["pop3"], smtp_settings={"protocol": "lmtp"}, recipients=[[2, 1]]))
    counts = classes(result)
    assert counts["duplicate"] > 0 and counts["lost"] == 0
    assert counts["accepted"] == counts["delivered"] + counts["duplicate"] == json.loads(server.counts())["accepted"]


def test_a_limit_of_sessions_shows_as_the_peak() -> None:
    place = places((server := serve(max_sessions=3, delay_s=0.002)).address())
    result = run(spec(place["smtp"], place["pop3"], initialise=False, trial={"clients": 4, "threads": 2}))
    sessions = result["workload"]["sessions"]
    assert sessions["pop3"]["peak"] == 3 and sessions["smtp"]["peak"] <= 3
    assert sessions["pop3"]["mean"] <= 3.0 and sessions["pop3_logged_in"]["peak"] <= 3
    assert json.loads(server.counts())["turned_away"] > 0
    assert result["workload"]["refusals"]["measured"]["texts"]


def test_sessions_inside_and_in_front_of_the_door_add_up_to_the_threads() -> None:
    """Readers without pause: each thread is always connecting, logging in, or inside."""
    place = places((server := serve(delay_s=0.005)).address())
    trial = {"clients": 4, "threads": 2, "length_s": 2.0}
    result = run(spec(None, place["pop3"], sending_share=0.0, trial=trial))
    assert server is not None
    door = result["workload"]["sessions"]["pop3"]
    assert door["peak"] == 8
    assert door["mean"] + door["waiting"] == pytest.approx(8, rel=0.05)


def test_connections_that_end_by_a_reset_lose_nothing_and_leave_nothing_behind() -> None:
    left = {}
    for resets in (True, False):
        server = serve()
        where = places(server.address())
        how = {"close_with_reset": resets}
        result = run(spec(where["smtp"], where["pop3"], smtp_settings=how, pop3_settings=how, trial={"length_s": 1.0}))
        counts = classes(result)
        assert counts["accepted"] == counts["delivered"] == json.loads(server.counts())["accepted"] > 20
        assert result["errors"] == {} and result["fatal"] is None
        ports = [int(address.rpartition(":")[2]) for address in (where["smtp"], where["pop3"])]
        left[resets] = sum(tcp_connections(port, TIME_WAIT) for port in ports)
    assert left[True] == 0 < left[False]
