"""What a comparison and its report say of trials that were not steady, and of those too short to judge."""

from __future__ import annotations

from dataclasses import replace

from bakeoff.compare import compare_run
from bakeoff.compare.limits.check import check_run
from bakeoff.compare.validity.audit_model import SteadyRule
from bakeoff.report.layout.detail import Detail
from bakeoff.report.narrate.collections.check import check_notes
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from tests.told import texts_of
from tests.unit.compare.synthetic import at_rates, run
from tests.unit.compare.test_every_gate_and_audit import sinking
from tests.unit.report.shown import shown


def warming(trial: TrialRecord) -> TrialRecord:
    """Six seconds at seven tenths of the rate, then 35 at all of it."""
    first = trial.per_second[1]
    seconds = (
        replace(first, second=at, operations=first.operations * (7 if at < 7 else 10) // 10) for at in range(1, 43)
    )
    return replace(trial, per_second=tuple(seconds))


def changed(record: RunRecord, name: str, how: object) -> RunRecord:
    assert callable(how)
    return replace(record, trials=tuple(how(trial) if trial.contender == name else trial for trial in record.trials))


def test_who_sinks_is_named_with_how_much_and_voids_nothing() -> None:
    record = changed(run(), "apache", sinking)
    found = compare_run(record)
    assert found.steady is not None
    steadiness = {each.contender: each for each in found.steady.contenders}
    assert (steadiness["apache"].judged, len(steadiness["apache"].unsteady), steadiness["nginx"].judged) == (18, 18, 0)
    assert all(sentence(each) == "sank by 20 % over the trial" for each in steadiness["apache"].unsteady)
    assert len(found.left_out) == 0 and found.pairs[0].primary.verdict.kind == "better"
    (note,) = [w for w in warnings_of(found) if "not steady" in w.text]
    assert note.text.startswith("apache was not steady in 18 of 18 trials: it sank by 20 % over the trial (trial ")
    assert "`--length`" in note.advice
    assert any("apache was not steady" in text for text in texts_of(found.pairs[0].primary.verdict.reasons))
    judged, _ = check_run(record, None, None, {})
    assert any("apache was not steady" in text for text in check_notes(judged))


def test_a_warm_up_has_the_ramp_that_leaves_it_out_as_advice() -> None:
    record = changed(run(), "apache", warming)
    found = compare_run(record)
    (note,) = [w for w in warnings_of(found) if "not steady" in w.text]
    assert "it settled after 6 s of the window, rose by 43 % by then" in note.text
    assert "`--ramp-up 7s`" in note.advice
    text = shown(record, width=300)
    assert "settled after 6 s" in text and "Steady state" in text
    plain = found.to_dict()["steady"]
    assert plain["contenders"][1]["unsteady"][0]["settled_s"] == 6.0 and plain["too_short"] == 18


def test_short_trials_say_that_they_are_too_short_and_rates_are_not_judged() -> None:
    record = run()
    found = compare_run(record)
    assert found.steady is not None and (found.steady.too_short, found.steady.fewest_s) == (36, 20)
    (audit,) = [audit for audit in found.audits if audit.name == "Steady state"]
    assert (audit.checked, audit.not_applicable) == (0, 36) and isinstance(audit.rule, SteadyRule)
    assert "too short to judge" in shown(record, Detail.DETAILS, width=300)
    rated = compare_run(at_rates(record))
    assert rated.steady is None and all(audit.name != "Steady state" for audit in rated.audits)
