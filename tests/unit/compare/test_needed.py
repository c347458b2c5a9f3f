"""What an answer would still take: blocks and hours up to a day, and noise as noise beyond."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from bakeoff.compare import compare_run
from bakeoff.compare.verdict.blocks_needed import block_lengths_s, needed
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.verdict.blocks_needed import NO_NUMBER, duration
from bakeoff.stats import Decision, decide, ratio_by_signs, ratio_from_logs, sign_flip_p
from tests.told import headline_of
from tests.unit.compare.synthetic import FAST, run

LOGS = [0.30, -0.25, 0.10, 0.05, -0.20, 0.15, -0.13, 0.02]


def needed_for(more: int | None, block_s: float, logs: list[float] = LOGS) -> tuple[int | None, str]:
    decision, found = needed(Decision("inconclusive", more), ratio_from_logs(logs), 0.05, 0.05, block_s)
    assert found is not None and decision.more_blocks == found.fits
    return decision.more_blocks, sentence(found)


def test_blocks_are_told_with_their_time_as_long_as_a_day_has_room() -> None:
    assert needed_for(9, 300.0) == (9, "about 9 more blocks (45 minutes) needed")
    assert needed_for(1, math.nan) == (1, "about 1 more block needed")
    assert needed_for(288, 300.0)[0] == 288 and needed_for(289, 300.0)[0] is None


def test_beyond_a_day_noise_is_told_as_noise_with_a_margin_that_can_be_had() -> None:
    more, words = needed_for(312, 300.0)
    assert more is None
    assert words == "blocks differ by 21 % here; for 5 % that is 26 hours: quiet the machine, or accept 20 %"
    # No run has so many blocks, however short they are.
    assert needed_for(7621, 3.0) == (None, words.replace("26 hours", "more than the 1,000 blocks that a run can have"))
    assert needed_for(None, 3.0) == needed_for(7621, 3.0)
    assert "7 days" in needed_for(7621, 80.0)[1] + needed_for(7621, 75.0)[1]
    # A margin is named only where twice the blocks would show it.
    assert "accept" not in needed_for(312, 300.0, [10.0 * log for log in LOGS])[1]


def test_a_ratio_that_lies_at_the_margin_is_not_called_noise() -> None:
    """Blocks that differ by 1 %, at a ratio of 1.0495."""
    near = [math.log(1.0495) + log / 30.0 for log in LOGS]
    near = [log - sum(near) / len(near) + math.log(1.0495) for log in near]
    more, words = needed_for(None, 60.0, near)
    assert more is None
    assert words == "the ratio is too near to 5 % for any reasonable number of blocks: accept 7 %"


def test_a_contender_that_lost_trials_is_no_noise() -> None:
    lost = ratio_by_signs([2.3, 2.3, -0.1, 2.3, 0.1, -2.3])
    nothing = Decision("inconclusive", None)
    decision, found = needed(nothing, lost, 0.05, 0.05, 60.0)
    assert decision == nothing and sentence(found) == NO_NUMBER


def test_of_a_decision_that_is_made_nothing_is_needed() -> None:
    made = Decision("higher", 0)
    assert needed(made, ratio_from_logs(LOGS), 0.05, 0.05, 60.0) == (made, None)


@pytest.mark.parametrize(("comparisons", "blocks"), [(1, 6), (3, 7), (6, 8), (10, 9)])
def test_blocks_that_are_advised_pass_the_sign_flip_test_with_holm(comparisons: int, blocks: int) -> None:
    """Seen: "1 more block", and after it 1 more again."""
    logs = [2.3, 2.2, 2.3, 2.1, 2.3, 2.3]
    seen = ratio_by_signs(logs)
    found = decide(seen, 0.05, min(1.0, seen.p_t * comparisons), 1.0, comparisons=comparisons)
    assert (found.more_blocks or 0) == blocks - len(logs)
    more = [*logs, *[2.3] * (found.more_blocks or 0)]
    assert sign_flip_p(more) * comparisons <= 0.05, "those that were advised are enough"


def test_noise_reaches_the_headline_without_a_number_of_blocks() -> None:
    noisy = (replace(FAST, spread=1.5), replace(FAST, name="other", spread=1.5))
    found = compare_run(run(noisy, seed=4, load_steps=(8,)))
    verdict = found.pairs[0].primary.verdict
    assert (verdict.kind, verdict.more_blocks) == ("inconclusive", None)
    assert "blocks differ 18-fold here" in sentence(verdict) and "quiet the machine" in sentence(verdict)
    assert any(sentence(verdict).removeprefix("inconclusive: ") in line for line in headline_of(found))
    assert not any("more block" in line for line in headline_of(found))


def test_a_block_is_as_long_as_the_middle_one() -> None:
    record = run((FAST, replace(FAST, name="other")), load_steps=(8,), blocks=7)
    # A block begins each 100 s; before the last one a night passed.
    begins = [0, 100, 200, 300, 400, 500, 40_000]
    spaced = replace(
        record,
        trials=tuple(
            replace(t, started_at=f"2026-11-{20 + s // 86_400:02}T{s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}+00:00")
            for t in record.trials
            if (s := begins[t.block - 1] + t.order % 2) is not None
        ),
    )
    assert block_lengths_s({"": spaced}) == {"": pytest.approx(100.0, abs=2.0)}
    unknown = replace(record, trials=tuple(replace(t, started_at="?") for t in record.trials))
    assert math.isnan(block_lengths_s({"": unknown})[""])
    assert duration(40.0) == "40 s" and duration(5400.0) == "90 minutes" and duration(10 * 86400.0) == "10 days"
