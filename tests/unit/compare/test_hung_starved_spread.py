"""Operations that never end, a generator without a processor, blocks that disagree: each is named, and weighs."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from bakeoff.compare import Comparison, compare_run
from bakeoff.report.narrate.verdict.gates import gate_text
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.report.narrate.wording import rate
from bakeoff.store.records.run_records import RunRecord
from tests.told import headline_of, texts_of
from tests.unit.compare.synthetic import FAST, change, run


def kind(comparison: Comparison) -> str:
    return comparison.pairs[0].primary.verdict.kind


def test_one_unfinished_operation_of_the_leader_withholds_the_verdict() -> None:
    found = compare_run(change(run(), "nginx", 8, (2,), errors={"unfinished": 1}))
    assert kind(found) == "withheld"
    assert headline_of(found)[0].startswith(
        "Verdict withheld: 1 operation of nginx never ended, in 1 of 18 trials. apache "
    )
    errors = next(line for line in headline_of(found) if line.startswith("Errors: "))
    assert "nginx 1 (< 0.001 %)" in errors and ", 1 of them never ended; apache none" in errors
    assert any(
        "1 operation of nginx never ended" in w.text and "--reply-timeout" in w.advice for w in warnings_of(found)
    )
    verdicts = [point.verdict.kind for point in found.pairs[0].curves[0].points]
    assert verdicts[2] == "withheld" and "withheld" not in verdicts[:2], "only at the load step where it happened"


def test_unfinished_operations_of_the_loser_are_noted() -> None:
    found = compare_run(change(run(), "apache", 8, (2, 3), errors={"unfinished": 2}))
    assert kind(found) == "better"
    assert texts_of(found.pairs[0].primary.verdict.reasons) == (
        "4 operations of apache never ended, in 2 of 18 trials",
    )


def test_equal_contenders_are_not_called_so_when_one_swallows_requests() -> None:
    twins = run((FAST, replace(FAST, name="twin")), blocks=8)
    assert kind(compare_run(twins)) == "equivalent"
    assert kind(compare_run(change(twins, "twin", 1, (1,), errors={"unfinished": 1}))) == "withheld"


def test_stuck_operations_without_a_count_weigh_the_same() -> None:
    found = compare_run(change(run(), "nginx", 8, (2,), marks=("stuck-operations",)))
    assert kind(found) == "withheld"
    assert "nginx left operations hanging at the end of 1 of 18 trials" in headline_of(found)[0]
    assert "operations left hanging in 1 trial" in headline_of(found)[-1]
    assert kind(compare_run(change(run(), "apache", 8, (2,), marks=("stuck-operations",)))) == "better"


def test_a_failed_trial_tells_too_and_a_voided_one_does_not() -> None:
    hanging = {"unfinished": 9}
    failed = change(run(blocks=8), "nginx", 8, (2,), state="failed", reason="errors", errors=hanging)
    assert "9 operations of nginx never ended" in headline_of(compare_run(failed))[0]
    voided = change(run(blocks=8), "nginx", 8, (2,), state="voided", reason="ports", errors=hanging)
    assert kind(compare_run(voided)) == "better"


def starved(name: str) -> RunRecord:
    record = change(run(), name, 4, (1, 2), marks=("generator-waited",), generator_run_delay_share=0.07)
    return change(record, name, 4, (3,), marks=("generator-waited",), generator_run_delay_share=0.12)


@pytest.mark.parametrize("name", ["nginx", "apache"])
def test_a_starved_generator_qualifies_the_verdict_and_names_the_cure(name: str) -> None:
    found = compare_run(starved(name))
    text = f"the load generator waited up to 12 % of its time for a processor in 3 of 18 trials of {name}"
    assert kind(found) == "better" and "at least" not in headline_of(found)[0]
    assert [(gate.level, gate_text(gate)) for gate in found.pairs[0].primary.gates] == [("amber", text)]
    advice = [w.advice for w in warnings_of(found) if w.text.lower().startswith(text.lower()[:40])]
    assert len(advice) == 1 and "--pin" in advice[0] and "taskset" in advice[0]


def test_nobody_who_gave_pin_is_told_to_give_it() -> None:
    record = starved("nginx")
    settings = {**record.plan.get("settings", {}), "pin": [1]}
    found = compare_run(replace(record, plan={**record.plan, "settings": settings}))
    said = [f"{each.text} {each.advice}" for each in warnings_of(found)]
    assert any("Other processes ran on the cores of its threads" in text for text in said)
    assert not any("--pin" in text for text in (*said, *headline_of(found)))


def test_notes_that_are_alike_are_one_with_what_each_contender_has_to_it() -> None:
    both = change(starved("nginx"), "apache", 8, (1,), marks=("generator-waited",), generator_run_delay_share=0.3)
    halved = tuple(replace(t, operations_per_s=t.operations_per_s / (3 if t.block == 2 else 1)) for t in both.trials)
    texts = [w.text for w in warnings_of(compare_run(replace(both, trials=halved)))]
    (waited,) = [text for text in texts if "for a processor" in text]
    assert "12 % of its time for a processor in 3 of 18 trials of nginx" in waited
    assert "30 % in 1 of 18 trials of apache" in waited
    (differ,) = [text for text in texts if "between blocks" in text]
    assert re.match(r"Figures of nginx at .* vary from .* between blocks.*; those of apache at .* from ", differ)
    assert "servers have" in differ


def test_blocks_that_differ_by_more_than_twice_are_named() -> None:
    record = run(blocks=8, window_s=8.0)
    two_speeds = tuple(
        replace(t, operations_per_s=t.operations_per_s / 2.5) if t.block in (2, 5) and t.contender == "apache" else t
        for t in record.trials
    )
    found = compare_run(replace(record, trials=two_speeds))
    text = next(w.text for w in warnings_of(found) if "between blocks" in w.text)
    said = re.match(
        r"Figures of apache at (\d+) clients? vary from ([\d,]+) to ([\d,]+) requests/s between blocks", text
    )
    assert said is not None and "and at 2 more load steps likewise" in text
    rates = [t.operations_per_s for t in two_speeds if t.contender == "apache" and t.load_step.clients == int(said[1])]
    assert (said[2], said[3]) == (f"{min(rates):,.0f}", f"{max(rates):,.0f}")
    gates = [gate for gate in found.pairs[0].primary.gates if gate.name == "blocks"]
    assert [gate.level for gate in gates] == ["amber"]
    assert not any("between blocks" in w.text for w in warnings_of(compare_run(record)))


def test_slow_peaks_keep_their_figures() -> None:
    slow = run(blocks=2)
    slow = replace(slow, trials=tuple(replace(t, operations_per_s=4.5) for t in slow.trials))
    assert "Peak: nginx 4.500 requests/s" in " ".join(headline_of(compare_run(slow)))
    assert [rate(value) for value in (0.0, 4.5, 40.0, 99.94)] == ["0", "4.500", "40", "99.94"]
    assert [rate(value) for value in (100.4, 12345.6)] == ["100", "12,346"]
