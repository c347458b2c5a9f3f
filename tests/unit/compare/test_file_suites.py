"""What is particular to runs of the file suites: words, endpoints, and which audits can hold."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from bakeoff.compare import Comparison, compare_run
from bakeoff.compare.kind import compare_part
from bakeoff.compare.metrics.metrics import metrics
from bakeoff.compare.model.comparison import Audit
from bakeoff.load.load_step import Clients
from bakeoff.report.narrate.figures.cells import sentences_of_tests
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.validity.audits import ruled
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.records.trial_parts import OperationRecord, StepRecord, Summary
from tests.told import headline_of, texts_of
from tests.unit.compare.synthetic import change, run, with_capacity
from tests.unit.compare.synthetic_cells import KIB, MIB, blocks_run, matrix_run, skip

SMALL = [(f * KIB, r * KIB) for f in (64, 1024) for r in (4, 64)]


def audit(comparison: Comparison, name: str) -> Audit:
    return next(audit for audit in comparison.audits if audit.name == name)


def mix_run(outside_share: float = 0.0) -> RunRecord:
    """Of the sessions' time this share goes into checking; the synthetic runs follow Little's law exactly."""
    record = replace(run(load_steps=(1, 4)), kind="file-mix")
    trials = []
    for trial in record.trials:
        assert trial.service.mean_ns is not None
        service = replace(trial.service, mean_ns=trial.service.mean_ns * (1.0 - outside_share))
        outside_s = outside_share * trial.load_step.clients * trial.window_s
        trials.append(replace(trial, service=service, workload={"outside_s": outside_s}))
    return replace(record, trials=tuple(trials))


@pytest.mark.parametrize(("cycles", "deviating"), [(0, 0), (1, 12)])
def test_who_did_not_come_through_the_load_step_once_is_named_and_not_held_to_its_sizes(
    cycles: int, deviating: int
) -> None:
    """Seen: a slow share had not left the application with the largest reads, and its bytes called it other work."""
    record = mix_run()
    trials = []
    for trial in record.trials:
        slow = trial.contender == "apache"
        part = OperationRecord("read", 2_000, {}, 2_000 * (20_000 if slow else 11_500), 0, trial.service)
        figures = {**trial.workload, "cycles": cycles if slow else 4}
        trials.append(replace(trial, per_operation=(part,), bytes_in=part.bytes_in, workload=figures))
    found = compare_run(replace(record, trials=tuple(trials)))
    assert len(audit(found, "Same content").deviating) == deviating
    warning_texts = [
        warning.text for warning in warnings_of(found) if warning.first and "did not come through" in warning.text
    ]
    assert warning_texts == (
        ["Some clients did not come through the mix once: apache in 12 of 12 trials."] if not cycles else []
    )


@pytest.mark.parametrize("kind", ["file-matrix", "file-blocks", "file-mix"])
def test_the_work_of_file_suites_is_file_operations(kind: str) -> None:
    assert compare_part(kind).work == "file operations"
    assert [compare_part(other).work for other in ("web", "mail", "app", "null")] == [
        "requests",
        "mail steps",
        "transactions",
        "operations",
    ]


def test_rates_are_in_the_unit_of_the_suite() -> None:
    comparisons = (
        (compare_run(matrix_run(lambda *_: 1.2, tests=("read",), sizes=SMALL)), "MB/s"),
        (compare_run(blocks_run(lambda *_: 1.2)), "MB/s"),
        (compare_run(mix_run()), "Mbit/s"),
    )
    for comparison, unit in comparisons:
        assert comparison.run.rate_unit == unit
        assert f"the {unit} of" in headline_of(comparison)[0]
        assert "operations/s" not in " ".join(headline_of(comparison))


def test_the_mean_of_cells_is_in_megabytes() -> None:
    record = blocks_run(lambda *_: 1.0)
    own = [t for t in record.trials if t.contender == record.contenders[0].name]
    logs = [math.log(cell["rate_kib_s"] * 1024 / 1e6) for trial in own for cell in trial.workload["cells"]]
    for kind in ("file-blocks", "file-matrix"):
        mean = compare_run(replace(record, kind=kind)).contenders[0].peak
        assert mean == pytest.approx(math.exp(sum(logs) / len(logs))), kind


def test_the_load_step_counts_bytes_in_both_directions_and_operations_beside() -> None:
    record = mix_run()
    trial = replace(record.trials[0], bytes_in=3_000_000, bytes_out=1_000_000, window_s=2.0)
    found = {metric.key: metric for metric in metrics(compare_part("file-mix"), run().planned)}
    assert found["rate"].extract(trial) == pytest.approx(16.0)
    assert found["throughput"].extract(trial) == pytest.approx(2.0)
    assert found["operations"].extract(trial) == trial.operations_per_s
    kinds = ("web", "mail", "app", "file-blocks")
    both = {
        kind: {metric.key: metric for metric in metrics(compare_part(kind), run().planned)}["throughput"].extract(trial)
        for kind in kinds
    }
    assert both == {"web": 1.5, "mail": 2.0, "app": 2.0, "file-blocks": 2.0}, "a web client sends only questions"


def test_the_ceiling_is_held_against_operations_not_megabits() -> None:
    record = mix_run()
    most = max(trial.operations_per_s for trial in record.trials)
    near = compare_run(with_capacity(record, 1.05 * most))
    far = compare_run(with_capacity(record, 100.0 * most))
    texts = [" ".join(advice.text for advice in warnings_of(found)) for found in (near, far)]
    assert "of the generator's capacity (null server" in texts[0] and "generator's capacity" not in texts[1]


def test_time_for_checking_data_belongs_to_littles_law() -> None:
    found = audit(compare_run(mix_run(outside_share=0.2)), "Little's law")
    assert found.checked == 24 and not found.deviating and "checking data" in ruled(found.rule)[0]
    silent = mix_run(outside_share=0.2)
    silent = replace(silent, trials=tuple(replace(trial, workload={}) for trial in silent.trials))
    lost = compare_run(silent)
    assert len(audit(lost, "Little's law").deviating) == 24
    assert lost.pairs[0].primary.verdict.kind == "withheld"


@pytest.mark.parametrize(("longest_share", "off", "deviating"), [(0.0, 1.05, 24), (0.06, 1.05, 0), (0.5, 1.15, 24)])
def test_a_long_call_that_an_edge_of_the_window_cuts_is_no_fault(
    longest_share: float, off: float, deviating: int
) -> None:
    """It counts whole where it ends; beyond 10 % nothing excuses a trial."""
    record, trials = mix_run(), []
    for trial in record.trials:
        assert trial.service.mean_ns is not None
        longest_ns = max(trial.service.mean_ns, longest_share * trial.window_s * 1e9)
        service = replace(trial.service, mean_ns=off * trial.service.mean_ns, max_ns=round(longest_ns))
        trials.append(replace(trial, service=service))
    found = compare_run(replace(record, trials=tuple(trials)))
    law = audit(found, "Little's law")
    assert (len(law.deviating), ruled(law.rule)[1]) == (
        deviating,
        "2 % and the longest operation (or iteration with its rest) of each session",
    )
    advice = [warning.advice for warning in warnings_of(found) if "Little" in warning.text]
    assert all("longer `--length`" in words for words in advice) and bool(advice) == bool(deviating)


def test_littles_law_is_not_asked_of_trials_made_of_cells() -> None:
    for record in (matrix_run(lambda *_: 1.1, tests=("read",), sizes=SMALL), blocks_run(lambda *_: 1.1)):
        odd = replace(
            record, trials=tuple(replace(trial, load_step=Clients(1), operations=9) for trial in record.trials)
        )
        comparison = compare_run(odd)
        assert "Little's law" not in {audit.name for audit in comparison.audits}
        assert not any("Little's law" in reason for reason in texts_of(comparison.pairs[0].primary.verdict.reasons))


def exact(contender: str, block: int, cell: dict[str, Any]) -> None:
    cell["bytes"] = cell["operations"] * cell["record_bytes"]


def test_cells_have_the_same_content_when_their_bytes_are_transfers_times_size() -> None:
    def other_number(contender: str, block: int, cell: dict[str, Any]) -> None:
        """More transfers in the same time are a result; they are no other content."""
        if contender == "cifs":
            cell["operations"] *= 7
        exact(contender, block, cell)

    comparison = compare_run(matrix_run(lambda *_: 1.0, tests=("read",), sizes=SMALL, change=other_number))
    found = audit(comparison, "Same content")
    assert (found.checked, found.deviating) == (12, ())


def test_cells_with_other_bytes_or_missing_ones_are_told() -> None:
    def spoil(contender: str, block: int, cell: dict[str, Any]) -> None:
        exact(contender, block, cell)
        if contender == "cifs" and block == 2 and cell["file_bytes"] == MIB:
            cell["bytes"] -= 1
        if block == 3 and cell["file_bytes"] == MIB:
            skip(cell, "cut-off")

    record = matrix_run(lambda *_: 1.0, tests=("read",), sizes=SMALL, change=spoil)
    found = audit(compare_run(record), "Same content")
    assert [(trial.contender, trial.block) for trial in found.deviating] == [("cifs", 2)]
    assert "bytes instead of" in sentence(found.deviating[0])
    short = change(record, "cifs", None, (1,), workload={"cells": record.trials[0].workload["cells"][:2]})
    deviating = audit(compare_run(short), "Same content").deviating[0]
    assert "2 cells of nfs not tried by cifs" in sentence(deviating)


def test_ends_on_both_sides_of_level_are_not_called_the_same_side() -> None:
    """Ahead at one end and within chance behind at the other: a crossing cannot be named, nor denied."""

    def sentence(far: float) -> str:
        def ratio(test: str, file: int, record: int) -> float:
            return 1.3 if record == 4 * KIB else far

        matrix = compare_run(matrix_run(ratio, tests=("read",), sizes=SMALL, spread=0.05)).cells
        assert matrix is not None
        return sentences_of_tests(matrix.pairs[0])[0]

    assert "slower at 64 KiB records; no crossing of 1.00 is shown." in sentence(0.999)
    assert "behind from 64 KiB records on" in sentence(0.9)
    assert sentence(1.2).endswith("faster at 64 KiB records; no crossing of 1.00.")


def iterations_run(rest_s: float = 2.36, implied: float = 1.0) -> RunRecord:
    """Clients that work in iterations of 16 Mbit: response times are those of the iterations, an hour for a call."""
    record = mix_run()
    trials = []
    for trial in record.trials:
        iteration = Summary(100, 40e6, 40_000_000, 50_000_000, 60_000_000, None, 70_000_000, 30_000_000)
        iterations = {
            "bytes": 2_000_000, "pause_s": rest_s, "count": 100, "per_s": 10.0, "response_ms": 40.0,
            "rest_ms": rest_s * 1e3, "implied_sessions": implied * trial.load_step.clients,
        }  # fmt: skip
        service = replace(trial.service, mean_ns=3.6e12)
        workload = {**trial.workload, "iterations": iterations, "outside_s": 0.0}
        trials.append(replace(trial, service=service, workload=workload, steps=(StepRecord("iteration", iteration),)))
    return replace(record, trials=tuple(trials))


def test_the_response_of_iterations_is_that_of_iterations_and_is_called_so() -> None:
    comparison = compare_run(iterations_run())
    curve = comparison.curve("mean", comparison.contenders[0].name)
    assert curve.title == "Mean response time of an iteration"
    assert [point.centre for point in curve.points] == pytest.approx([40.0, 40.0])


@pytest.mark.parametrize(("implied", "deviating"), [(1.0, 0), (1.2, 24)])
def test_littles_law_is_audited_over_iterations(implied: float, deviating: int) -> None:
    found = audit(compare_run(iterations_run(implied=implied)), "Little's law")
    assert (found.checked, len(found.deviating)) == (24, deviating)
