"""Peaks, errors and audits of made-up runs."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from bakeoff.compare import compare_run
from bakeoff.load.load_step import Clients
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.warned import warnings_of
from tests.unit.compare.synthetic import FAST, FULL_LOAD_STEPS, SLOW, Server, change, run, with_capacity


def test_peak_saturation_and_collapse() -> None:
    dying = replace(SLOW, decline=0.01)
    nginx, apache = compare_run(run((FAST, dying), load_steps=FULL_LOAD_STEPS, blocks=6)).contenders
    assert nginx.saturation_load_step == Clients(8)
    assert not nginx.collapsed
    assert apache.collapsed
    assert apache.last_share_of_peak == pytest.approx(0.7, abs=0.03)
    assert "flat from 8 clients, falls to" in sentence(apache.shape)


def test_a_curve_still_rising_has_no_saturation() -> None:
    found = compare_run(run(load_steps=(1, 2), blocks=6)).contenders[0]
    assert found.saturation_load_step is None
    assert "its limit was not reached" in sentence(found.shape)


def test_errors_of_failed_trials_stay_visible() -> None:
    record = change(run(), "apache", 8, None, state="failed", reason="too many errors", errors={"refused": 30_000})
    found = compare_run(record)
    point = found.curve("errors", "apache").points[2]
    assert point.blocks == 6
    assert point.centre > 5.0
    rate = found.curve("rate", "apache").points[2]
    assert (rate.blocks, rate.forfeited) == (0, 6)
    assert found.contenders[1].errors == {"refused": 180_000}


@pytest.mark.parametrize(
    ("errors", "expected"),
    [({"refused": 118}, True), ({"reply_timeout": 3, "refused": 1}, True), ({"reset": 118}, False)],
)
def test_who_refuses_connections_may_have_crashed(errors: dict[str, int], expected: bool) -> None:
    """The class of the errors says so, not the words of the reason."""
    reason = "a refused reason"
    found = compare_run(change(run(), "apache", 8, None, state="failed", reason=reason, errors=errors))
    (advice,) = (warning.advice for warning in warnings_of(found) if reason in warning.text)
    assert ("`dmesg` after a crash" in advice) is expected and "--retry-failed` repeats them" in advice


def test_audits_hold_on_a_sound_run() -> None:
    audits = {audit.name: audit for audit in compare_run(run()).audits}
    assert all(not audit.deviating for audit in audits.values())
    assert audits["Little's law"].checked == 36


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("Little's law", {"load_step": Clients(8)}),
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
    record = change(record, first.contender, first.load_step.clients, (first.block,), **fields)
    audit = next(audit for audit in compare_run(record).audits if audit.name == name)
    assert len(audit.deviating) == 1
    assert audit.deviating[0].trial_id == first.id or name == "Same content"


def test_littles_law_counts_threads_and_think_time() -> None:
    record = run()
    plan = {**record.plan, "settings": {**record.plan["settings"], "virtual_users": 2}}
    audit = compare_run(replace(record, plan=plan)).audits[0]
    assert len(audit.deviating) == 36
    assert audit.worst == pytest.approx(0.5, abs=0.01)
    assert compare_run(replace(record, plan=plan)).pairs[0].primary.verdict.kind == "withheld"


@pytest.mark.parametrize("stored, virtual_users", [({"virtual_users": 3}, 3), ({}, 1), (None, 1)])
def test_settings_are_found_in_a_resolved_plan(stored: object, virtual_users: int) -> None:
    assert replace(run(), plan={"settings": stored, "virtual_users": 9}).planned.settings.virtual_users == virtual_users


def test_exploratory_cells_need_blocks_and_find_the_slow_one() -> None:
    found = compare_run(run(blocks=8)).pairs[0].exploratory
    assert found.tested == 9 * 3 * 2
    assert all(cell.q <= 0.05 and not cell.low <= 1.0 <= cell.high for cell in found.found)
    assert compare_run(run(blocks=5)).pairs[0].exploratory.tested == 0


def test_a_peak_near_the_ceiling_of_the_generator_is_told() -> None:
    found = compare_run(with_capacity(run(), 45_000.0))
    near = [warning for warning in warnings_of(found) if "of the generator's capacity (null server on" in warning.text]
    assert [warning.first for warning in near] == [True, True]
    assert near[0].text.startswith("The peak of nginx is 9") and near[1].text.startswith("The peak of apache is 7")
    assert found.run.null_operations_per_s == 45_000.0
    assert "`--load-threads`" in near[0].advice
    above = warnings_of(compare_run(with_capacity(run(), 20_000.0)))
    (first, *_) = [warning for warning in above if "of the generator's capacity (null server on" in warning.text]
    assert "on a busier machine" in first.advice, "a capacity below the peak is none; more cores mend nothing"
    for unknown in (with_capacity(run(), None), replace(run(), environment={})):
        comparison = compare_run(unknown)
        assert comparison.run.null_operations_per_s is None, "what earlier builds stored had no server in it"
        assert not any("of the generator's capacity" in warning.text for warning in warnings_of(comparison))


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(1.12, 1.24, "1.12–1.24"), (1.265, 1.275, "1.265–1.275"), (0.99993, 1.0001, "0.9999–1.0001"),
     (0.0123, 250.4, "0.012–250"), (float("nan"), 1.0, "–"), (0.0971, 0.15, "0.097–0.150"), (0.11, 0.2, "0.11–0.20"),
     (0.09, 1.2, "0.090–1.20")],
)  # fmt: skip
def test_intervals_are_worded_with_ends_that_differ(low: float, high: float, text: str) -> None:
    assert wording.interval(low, high) == text


def test_a_ratio_reads_like_its_interval() -> None:
    """With as many decimals, however small it is."""
    assert wording.ratio(0.12, 0.0971, 0.15) == "0.120×" and wording.ratio(0.12, 0.11, 0.15) == "0.12×"
    assert wording.times(0.12, "the load", 0.0971, 0.15) == "0.120× the load"


def test_an_interval_has_two_ends_or_is_none() -> None:
    """Seen: "95 % interval 0.5882 – 0.5882"."""
    assert wording.interval(0.588235, 0.588241) == "0.58823–0.58824"
    assert wording.interval(2.0, 2.0) == "2.0000" and wording.span(41.5, 41.5) == "41.50"


def test_who_is_best_at_one_load_step_and_falls_is_not_called_flat() -> None:
    dying = replace(SLOW, decline=0.2)
    _, apache = compare_run(run((FAST, dying), load_steps=(8, 40, 60), blocks=6)).contenders
    assert apache.collapsed and sentence(apache.shape).startswith("highest at 8 clients, falls to")


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


def test_peaks_are_compared_block_by_block_with_an_interval_that_holds_the_truth() -> None:
    slow = Server("slow", FAST.capacity / 2, FAST.base_ms * 2)
    base, other = compare_run(run((FAST, slow), load_steps=(8, 16, 24), blocks=8)).contenders
    assert math.isnan(base.peak_ratio)
    assert other.peak_ratio_low < 0.5 < other.peak_ratio_high
    assert other.peak_ratio_high < 0.53 and other.peak_ratio_low > 0.47


def test_a_peak_at_which_a_trial_was_lost_is_compared_with_none() -> None:
    record = run((FAST, SLOW), load_steps=(8,), blocks=6)
    assert not math.isnan(compare_run(record).contenders[1].peak_ratio)
    broken = change(record, "apache", 8, (2,), state="failed", reason="7 % of operations failed")
    assert math.isnan(compare_run(broken).contenders[1].peak_ratio)
