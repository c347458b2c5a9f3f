"""A step that is most of a contender's time is named, and so is a wait for a delayed acknowledgement."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bakeoff.compare import Comparison, compare_run
from bakeoff.compare.metrics.time_breakdown import OTHER, step_times
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.records.trial_parts import OperationRecord, StepRecord, Summary
from tests.told import headline_of
from tests.unit.compare.synthetic import run

MS = 1_000_000


def times(count: int, p50: float, p95: float | None = None, p99: float | None = None) -> Summary:
    """In ms; the mean is the median."""
    ends = (p50, p95 or p50, p99 or p95 or p50)
    return Summary(count, p50 * MS, *(round(end * MS) for end in ends), None, None, None)


def mail(quit_ms: dict[str, tuple[float, ...]], kind: str = "mail") -> RunRecord:
    """24 messages of two steps; the times of QUIT by contender."""
    record = run(load_steps=(4,), blocks=8)
    trials = []
    for trial in record.trials:
        steps = {"smtp-body": times(24, 0.4), "smtp-quit": times(24, *quit_ms[trial.contender])}
        steps["pop3-quit"] = times(24, 0.2)
        operations = tuple(OperationRecord(name, t.count, {}, 0, 0, t) for name, t in steps.items())
        trials.append(replace(trial, per_operation=operations))
    return replace(record, kind=kind, suite="mail-pop" if kind == "mail" else record.suite, trials=tuple(trials))


def warnings(found: Comparison) -> list[str]:
    return [warning.text for warning in warnings_of(found) if "delayed acknowledgement" in warning.text]


def test_the_reply_to_quit_is_named_where_it_is_most_of_the_sending_time() -> None:
    found = compare_run(mail({"nginx": (0.2,), "apache": (201.0,)}))
    (observed,) = found.dominant
    assert (observed.contender, observed.of, observed.step) == ("apache", "sending time", "smtp-quit")
    assert observed.share == pytest.approx(201.0 / 201.4) and observed.others == {"nginx": pytest.approx(1 / 3)}
    (sentence,) = [text for text in headline_of(found) if "sending time" in text]
    assert sentence == "100 % of the sending time of apache is the reply to QUIT (of nginx 33 %)."


def test_a_step_that_is_most_of_everybody_s_time_is_no_difference() -> None:
    found = compare_run(mail({"nginx": (180.0,), "apache": (201.0,)}))
    assert found.dominant == () and not any("sending time" in text for text in headline_of(found))


@pytest.mark.parametrize(
    ("quit_ms", "share"),
    [
        ((201.0, 203.0), 0.5),
        ((41.0, 46.0), 0.5),
        ((0.2, 41.0, 44.0), 0.05),
        ((43.0, 160.0), None),  # slow work is nothing of that sort
        ((20.0, 30.0), None),
        ((0.2, 0.9, 44.0), None),
    ],
)
def test_a_plateau_beside_quick_steps_is_a_wait_for_a_delayed_acknowledgement(
    quit_ms: tuple[float, ...], share: float | None
) -> None:
    found = compare_run(mail({"nginx": (0.2,), "apache": quit_ms}))
    assert [one.share for one in found.delayed] == ([] if share is None else [share])
    assert [text.startswith("apache waits for a delayed") for text in warnings(found)] == [True] * len(found.delayed)


def test_a_contender_all_of_whose_steps_are_slow_waits_for_itself() -> None:
    record = mail({"nginx": (0.2,), "apache": (41.0, 44.0)})
    slow = {"smtp-body": times(24, 30.0), "pop3-quit": times(24, 12.0)}
    trials = tuple(
        replace(t, per_operation=tuple(replace(o, service=slow.get(o.name, o.service)) for o in t.per_operation))
        for t in record.trials
    )
    assert compare_run(replace(record, trials=trials)).delayed == ()


def test_steps_and_what_they_leave_are_the_whole() -> None:
    trial = run(load_steps=(4,), blocks=8).trials[0]
    steps = (StepRecord("connect", times(10, 2.0)), StepRecord("first_byte", times(100, 0.5)))
    aside = (StepRecord("close", times(10, 9.0)), StepRecord("op/first_byte", times(100, 0.5)))
    trial = replace(trial, service=times(100, 1.0), steps=(*steps, *aside))
    parts = step_times([trial, trial], ("connect", "first_byte"))
    assert parts == pytest.approx({"connect": 40.0 * MS, "first_byte": 100.0 * MS, OTHER: 60.0 * MS})
    assert step_times([replace(trial, steps=())], ("connect",)) == {}
