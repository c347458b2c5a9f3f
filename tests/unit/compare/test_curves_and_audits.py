"""Peaks, errors and audits of made-up runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bakeoff.compare import compare_run, settings, wording
from bakeoff.mix import Clients
from tests.unit.compare.synthetic import FAST, FULL_MIXES, SLOW, change, run


def test_peak_saturation_and_collapse() -> None:
    dying = replace(SLOW, decline=0.01)
    nginx, apache = compare_run(run((FAST, dying), mixes=FULL_MIXES, blocks=6)).contenders
    assert nginx.saturation_mix == Clients(8)
    assert not nginx.collapsed
    assert apache.collapsed
    assert apache.last_share_of_peak == pytest.approx(0.7, abs=0.03)
    assert "flat from 8 clients, falls to" in apache.shape


def test_a_curve_still_rising_has_no_saturation() -> None:
    found = compare_run(run(mixes=(1, 2), blocks=6)).contenders[0]
    assert found.saturation_mix is None
    assert "its limit was not reached" in found.shape


def test_errors_of_failed_trials_stay_visible() -> None:
    record = change(run(), "apache", 8, None, state="failed", reason="too many errors", errors={"refused": 30_000})
    found = compare_run(record)
    point = found.curve("errors", "apache").points[2]
    assert point.blocks == 6
    assert point.centre > 5.0
    rate = found.curve("rate", "apache").points[2]
    assert (rate.blocks, rate.lost) == (0, 6)
    assert found.contenders[1].errors == {"refused": 180_000}


def test_audits_hold_on_a_sound_run() -> None:
    audits = {audit.name: audit for audit in compare_run(run()).audits}
    assert all(not audit.deviating for audit in audits.values())
    assert audits["Little's law"].checked == 36


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("Little's law", {"mix": Clients(8)}),
        ("Counts", {"operations": 7}),
        ("Bytes", {"bytes_in": 7}),
        ("Rates", {"window_s": 9.0}),
        ("Same content", {}),
    ],
)
def test_a_broken_number_turns_its_audit_red(name: str, fields: dict[str, object]) -> None:
    record = run()
    if name == "Little's law":
        summary = replace(record.trials[0].service, mean_ns=(record.trials[0].service.mean_ns or 0.0) * 1.2)
        fields = {"service": summary}
    first = record.trials[0]
    if name == "Same content":
        fields = {"per_operation": tuple(replace(part, bytes_in=2 * part.bytes_in) for part in first.per_operation)}
    record = change(record, first.contender, first.mix.clients, (first.block,), **fields)
    audit = next(audit for audit in compare_run(record).audits if audit.name == name)
    assert len(audit.deviating) == 1
    assert audit.deviating[0].trial_id == first.id or name == "Same content"


def test_littles_law_counts_threads_and_think_time() -> None:
    record = run()
    plan = {**record.plan, "settings": {**record.plan["settings"], "threads": 2}}
    audit = compare_run(replace(record, plan=plan)).audits[0]
    assert len(audit.deviating) == 36
    assert audit.worst == pytest.approx(0.5, abs=0.01)
    assert compare_run(replace(record, plan=plan)).pairs[0].primary.verdict.kind == "withheld"


def test_settings_are_found_in_a_resolved_plan() -> None:
    assert settings.number({"settings": {"threads": 3}, "threads": 9}, "threads", 1.0) == 3.0
    assert settings.number({"threads": 9}, "threads", 1.0) == 9.0
    assert settings.number({"settings": None}, "threads", 1.0) == 1.0


def test_exploratory_cells_need_blocks_and_find_the_slow_one() -> None:
    found = compare_run(run(blocks=8)).pairs[0].exploratory
    assert found.tested == 9 * 3 * 2
    assert all(cell.q <= 0.05 and not cell.low <= 1.0 <= cell.high for cell in found.found)
    assert compare_run(run(blocks=5)).pairs[0].exploratory.tested == 0


def test_a_peak_near_the_ceiling_of_the_generator_is_told() -> None:
    found = compare_run(replace(run(), null_operations_per_s=45_000.0))
    near = [warning for warning in found.warnings if "of what the generator asks of a server on" in warning.text]
    assert [warning.first for warning in near] == [True, True]
    assert near[0].text.startswith("The peak of nginx is 9") and near[1].text.startswith("The peak of apache is 7")
    assert found.run.null_operations_per_s == 45_000.0
    for unknown in (replace(run(), null_operations_per_s=None), replace(run(), environment={})):
        comparison = compare_run(unknown)
        assert comparison.run.null_operations_per_s is None, "what earlier builds stored had no server in it"
        assert not any("of what the generator asks" in warning.text for warning in comparison.warnings)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(1.12, 1.24, "1.12–1.24"), (1.265, 1.275, "1.265–1.275"), (0.99993, 1.0001, "0.9999–1.0001"),
     (0.0123, 250.4, "1/81.3–250"), (float("nan"), 1.0, "–")],
)  # fmt: skip
def test_intervals_are_worded_with_ends_that_differ(low: float, high: float, text: str) -> None:
    assert wording.interval(low, high) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (41234.6, "41,235"), (1.23456, "1.235"), (0.012345, "0.01235"), (float("nan"), "–")],
)
def test_figures(value: float, text: str) -> None:
    assert wording.figures(value) == text


def test_shares_below_the_last_digit_are_not_zero() -> None:
    assert wording.percent(1e-7) == "< 0.001 %"
    assert wording.percent(0.0) == "0 %"
    assert wording.percent(0.0123) == "1.23 %"
    assert wording.percent(0.5) == "50 %"
