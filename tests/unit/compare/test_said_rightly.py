"""Wording that the numbers support: near the margin, with few blocks, with few operations, at one load step, in
memory.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from bakeoff.compare import compare_run
from bakeoff.report.blocks.tree import Bullets, Table
from bakeoff.report.compose import compose
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.document import to_json
from bakeoff.report.narrate.figures.cells import pair_summary
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.report.renderers.html import render_html
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.records.trial_parts import OperationRecord
from tests.told import headline_of
from tests.unit.compare.synthetic import FAST, SLOW, Server, change, run, summary
from tests.unit.compare.synthetic_cells import blocks_run, matrix_run
from tests.unit.report.shown import shown

NOISY = (replace(FAST, spread=1.5), replace(SLOW, spread=1.5))


def near(percent: float, spread: float = 0.012) -> RunRecord:
    """Two contenders that differ by so much, in blocks that vary by `spread`."""
    factor = 1.0 + percent / 100.0
    one = Server("nginx", 30_000.0 * factor, 0.1 / factor, spread=spread)
    return run((one, Server("apache", 30_000.0, 0.1, spread=spread)), blocks=8)


def test_a_certain_difference_near_the_margin_is_said_with_its_size() -> None:
    """Seen: "inconclusive: about 621 more blocks"."""
    found = compare_run(near(4.2))
    verdict = found.pairs[0].primary.verdict
    assert (verdict.kind, verdict.winner, verdict.more_blocks) == ("near_margin", None, None)
    said = re.fullmatch(
        r"nginx is faster, by ([\d.]+) to ([\d.]+) %; whether by more than 5 % is open", sentence(verdict)
    )
    assert said is not None and float(said[1]) < 4.2 < 5.0 < float(said[2])
    assert headline_of(found)[0].startswith(sentence(verdict))
    text = shown(near(4.2), width=300)
    assert sentence(verdict) in text and "more block" not in to_json(found) + text
    assert compose(near(4.2), found).verdict == "A small lead"


def test_an_equivalent_pair_that_differs_for_certain_says_so() -> None:
    found = compare_run(near(2.0, spread=0.003))
    verdict = found.pairs[0].primary.verdict
    assert verdict.kind == "equivalent"
    assert re.fullmatch(r"equivalent within ±5 % \(nginx is faster, by 1\.\d to 2\.\d %\)", sentence(verdict))
    assert "nginx is faster, by" in headline_of(found)[0]


def test_a_certain_difference_of_a_server_with_failed_trials_is_withheld() -> None:
    record = change(near(4.2), "nginx", None, None, errors={"refused": 20_000})
    assert compare_run(record).pairs[0].primary.verdict.kind == "withheld"


@pytest.mark.parametrize("blocks", [2, 3, 5])
@pytest.mark.parametrize("cells", [False, True])
def test_under_six_blocks_there_is_no_interval_anywhere(blocks: int, cells: bool) -> None:
    """Seen: "−5,056 – 7,068 Mbit/s", "4.98e-07–53,464", "± 231,467"."""
    record = matrix_run(lambda *_: 1.2, blocks, spread=1.0) if cells else run(NOISY, blocks=blocks)
    found = compare_run(record)
    bounds = re.findall(r'"(?:peak_)?(?:low|high)": ([^,}\s]+)', to_json(found, indent=0))
    assert bounds and set(bounds) == {"null"}
    columns = json.loads(to_json(found))
    for pair in (columns["matrix"] or {"pairs": []})["pairs"]:
        names = pair["cells"]["columns"]
        assert {row[names.index("low")] for row in pair["cells"]["rows"]} == {None}
    page = render_html(compose(record, found))
    for text in (
        shown(record, width=300),
        page[: page.index('type="application/json"')] if "application/json" in page else page,
    ):
        assert not re.search(r"± ?\d", text.replace("±5 %", "").replace(f"±{found.run.delta:.0%}", ""))
        assert not re.search(r"\d ?[–-] ?\d+e|e-0\d", text)


def test_from_six_blocks_on_no_interval_of_a_positive_figure_goes_below_zero() -> None:
    found = compare_run(run(NOISY, blocks=6))
    for curve in found.curves:
        for point in curve.points:
            if curve.metric != "errors":
                assert 0.0 < point.low <= point.centre <= point.high
                assert point.centre / point.low == pytest.approx(point.high / point.centre)


def test_there_is_one_number_of_further_blocks_and_one_place_for_it() -> None:
    """Seen: 669 and 823 in one report."""
    noisy = (replace(FAST, spread=0.25), replace(FAST, name="other", spread=0.25))
    record = run(noisy, seed=3, load_steps=(8,))
    found = compare_run(record)
    (pair,) = found.pairs
    wanted = pair.primary.verdict.more_blocks
    assert pair.primary.verdict.kind == "inconclusive" and wanted is not None
    others = [end.verdict for end in pair.secondary] + [p.verdict for curve in pair.curves for p in curve.points]
    assert {verdict.more_blocks for verdict in others if verdict.kind != "too_few"} == {None}
    assert set(re.findall(r"([\d,]+) more blocks?", to_json(found) + shown(record, width=300))) == {f"{wanted:,}"}


def few(operations: int) -> RunRecord:
    record = run(blocks=8)
    return replace(
        record,
        trials=tuple(
            replace(t, service=replace(t.service, count=operations)) if t.contender == "apache" else t
            for t in record.trials
        ),
    )


def test_no_verdict_on_a_percentile_that_has_too_few_operations() -> None:
    assert {end.metric: end.verdict.kind for end in compare_run(few(368)).pairs[0].secondary}["p99"] == "better"
    kinds = {end.metric: (end.verdict.kind, end.blocks) for end in compare_run(few(367)).pairs[0].secondary}
    assert kinds["p99"] == ("too_few", 0)
    assert kinds["p95"][0] == "better"
    assert not any("p99" in line for line in headline_of(compare_run(few(367))))


def test_different_load_steps_of_sizes_are_the_same_content_and_different_pages_are_not() -> None:
    def classes(small: int, large: int, size: int) -> tuple[OperationRecord, ...]:
        parts = (("small", small, 500), ("large", large, size))
        return tuple(OperationRecord(name, n, {}, n * by, 0, summary(n, 1.0)) for name, n, by in parts)

    def audited(parts: tuple[OperationRecord, ...]) -> tuple[int, list[str]]:
        fields: dict[str, Any] = {"per_operation": parts, "bytes_in": sum(part.bytes_in for part in parts)}
        base = classes(80, 40, 300_000)
        record = change(run(), "nginx", None, None, per_operation=base, bytes_in=sum(part.bytes_in for part in base))
        found = compare_run(change(record, "apache", None, None, **fields))
        (audit,) = (audit for audit in found.audits if audit.name == "Same content")
        advice = [w.advice for w in warnings_of(found) if "Same content" in w.text]
        return len(audit.deviating), advice

    assert audited(classes(110, 31, 300_000)) == (0, []), "chance chose fewer large ones"
    assert audited(classes(110, 2, 900_000)) == (0, []), "too few to say anything"
    assert audited(classes(80, 40, 380_000)) == (0, []), "chance drew larger ones"
    assert audited(classes(80, 4_000, 380_000)) == (0, []), "of the baseline's there are few"
    deviating, (advice,) = audited(classes(80, 40, 90_000))
    assert deviating == 18
    assert "Their pages differ" in advice and "generator" not in advice


@pytest.mark.parametrize(("page", "deviating"), [(155, 0), (700, 0), (800, 18), (40_000, 18)])
def test_headers_of_small_replies_are_no_other_content(page: int, deviating: int) -> None:
    """Seen: a POST answered with 8 bytes by both, with headers 155 and 223 bytes."""

    def replies(size: int) -> dict[str, Any]:
        part = OperationRecord("POST /login", 2_000, {}, 2_000 * size, 0, summary(2_000, 1.0))
        return {"per_operation": (part,), "bytes_in": part.bytes_in}

    record = change(run(), "nginx", None, None, **replies(155))
    found = compare_run(change(record, "apache", None, None, **replies(page)))
    (audit,) = (audit for audit in found.audits if audit.name == "Same content")
    assert len(audit.deviating) == deviating
    assert any(gate.name == "different content" for gate in found.pairs[0].primary.gates) == bool(deviating)


def test_cached_cells_are_counted_among_the_cells_of_the_average() -> None:
    """Seen: "15 cells of 14 can only be explained by a cache"."""

    def cached(contender: str, block: int, cell: dict[str, Any]) -> None:
        cell.update(cached=True, cached_reason="faster than the disk")
        if contender == "cifs" and block < 4 and cell["record_bytes"] == 512:
            cell.update(skipped="direct I/O here needs multiples of 4096 bytes")

    found = compare_run(blocks_run(lambda *_: 1.0, change=cached))
    assert found.cells is not None
    (surface,) = found.cells.pairs
    said = re.search(r"(\d+) cells of (\d+) can only be explained by a cache", " ".join(pair_summary(surface)))
    assert said is not None and int(said[1]) == int(said[2]) == surface.overall.cells == surface.cached_cells


def test_a_contender_in_memory_has_no_cache_regimes() -> None:
    record = matrix_run(lambda *_: 1.0, tests=("read",))
    found = compare_run(record)
    assert found.cells is not None and {r.contender for r in found.cells.caching} == {"nfs", "cifs"}
    facts = {"contenders": {"nfs": {"carrier": "memory", "file_system": "tmpfs"}, "cifs": {"carrier": "wire"}}}
    found = compare_run(replace(record, environment={**record.environment, "content": facts}))
    assert found.cells is not None and {r.contender for r in found.cells.caching} == {"cifs"}


def test_a_curve_that_ends_far_below_its_peak_is_not_flat() -> None:
    """Seen: "flat from 8 clients on" with 0.59 × at the end."""
    record = run(load_steps=(1, 8, 60), blocks=2)
    trials = tuple(
        replace(t, operations_per_s=t.operations_per_s * (0.4 if t.block == 1 else 0.9))
        if t.load_step.clients == 60
        else t
        for t in record.trials
    )
    for contender in compare_run(replace(record, trials=trials)).contenders:
        assert contender.last_share_of_peak < 0.9
        assert "flat from" not in sentence(contender.shape) and "which may be chance" in sentence(contender.shape)


def test_one_load_step_is_not_saturated() -> None:
    one = compare_run(run(load_steps=(8,)))
    assert {(c.saturation_load_step, c.saturation(), sentence(c.shape)) for c in one.contenders} == {
        (None, "–", "one load step only: no curve")
    }
    record = change(run(load_steps=(1, 4, 8)), "nginx", 4, None, state="failed", reason="gone")
    record = change(record, "nginx", 8, None, state="failed", reason="gone")
    left = compare_run(record).contenders[0]
    assert (
        left.saturation_load_step is None and sentence(left.shape) == "one load step only: no curve; 12 trials failed"
    )


def test_contenders_by_http_and_https_are_named_before_all_else() -> None:
    record = run()
    first = replace(record.contenders[0], address="https://127.0.0.1:8443")
    comparison = compare_run(replace(record, contenders=(first, *record.contenders[1:])))
    assert any(
        "not asked alike" in each.text and "by https" in each.text for each in warnings_of(comparison) if each.first
    )
    assert not any("not asked alike" in each.text for each in warnings_of(compare_run(record)))


@pytest.mark.parametrize("percent", [0.5, 4.2, 9.0])
@pytest.mark.parametrize("contenders", [2, 3])
def test_the_only_load_step_has_the_interval_and_the_verdict_of_the_result(percent: float, contenders: int) -> None:
    """Seen: "plain is better … 0.65× (0.47–0.92)" above "0.65× (0.42–1.01) inconclusive", an equivalence likewise."""
    factor = 1.0 + percent / 100.0
    one = Server("nginx", 30_000.0 * factor, 0.1 / factor, spread=0.02)
    others = [Server(name, 30_000.0, 0.1, spread=0.02) for name in ("apache", "caddy")][: contenders - 1]
    record = run((one, *others), load_steps=(4,), blocks=8)
    found = compare_run(record)
    for pair in found.pairs:
        for curve, end in zip(pair.curves, (pair.primary, *pair.secondary), strict=True):
            (point,) = curve.points
            assert (point.low, point.high, point.blocks) == (end.low, end.high, end.blocks), curve.metric
            assert (point.verdict.kind, point.verdict.winner) == (end.verdict.kind, end.verdict.winner), curve.metric
            assert curve.level == found.run.level
    assert found.pairs[0].primary.verdict.kind == {0.5: "equivalent", 4.2: "near_margin", 9.0: "better"}[percent]
    page = render_html(compose(record, found))
    assert "There is one load step" in page and "all load steps together" not in page and "imultaneous" not in page


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(0.21, 0.998, "0.210–0.998"), (1.0004, 1.5, "1.0004–1.5000"), (0.5, 1.0, "0.50–1.00"), (0.9, 1.1, "0.90–1.10")],
)
def test_an_end_of_an_interval_is_printed_as_1_when_it_is_1(low: float, high: float, text: str) -> None:
    """Seen: "nginx better" beside 0.21–1.00."""
    assert wording.interval(low, high) == text


def test_a_span_that_may_be_chance_is_not_laid_to_the_load() -> None:
    """Seen: "from 0.21× (1/25.1–1.15) at 8 clients to 1.01× at 1 client, depending on the load"."""
    noisy, steady = run(NOISY), run((replace(FAST, decline=0.0), replace(SLOW, capacity=5_000.0)))
    pages = [render_html(compose(record, compare_run(record))) for record in (noisy, steady)]
    assert "which may be chance" in pages[0] and "depending on the load" not in pages[0]
    assert "depending on the load" in pages[1]


def test_every_figure_has_its_least_and_largest_ratio_in_percent_too() -> None:
    """apache reaches from 0.8 of nginx on, as its times are known: what is up to 151 % more is told so."""
    record = run()
    comparison = compare_run(record)
    (section,) = [one for one in compose(record, comparison).sections if one.id == "ratios"]
    (spans,) = [block.items for block in section.blocks if isinstance(block, Bullets)]
    (table,) = [b for b in section.blocks if isinstance(b, Table) and b.title == "From the least to the largest ratio"]
    assert [row[0] for row in table.rows] == [curve.title for curve in comparison.pairs[0].curves]
    for curve, row in zip(comparison.pairs[0].curves, table.rows, strict=True):
        ends = sorted(point.ratio for point in curve.points)
        assert row[2].startswith(f"{ends[0]:.2f}×") and row[5].startswith(f"{ends[-1]:.2f}×")
        share = f"{100 * abs(ends[-1] - 1):.0f} % {'more' if ends[-1] > 1 else 'less'}"
        assert row[6] == share
    p99 = next(span for span in spans if "(p99)" in span)
    assert p99.endswith("up to 151 % more.") and spans[0].endswith("up to 20 % less.")


def test_what_is_hashed_is_said_as_it_is() -> None:
    """Seen: "the body of one in 100 is hashed" of runs that hashed half of them, and of pages without a known hash."""
    record = run()
    classes = {"web-static": "files", "web-url": "url"}
    table = {}
    for suite, source in classes.items():
        plan = {**record.plan, "classes": [{"name": "223", "source": source, "weight": 100.0}]}
        plan["settings"] = {**record.plan.get("settings", {}), "check_every": 100}
        one = replace(record, plan=plan, suite=suite)
        table[suite] = render_html(compose(one, compare_run(one)))
    hashed = "the first body of each file in a trial is hashed, and one in 100 after it."
    assert hashed in table["web-static"] and "hashed" not in table["web-url"]


def test_a_p99_without_a_verdict_says_which_trials_have_none() -> None:
    """Seen: "no verdict: 5 usable blocks" of a p99, of a run all of whose six blocks are usable."""
    few = summary(60, 1.0)
    record = change(run(), "nginx", 1, (3,), operations=60, service=few)
    found = compare_run(record)
    p99 = next(text for text in headline_of(found) if text.startswith("The p99"))
    assert p99.endswith("at least 6 are needed (a trial of fewer than 368 operations has no p99).")
    note = next(warning for warning in warnings_of(found) if "368" in warning.text)
    assert note.text.endswith("too few for a p99 (1 fewer than 72: for a p95, too).")
    assert note.advice.startswith("Verdicts on these percentiles leave out blocks with such a trial.")


def test_a_rate_that_moves_in_steps_larger_than_what_matters_is_told() -> None:
    """Seen: "30.00 ± 0 %" sessions/s, nine of each client in every block: 99.9 ms would do twelve, 100.1 ms eleven."""
    slow = [replace(FAST, capacity=40.0, base_ms=100.0), replace(SLOW, capacity=40.0, base_ms=100.0)]
    record = run((slow[0], slow[1]), load_steps=(4,), window_s=1.2)
    least = min(trial.operations for trial in record.trials)
    notes = [warning for warning in warnings_of(compare_run(record)) if "One more for each" in warning.text]
    assert len(notes) == 1 and f"have as few as {least / 4:.3g} requests for each client" in notes[0].text
    assert f"would raise the rate by {wording.percent(4 / least)}; δ is 5 %." in notes[0].text
    assert not any("One more for each" in warning.text for warning in warnings_of(compare_run(run())))
    plan = {**record.plan, "settings": {**record.plan.get("settings", {}), "operations": 48}}
    assert not any("one more" in warning.text for warning in warnings_of(compare_run(replace(record, plan=plan))))
