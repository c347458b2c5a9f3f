"""What qualifies verdicts is said once of all contenders it is so of, the worst of them first; none is hidden."""

from __future__ import annotations

from dataclasses import replace

from bakeoff.compare import compare_run
from bakeoff.compare.model.gate import FailedTrials, Waits
from bakeoff.compare.model.pair import Gate
from bakeoff.report.blocks.tree import Table, Text
from bakeoff.report.compose import compose
from bakeoff.report.narrate.verdict.gates import also, gate_text
from bakeoff.report.narrate.verdict.qualifications import MOST, noted
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.store.records.run_records import RunRecord
from tests.unit.compare.synthetic import Server, change, run

NAMES = ("a", "b", "c", "d", "e", "f", "g", "h")


def waited(name: str, share: float) -> Gate:
    return Gate("generator waited", "amber", name, Waits(3, 9, share), share)


def all_waited() -> RunRecord:
    """Eight contenders; the load generator waited for each, longest for the last."""
    record = run(tuple(Server(name, 40_000.0 / (1 + 0.4 * i), 0.1) for i, name in enumerate(NAMES)), load_steps=(1, 4))
    for place, name in enumerate(NAMES, 1):
        marked = {"marks": ("generator-waited",), "generator_run_delay_share": 0.06 + place / 100}
        record = change(record, name, 4, (1,), **marked)
    return record


def test_what_is_alike_is_one_clause_with_the_worst_first() -> None:
    observed = Gate("failed trials", "amber", "a", FailedTrials(1, 9))
    gates = [waited("a", 0.12), observed, waited("b", 0.31), waited("a", 0.12)]
    assert noted(gates) == (f"{gate_text(gates[2])}, {also(gates[0])}", gate_text(observed))


def test_more_than_a_few_are_counted() -> None:
    shares = {name: 0.1 + place / 100 for place, name in enumerate(NAMES)}
    (clause,) = noted(waited(name, share) for name, share in shares.items())
    assert clause.count(" of 9") == MOST == 3 and "trials of h, 16 % in 3 of 9 of g" in clause
    assert clause.endswith(", less with 5 others")


def test_the_note_under_the_verdicts_says_each_thing_once_and_the_notes_have_all_of_it() -> None:
    record = all_waited()
    halved = tuple(replace(t, operations_per_s=t.operations_per_s / (3 if t.block == 2 else 1)) for t in record.trials)
    record = replace(record, trials=halved)
    comparison = compare_run(record)
    report = compose(record, comparison)
    blocks = [block for section in report.sections for block in section.blocks]
    at = next(n for n, b in enumerate(blocks) if isinstance(b, Table) and b.title == "Verdicts")
    table, note = blocks[at], blocks[at + 1]
    assert isinstance(table, Table) and len(table.rows) == 28
    assert isinstance(note, Text) and note.text.startswith("Note: ")
    assert note.text.count("the load generator waited") == note.text.count("between blocks") == 1
    assert "14 % of its time for a processor in 1 of 12 trials of h, 13 % in 1 of 12 of g" in note.text
    assert note.text.count("less with 5 others") == 2 and len(note.text) < 1_000
    (whole,) = [w.text for w in warnings_of(comparison) if "for a processor" in w.text]
    assert all(f"trials of {name}" in whole for name in NAMES)


def test_what_the_same_is_to_be_done_about_is_one_note() -> None:
    record = run(tuple(Server(name, 40_000.0, 0.1) for name in NAMES[:3]), load_steps=(1, 4))
    for place, name in enumerate(NAMES[:3]):
        record = change(record, name, 4, None, fairness_jain=0.8 - place / 10)
    (unfair,) = [w for w in warnings_of(compare_run(record)) if "did not treat" in w.text]
    assert unfair.text == (
        "c did not treat its clients alike: Jain index down to 0.60, nor did b: down to 0.70, nor did a: down to 0.80."
    )
    assert "starved" not in unfair.advice, "a lower share is no starvation: who got nothing is named apart"
