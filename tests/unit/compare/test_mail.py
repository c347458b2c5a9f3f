"""What a comparison says of ledgers and limits, for trials made for the purpose."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bakeoff.compare import compare_run
from bakeoff.compare.failures.faults import faults_of
from bakeoff.compare.kind import compare_part
from bakeoff.kinds.mail.compare.limits import limits
from bakeoff.load.load_step import Clients
from bakeoff.report.compose import compose
from bakeoff.report.layout.detail import Detail
from bakeoff.report.narrate.verdict.headline import result
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.records.trial_parts import OperationRecord
from tests.told import headline_of, kinds_of
from tests.unit.compare.synthetic import run, summary
from tests.unit.compare.told import texts_of
from tests.unit.report.shown import shown


def mail_run(clients: int = 30, errors: dict[str, int] | None = None, **workload: Any) -> RunRecord:
    """One trial of nginx with this workload; `errors` are those of the step smtp-connect."""
    record = run(load_steps=(clients,), blocks=1)
    trials = []
    for trial in record.trials:
        step = OperationRecord("smtp-connect", 100, errors or {}, 0, 0, summary(100, 1.0))
        ours = workload if trial.contender == "nginx" else {}
        trials.append(replace(trial, workload=ours, per_operation=(*trial.per_operation, step)))
    return replace(record, kind="mail", suite="mail-pop", trials=tuple(trials))


def doors(peak: int, expected: float, service: str = "smtp") -> dict[str, dict[str, Any]]:
    """The mean is as low as a machine that does other things as well makes it."""
    return {service: {"peak": peak, "mean": peak / 3, "waiting": 0.5, "at_peak": {"let_in_expected": expected}}}


def test_losses_are_the_first_lines_and_only_those_of_the_contender_that_lost() -> None:
    counts = {"accepted": 5000, "delivered": 4938, "lost": 50, "duplicate": 12, "temporary": 7}
    record = mail_run(ledger={"counts": counts, "balanced": True})
    comparison = compare_run(record)
    assert headline_of(comparison)[0] == (
        "nginx is disqualified, it did not keep its mail: of 5,000 accepted, 50 lost, 12 delivered more than once."
    )
    assert not any(line.startswith("apache is disqualified") for line in headline_of(comparison))
    assert kinds_of(comparison)[:2] == ("loss", comparison.pairs[0].primary.verdict.kind)
    assert result(comparison) == headline_of(comparison)[:2]
    report = compose(record, comparison)
    assert (report.verdict, report.severity) == ("Wrong results", "bad")


def test_what_became_of_the_mail_of_each_load_step_is_in_json_and_terminal() -> None:
    """Means of delivery times are over messages, not over trials; losses of one load step are not spread over
    others.
    """
    values = {
        ("nginx", 4, 1): ({"accepted": 90, "temporary": 9, "unknown": 1, "delivered": 90, "late": 2}, 30, 1.0),
        ("nginx", 4, 2): ({"accepted": 10, "delivered": 10}, 10, 5.0),
        ("nginx", 8, 1): ({"accepted": 50, "delivered": 40, "lost": 7, "duplicate": 2, "corrupt": 1}, 40, 0.5),
    }
    record = run(load_steps=(4, 8), blocks=2)
    trials = []
    for trial in record.trials:
        counts, came, by_s = values.get((trial.contender, trial.load_step.clients, trial.block), ({}, 0, 0.0))
        ends = {
            end: {"count": came, "mean_ns": s * 1e9, "p95_ns": 9e9} for end, s in (("by", by_s), ("after", by_s / 2))
        }
        trials.append(replace(trial, workload={"ledger": {"counts": counts}, "visible": ends}))
    record = replace(record, kind="mail", suite="mail-pop", trials=tuple(trials))
    rows = {(row["contender"], row["clients"]): row for row in compare_run(record).to_dict()["mail"]["load_steps"]}
    first, second = rows["nginx", 4], rows["nginx", 8]
    assert (first["trials"], first["sent"], first["delivered"], first["late"], first["lost"]) == (2, 110, 100, 2, 0)
    assert (first["visible_by_mean_ms"], first["visible_after_mean_ms"]) == (2_000.0, 1_000.0)
    assert [second[key] for key in ("sent", "delivered", "lost", "duplicate", "corrupt")] == [50, 40, 7, 2, 1]
    assert (rows["apache", 8]["sent"], rows["apache", 8]["visible_by_mean_ms"]) == (0, None)
    lines = shown(record, Detail.COMPARISON, width=160).splitlines()
    begin = next(at for at, line in enumerate(lines) if line.startswith("Messages at each load step"))
    table = [line.split() for line in lines[begin:] if "nginx" in line][:2]
    assert [row[-9:] for row in table] == [
        ["110", "100", "2", "0", "0", "0", "1.000", "–", "2.000"],
        ["50", "40", "0", "7", "2", "1", "0.2500", "–", "0.5000"],
    ]
    assert "--to lost-messages" in "".join(shown(record, Detail.DETAILS, width=160).splitlines())


def test_lines_of_losses_do_not_shift_the_colours_of_the_verdicts() -> None:
    record = run()
    lost = {"ledger": {"counts": {"accepted": 9, "lost": 1}, "balanced": True}}
    record = replace(record, kind="mail", trials=tuple(replace(trial, workload=lost) for trial in record.trials))
    text = shown(record, Detail.SUMMARY, width=400, colours=True)
    first, second, third, fourth = text.splitlines()[:4]
    assert first.startswith("\x1b[1;31mnginx is disqualified") and second.startswith("\x1b[1;31mapache is disqualified")
    assert third.startswith("\x1b[1;31mapache and nginx cannot win")
    assert not fourth.startswith("\x1b[")


def test_the_audit_of_the_ledger_takes_the_place_of_bytes_per_step() -> None:
    totals = {"accepted": 10, "accounted": 10, "ids_seen": 9, "classified": 9}
    for wrong, deviating in ((0, 0), (1, 1)):
        record = mail_run(ledger={"counts": {}, "totals": {**totals, "classified": 9 - wrong}})
        audits = {audit.name: audit for audit in compare_run(record).audits}
        assert "Same content" not in audits
        assert (audits["Ledger"].checked, len(audits["Ledger"].deviating)) == (1, deviating)


def test_a_ledger_without_losses_says_nothing() -> None:
    counts = {"accepted": 10, "delivered": 10, "unknown": 3, "unknown_seen": 1, "temporary": 4, "bounced": 1}
    assert faults_of(mail_run(ledger={"counts": counts, "balanced": True}), compare_part("mail").faults) == {}


@pytest.mark.parametrize(
    ("service", "peak", "end"),
    [
        ("smtp", 20, "20 (Exim's smtp_accept_max)"),
        ("smtp", 10, "10 (Maddy's concurrency)"),
        ("pop3", 20, "20"),
        ("pop3_logged_in", 10, "10 (Dovecot's mail_max_userip_connections)"),
    ],
)
def test_a_plateau_with_sessions_waiting_in_front_of_it_is_a_limit(service: str, peak: int, end: str) -> None:
    record = mail_run(sessions=doors(peak, 40.0, service))
    (text,) = texts_of(limits(record))
    assert text.startswith(f"nginx: never more than {peak} ") and text.endswith(f": that equals the limit of {end}")
    assert f"{text}." in [warning.text for warning in warnings_of(compare_run(record))]


def test_each_side_has_its_limit_and_one_of_connections_is_told_once() -> None:
    sessions = doors(20, 40.0) | doors(20, 40.0, "pop3") | doors(20, 40.0, "pop3_logged_in")
    smtp, pop3 = texts_of(limits(mail_run(sessions=sessions)))
    assert "20 SMTP sessions were" in smtp and "20 POP3 sessions were" in pop3


@pytest.mark.parametrize(
    "sessions",
    [
        doors(26, 5.0),  # so many were in by chance, and not for long
        doors(20, 0.0),  # nobody waited
        doors(30, 40.0),  # all threads are in
        doors(1, 40.0),
        {},
    ],
)
def test_a_number_that_the_load_explains_is_no_limit(sessions: dict[str, Any]) -> None:
    assert texts_of(limits(mail_run(sessions=sessions))) == []


def test_a_server_that_says_no_tells_its_limit_even_when_its_sessions_are_short() -> None:
    said = {"measured": {"counts": {"busy_421": 40}}}
    record = mail_run(errors={"refused": 40}, sessions=doors(25, 0.4), refusals=said)
    (text,) = texts_of(limits(record))
    assert text.endswith("that equals the limit of 25")
    # The same refusals, but not at this door; and refusals at this door of another kind.
    assert texts_of(limits(mail_run(sessions=doors(25, 0.4), refusals=said))) == []
    other = {"measured": {"counts": {"denied": 40}}}
    assert texts_of(limits(mail_run(errors={"refused": 40}, sessions=doors(25, 0.4), refusals=other))) == []


def test_dropped_connects_are_told_with_the_length_of_the_queue() -> None:
    record = mail_run(refusals={"measured": {"counts": {"connect_1s": 4}}})
    facts = {"nginx": {"smtp listen backlog": 5, "pop3 banner": "+OK"}}
    record = replace(record, environment={**record.environment, "content": {"contenders": facts}})
    (text,) = texts_of(limits(record))
    assert text.endswith("when the server's accept queue is full (its smtp listen backlog 5)")


def test_a_rate_that_equals_a_known_throttle_at_every_load() -> None:
    def throttled(*rates: float) -> RunRecord:
        one = mail_run(flow={"accepted_per_s": rates[0]})
        more = [replace(t, load_step=Clients(8), workload={"flow": {"accepted_per_s": rates[1]}}) for t in one.trials]
        return replace(one, trials=(*one.trials, *(t for t in more if t.contender == "nginx")))

    (text,) = texts_of(limits(throttled(19.8, 20.1)))
    assert text == (
        "nginx: 20 messages per second at several loads equal the limit (Maddy's limits of 20 messages per second)"
    )
    assert texts_of(limits(throttled(19.8, 25.0))) == []
    assert texts_of(limits(mail_run(flow={"accepted_per_s": 20.0}))) == []


def test_contenders_with_and_without_tls_are_named_before_all_else() -> None:
    """A plain server beside one that shakes hands looks faster by what it leaves out."""
    record = mail_run()
    record = replace(record, contenders=tuple(replace(each, address="127.0.0.1") for each in record.contenders))
    first = replace(record.contenders[0], address="smtps=a:465,pop3s=a:995")
    comparison = compare_run(replace(record, contenders=(first, *record.contenders[1:])))
    known = [each.text for each in warnings_of(comparison) if each.first]
    assert any("speak differently" in text and "SMTP with TLS from the first byte" in text for text in known)
    assert not any("speak differently" in each.text for each in warnings_of(compare_run(record)))
