"""Several suites in one comparison: known answers, and nobody looks better by what is missing."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from bakeoff.compare.campaign import Measured, _joint, _Part, compare_campaign
from bakeoff.compare.campaign_model import CampaignComparison
from bakeoff.store.records import RunRecord
from tests.unit.compare.synthetic import Server, change, run
from tests.unit.compare.synthetic_cells import matrix_run

NAMES = ("blue", "red")


def web(ratio: float, seed: int = 1, blocks: int = 6, names: tuple[str, ...] = NAMES) -> RunRecord:
    """red at `ratio` times the rate of blue; others halve it again."""
    servers = tuple(
        Server(name, base_ms=0.5 / ratio**place, capacity=9000.0 * ratio**place) for place, name in enumerate(names)
    )
    return run(servers, blocks=blocks, seed=seed)


def compared(*measured: Measured, names: tuple[str, ...] = NAMES) -> CampaignComparison:
    return compare_campaign("lab", "Lab", names, measured)


def test_the_ratio_over_all_suites_is_the_weighted_geometric_mean() -> None:
    found = compared(Measured("one", 1.0, web(1.5)), Measured("two", 2.0, web(0.8, seed=2)))
    ratios = [verdict.ratio for verdict in found.verdicts]
    (pair,) = found.overall
    assert pair.ratio == pytest.approx((ratios[0] * ratios[1] ** 2) ** (1 / 3), rel=1e-6)
    assert pair.low < pair.ratio < pair.high
    assert "weights one 1, two 2" in found.headline[0]


def test_a_winner_of_all_suites_is_first_and_one_of_each_is_not() -> None:
    both = compared(Measured("one", 1.0, web(1.3)), Measured("two", 1.0, web(1.3, seed=2)))
    assert both.winner == "red" and "red is better over 2 suites" in both.headline[0]
    split = compared(Measured("one", 1.0, web(1.3)), Measured("two", 1.0, web(1 / 1.3, seed=2)))
    assert split.winner is None and "certainly" in split.headline[0]
    assert {place.words for place in split.places} == {"1–2"}


def test_holm_counts_all_suites_together() -> None:
    """Verdicts of one suite among many are held to the family: p after Holm is the least p times their number."""
    runs = [web(1.2, seed=seed) for seed in range(1, 5)]
    found = compared(*(Measured(f"s{n}", 1.0, one) for n, one in enumerate(runs)))
    raw = [suite.comparison.pairs[0].primary.p_t for suite in found.suites if suite.comparison]
    assert min(v.p_family for v in found.verdicts) == pytest.approx(min(raw) * 4)
    assert all(v.winner == "red" for v in found.verdicts)


def test_a_verdict_that_is_lost_to_the_family_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    import bakeoff.compare.campaign as module

    monkeypatch.setattr(module, "holm", lambda p: np.full(len(p), 0.06))
    found = compared(Measured("one", 1.0, web(1.3)), Measured("two", 1.0, web(1.3, seed=2)))
    assert all(v.kind == "inconclusive" and v.winner is None for v in found.verdicts)
    assert found.winner is None and any("in this suite alone" in text for text in found.headline)


def test_a_suite_that_could_not_start_is_named_and_takes_the_order_away() -> None:
    """Who did not come to a suite cannot win by the others."""
    found = compared(Measured("one", 1.0, web(1.3)), Measured("mail", 1.0, None, "the port is closed"))
    assert found.winner is None and "mail: the port is closed." in found.headline
    assert "not both in mail" in found.overall[0].why_not


def test_a_contender_that_is_not_in_a_suite_has_no_certain_place() -> None:
    alone = web(1.3)
    alone = replace(
        alone, contenders=alone.contenders[:1], trials=tuple(t for t in alone.trials if t.contender == "blue")
    )
    found = compared(Measured("one", 1.0, web(1.3, seed=2)), Measured("two", 1.0, alone))
    assert found.winner is None and "not both in two" in found.overall[0].why_not


def test_few_blocks_and_withheld_verdicts_leave_the_order_open() -> None:
    few = compared(Measured("one", 1.0, web(1.3)), Measured("two", 1.0, web(1.3, seed=2, blocks=4)))
    assert few.winner is None and "two has 4 blocks" in few.overall[0].why_not
    failing = change(web(1.3, seed=2), "red", 8, (1, 2, 3, 4), state="failed", reason="refused")
    held = compared(Measured("one", 1.0, web(1.3)), Measured("two", 1.0, failing))
    assert held.winner is None and "red lost trials outright in two" in held.overall[0].why_not


def test_cells_and_curves_stand_in_one_comparison_and_json_has_no_nan() -> None:
    files = matrix_run(lambda *_: 1.4, tests=("read",))
    names = tuple(contender.name for contender in files.contenders)
    found = compared(Measured("web", 1.0, web(1.4, names=names)), Measured("files", 1.0, files), names=names)
    assert found.winner == names[1]
    assert json.loads(found.to_json())["suites"][1]["comparison"]["matrix"] is not None


def test_three_contenders_have_places() -> None:
    names = ("a", "b", "c")
    runs = [web(1.3, seed=seed, names=names) for seed in (1, 2)]
    found = compared(*(Measured(f"s{n}", 1.0, one) for n, one in enumerate(runs)), names=names)
    assert [place.words for place in found.places] == ["1", "2", "3"]
    assert [place.contender for place in found.places] == ["c", "b", "a"]


def test_the_interval_over_suites_covers_the_truth_as_often_as_it_says() -> None:
    """Suites of different spread and blocks; 2,000 campaigns, 95 % ± three standard errors."""
    random = np.random.default_rng(5)
    truth, inside = (math.log(1.1), math.log(0.95)), 0
    whole = 0.25 * truth[0] + 0.75 * truth[1]
    for _ in range(2000):
        parts = []
        for n, (weight, spread, blocks) in enumerate(((1.0, 0.08, 6), (3.0, 0.03, 9))):
            logs = random.normal(truth[n], spread, blocks)
            error = float(logs.std(ddof=1)) / math.sqrt(blocks)
            parts.append(_Part(str(n), weight, float(logs.mean()), error, blocks - 1, "", {}))
        _, low, high, _ = _joint(parts)
        inside += math.log(low) <= whole <= math.log(high)
    assert abs(inside / 2000 - 0.95) < 3 * math.sqrt(0.95 * 0.05 / 2000)
