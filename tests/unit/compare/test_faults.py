"""Wrong books and wrong content neither win nor are equivalent, however few, and however many blocks there are."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from bakeoff.compare import Comparison, compare_run
from bakeoff.report.compose import compose
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.store.records.run_records import RunRecord
from tests.told import headline_of, kinds_of
from tests.unit.compare.synthetic import FAST, SLOW, change, run

TWIN = replace(FAST, name="twin")


def books(**counts: int) -> dict[str, Any]:
    """The workload of a mail trial with these classes of messages."""
    return {"ledger": {"counts": {"accepted": 1000, **counts}, "balanced": True}}


def mail(record: RunRecord) -> RunRecord:
    return replace(record, kind="mail", suite="mail-pop")


def kinds(comparison: Comparison) -> set[str]:
    """Of every verdict that there is."""
    (pair,) = comparison.pairs
    ends = {end.verdict.kind for end in (pair.primary, *pair.secondary)}
    return ends | {point.verdict.kind for curve in pair.curves for point in curve.points}


@pytest.mark.parametrize("lost", [1, 100, 500])
@pytest.mark.parametrize("blocks", [1, 5, 8])
@pytest.mark.parametrize("other", [SLOW, TWIN])
def test_a_server_that_loses_mail_neither_wins_nor_is_equivalent(lost: int, blocks: int, other: Any) -> None:
    record = change(mail(run((FAST, other), blocks=blocks)), "nginx", 8, (1,), workload=books(lost=lost))
    found = compare_run(record)
    assert headline_of(found)[0] == (
        f"nginx is disqualified, it did not keep its mail: of 1,000 accepted, {lost} lost."
    ), "the first sentence names it"
    assert kinds_of(found)[0] == "loss"
    assert not kinds(found) & {"equivalent", "inconclusive"}, "no count of more blocks mends lost mail"
    assert all(pair.primary.verdict.winner != "nginx" for pair in found.pairs)
    assert all(end.verdict.winner != "nginx" for end in found.pairs[0].secondary)
    assert found.pairs[0].primary.verdict.kind == "disqualified"
    assert compose(record, found).severity == "bad"


@pytest.mark.parametrize("name", ["lost", "corrupt", "misdelivered", "duplicate", "ghost", "resurrected"])
def test_every_class_of_wrong_books_counts(name: str) -> None:
    found = compare_run(change(mail(run()), "nginx", 8, (1,), workload=books(**{name: 1})))
    assert found.pairs[0].primary.verdict.kind == "disqualified"


def test_the_honest_one_wins_when_it_is_ahead_by_the_rules() -> None:
    found = compare_run(change(mail(run()), "apache", 8, (1,), workload=books(lost=1)))
    assert found.pairs[0].primary.verdict.winner == "nginx"
    assert headline_of(found)[0].startswith("apache is disqualified")


def test_honest_refusals_are_refusals_and_do_not_save_the_one_that_loses() -> None:
    """5 % of the recipients are told 450."""
    refused = {t.id: {"put_off": t.operations // 20} for t in run().trials}
    record = replace(mail(run()), trials=tuple(replace(t, errors=refused[t.id]) for t in run().trials))
    record = replace(
        record, trials=tuple(t if t.contender == "nginx" else replace(t, errors={}) for t in record.trials)
    )
    alone = compare_run(record).pairs[0].primary
    assert {gate.name for gate in alone.gates} == {"errors"}, "refusals, not wrong answers"
    against = compare_run(change(record, "apache", None, None, workload=books(lost=500))).pairs[0].primary
    assert against.verdict.winner == "nginx"


@pytest.mark.parametrize("name", ["wrong_content", "short_body"])
@pytest.mark.parametrize("kind", ["web", "app", "file-mix"])
def test_one_wrong_content_is_enough(name: str, kind: str) -> None:
    found = compare_run(replace(change(run(), "nginx", 8, (3,), errors={name: 1}), kind=kind))
    assert found.pairs[0].primary.verdict.kind == "disqualified"
    assert headline_of(found)[0].startswith("nginx is disqualified, it gave wrong content: of ")


def test_damaged_records_of_cells_count() -> None:
    cell = {"test": "read", "file_bytes": 1, "record_bytes": 1, "operations": 500, "rate_kib_s": 10.0, "damaged": 2}
    cells = {"cells": [{**cell, "bytes": 500}]}
    record = change(replace(run(), kind="file-matrix"), "nginx", None, None, workload=cells)
    assert headline_of(compare_run(record))[0].startswith("nginx is disqualified, it gave back wrong data: of ")


def test_damage_that_broke_its_cell_off_counts_too() -> None:
    """Whether the others came to the end of the cell is chance."""
    cell = {"test": "read", "file_bytes": 1, "record_bytes": 1, "skipped": "the trial ended before this cell was done"}
    broken = {"workload": {"cells": [cell]}, "errors": {"wrong_content": 92}, "state": "failed", "reason": "damaged"}
    record = change(replace(run(), kind="file-blocks"), "nginx", None, (3,), **broken)
    assert headline_of(compare_run(record))[0].startswith("nginx is disqualified, it gave back wrong data: of ")


def test_both_wrong_gives_no_verdict_and_names_both() -> None:
    record = mail(run())
    record = replace(record, trials=tuple(replace(t, workload=books(lost=1)) for t in record.trials))
    found = compare_run(record)
    assert [line.split(",")[0] for line in headline_of(found)[:2]] == [
        "nginx is disqualified",
        "apache is disqualified",
    ]
    assert found.pairs[0].primary.verdict.kind == "disqualified"


def test_voided_trials_are_not_held_against_it() -> None:
    record = change(mail(run(blocks=8)), "nginx", 8, (1,), workload=books(lost=1), state="voided", reason="ports")
    assert compare_run(record).pairs[0].primary.verdict.winner == "nginx"


def test_the_ratio_of_a_disqualified_pair_lies_in_the_interval_beside_it() -> None:
    found = compare_run(change(mail(run()), "nginx", 8, (1,), workload=books(lost=1)))
    numbers = re.search(r"apache over nginx: ([\d.]+)×, 95 % interval ([\d.]+)–([\d.]+)", headline_of(found)[1])
    assert numbers is not None, headline_of(found)[1]
    ratio, low, high = map(float, numbers.groups())
    assert low <= ratio <= high < 1.0


def app(record: RunRecord) -> RunRecord:
    return replace(record, kind="app", suite="app")


def looked_again(lost: int = 0, damaged: int = 0, wrong: int = 0) -> dict[str, Any]:
    """What a trial of an application server tells of 3,924 writes and as many results."""
    read = {"writes": 3924, "records": 3900, "asked": 3900, "read": 3900, "damaged": damaged, "lost": lost}
    return {"read_back": read, "worked_again": {"answers": 9_000, "checked": 3924, "wrong": wrong}}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"lost": 13}, "did not keep its data: of 3,924 acknowledged writes, 13 lost"),
        ({"damaged": 1}, "did not keep its data: of 3,924 acknowledged writes, 1 damaged"),
        ({"wrong": 1}, "gave wrong results: of 3,924 results worked out again, 1 wrong"),
    ],
)
def test_a_server_whose_data_or_results_are_wrong_afterwards_is_disqualified(
    found: dict[str, int], expected: str
) -> None:
    record = change(app(run()), "nginx", 8, (1,), workload=looked_again(**found))
    compared = compare_run(record)
    assert headline_of(compared)[0] == f"nginx is disqualified, it {expected}."
    assert compared.pairs[0].primary.verdict.kind == "disqualified"
    assert compared.pairs[0].primary.verdict.winner != "nginx"
    report = compose(record, compared)
    assert report.severity == "bad" and any(section.id == "read_back" for section in report.sections)


def test_a_server_whose_data_and_results_are_right_afterwards_wins() -> None:
    record = change(app(run()), "nginx", None, None, workload=looked_again())
    assert compare_run(record).pairs[0].primary.verdict.winner == "nginx"


@pytest.mark.parametrize(("too_long", "named"), [(10, False), (11, True)])
def test_times_that_cannot_be_are_named_and_decide_nothing(too_long: int, named: bool) -> None:
    times = {"times": {"told": 1000, "too_long": too_long, "too_short": 0}}
    record = change(app(run()), "nginx", 8, (1,), workload=times)
    compared = compare_run(record)
    texts = [
        text for text in (one.text for one in warnings_of(compared)) if "impossible queue and service times" in text
    ]
    assert bool(texts) == named and compared.pairs[0].primary.verdict.winner == "nginx"
