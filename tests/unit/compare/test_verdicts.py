"""Verdicts on runs whose true answer is known."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import pytest

from bakeoff.compare import Comparison, compare_run
from bakeoff.core.errors import PlanError
from bakeoff.report.compose import compose
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.document import to_json
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.report.renderers.terminal import render
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.records.trial_parts import EMPTY_SUMMARY
from tests.told import headline_of, texts_of
from tests.unit.compare.synthetic import FAST, FULL_LOAD_STEPS, SLOW, Server, change, run
from tests.unit.compare.synthetic_cells import matrix_run

TWIN = replace(FAST, name="twin")


def kind(comparison: Comparison) -> str:
    return comparison.pairs[0].primary.verdict.kind


def test_a_real_difference_is_found_and_worded() -> None:
    found = compare_run(run())
    end = found.pairs[0].primary
    assert end.verdict.kind == "better"
    assert end.verdict.winner == "nginx"
    assert end.low < end.ratio < end.high < 1.0
    assert headline_of(found)[0].startswith(
        f"nginx is better: apache serves {wording.ratio(end.ratio, end.low, end.high)} the requests/s of nginx (95"
    )
    assert headline_of(found)[0].endswith("6 blocks, weighted geometric mean over 3 load steps from 1 to 8 clients).")


def test_swapping_the_baseline_mirrors_the_ratio() -> None:
    one, other = compare_run(run()), compare_run(run(), baseline="apache")
    assert one.pairs[0].primary.ratio == pytest.approx(1.0 / other.pairs[0].primary.ratio)
    assert other.pairs[0].primary.verdict.winner == "nginx"
    assert headline_of(one)[0].startswith("nginx is better: apache serves 0.")
    assert headline_of(other)[0].startswith("nginx is better: nginx serves 1.")


def test_equal_contenders_are_equivalent_when_quiet() -> None:
    found = compare_run(run((FAST, TWIN), blocks=8))
    assert kind(found) == "equivalent"
    assert "equivalent within ±5 %" in headline_of(found)[0]


@pytest.mark.parametrize("spread", [0.005, 0.02, 0.05])
def test_equal_contenders_get_no_better_verdict(spread: float) -> None:
    """A/A: at least 19 of 20 runs without a winner; here 60 runs for each spread, full path, three load steps."""
    pair = (replace(FAST, spread=spread), replace(TWIN, spread=spread))
    wins = sum(kind(compare_run(run(pair, seed=seed, window_s=2.0))) == "better" for seed in range(60))
    assert wins <= 3


def test_noise_gives_inconclusive_with_a_number_of_blocks() -> None:
    noisy = (replace(FAST, spread=0.25), replace(FAST, name="other", spread=0.25))
    end = compare_run(run(noisy, seed=3)).pairs[0].primary
    assert end.verdict.kind == "inconclusive"
    assert end.verdict.more_blocks is None or end.verdict.more_blocks >= 1


def test_a_run_of_one_load_step_says_the_same_at_its_load_step_as_in_its_first_line() -> None:
    """Seen: "No winner yet … 1.32× (1.11–1.57)" above a row "1.32× (1.11–1.57)  xfs better": t alone decided there."""

    def one_block_is_against_it(contender: str, block: int, cell: dict[str, Any]) -> None:
        cell["rate_kib_s"] *= {"nfs": 1.0, "cifs": 0.99 if block == 3 else 1.35}[contender]

    record = matrix_run(lambda *_: 1.0, tests=("read",), spread=0.0, change=one_block_is_against_it)
    (pair,) = compare_run(record).pairs
    end, (point,) = pair.primary, pair.curves[0].points
    assert end.low > 1.0 and end.p_adjusted < 0.05 < end.p_sign_flip
    assert end.verdict.kind == "inconclusive" == point.verdict.kind
    assert (point.ratio, point.low, point.high) == pytest.approx((end.ratio, end.low, end.high))


def test_fewer_than_six_blocks_give_numbers_without_verdict() -> None:
    found = compare_run(run(blocks=5))
    assert kind(found) == "too_few"
    assert found.pairs[0].primary.verdict.more_blocks == 1
    assert found.pairs[0].primary.ratio < 1.0
    assert "no verdict" in headline_of(found)[0]
    assert any("5 complete blocks" in warning.text for warning in warnings_of(found))


def test_all_pairs_that_a_voided_trial_leaves_with_few_blocks_are_named() -> None:
    """Seen: one voided trial of ext4 left three pairs with five blocks, and one of them was named."""
    record = change(run((FAST, SLOW, TWIN)), "nginx", 8, (2,), state="voided", reason="suspended")
    texts = [warning.text for warning in warnings_of(compare_run(record))]
    assert "Only 5 complete blocks of apache and nginx, of twin and nginx: numbers without a verdict." in texts, texts


def test_one_block_and_one_contender_do_not_break() -> None:
    assert kind(compare_run(run(blocks=1))) == "too_few"
    alone = compare_run(run((FAST,)))
    assert alone.pairs == ()
    assert headline_of(alone)[0].startswith("Peak: nginx")


def test_delta_of_the_plan_can_be_replaced() -> None:
    found = compare_run(run(), delta=0.5)
    texts = "chosen for this comparison: 50 %, not 5 % as planned"
    assert any(texts in warning.text for warning in warnings_of(found))
    assert not any("as planned" in warning.text for warning in warnings_of(compare_run(run(), delta=0.05)))
    assert kind(found) == "equivalent"
    with pytest.raises(PlanError, match="delta"):
        compare_run(run(), delta=1.5)
    with pytest.raises(PlanError, match="nginx, apache"):
        compare_run(run(), baseline="caddy")


def test_failed_trials_of_the_leader_withhold_the_verdict() -> None:
    record = change(run(blocks=8), "nginx", 8, (2,), state="failed", reason="crashed")
    found = compare_run(record)
    end = found.pairs[0].primary
    assert (end.blocks, end.forfeited, end.pairs_counted) == (8, {"nginx": 1, "apache": 0}, 24)
    assert end.verdict.kind in ("withheld", "inconclusive")
    assert "nginx failed 1 of 24 trials" in texts_of(end.verdict.reasons)
    assert "1 of 24 pairs forfeited by nginx counted as 10 times slower" in headline_of(found)[0]
    assert [(t.contender, str(t.load_step), t.block, sentence(t.reason)) for t in found.left_out] == [
        ("nginx", "8", 2, "crashed")
    ]


def test_failed_trials_of_the_loser_are_only_noted() -> None:
    record = change(run(blocks=8), "apache", 8, (2,), state="failed", reason="crashed")
    end = compare_run(record).pairs[0].primary
    assert end.verdict.kind == "better"
    assert texts_of(end.verdict.reasons) == ("apache failed 1 of 24 trials",)


def test_voided_and_interrupted_trials_leave_their_pair_out_without_blame() -> None:
    record = change(run(blocks=8), "nginx", 1, (3,), state="voided", reason="out of ports")
    record = change(record, "apache", 4, (8,), state="interrupted", reason="Ctrl-C")
    found = compare_run(record)
    assert found.pairs[0].primary.blocks == 6
    assert kind(found) == "better"
    assert {t.state for t in found.left_out} == {"voided", "interrupted"}


def test_a_load_step_at_which_one_breaks_is_lost() -> None:
    record = change(run(load_steps=(1, 4, 8, 16), blocks=8), "nginx", 16, None, state="failed", reason="refused")
    found = compare_run(record)
    end = found.pairs[0].primary
    assert [load_step.x for load_step in end.load_steps] == [1, 4, 8, 16] and end.load_steps_left_out == ()
    assert (end.blocks, end.forfeited["nginx"]) == (8, 8)
    assert end.verdict.winner != "nginx"
    point = found.pairs[0].curves[0].points[3]
    assert (point.verdict.winner, point.blocks, point.forfeited["nginx"]) == ("apache", 8, 8)
    assert sentence(found.contenders[0].shape).endswith("8 trials failed")
    assert "8 of 32 pairs forfeited by nginx counted as 10 times slower" in headline_of(found)[0]
    lost = [(t.contender, t.load_step.clients, t.block) for t in found.forfeited]
    assert lost == [("nginx", 16, block) for block in range(1, 9)]


def test_a_trial_without_success_counts_as_broken() -> None:
    record = change(run(), "apache", 8, (1,), operations=0, operations_per_s=0.0, service=EMPTY_SUMMARY)
    found = compare_run(record)
    assert found.left_out[0].state == "failed"
    assert "not one operation succeeded" in sentence(found.left_out[0].reason)
    assert found.contenders[1].trials_failed == 1


def test_all_trials_failed() -> None:
    record = change(run(), "apache", None, None, state="failed", reason="refused")
    found = compare_run(record)
    assert (
        headline_of(found)[0] == "apache forfeited all of its 18 trials in which nginx was measured: nginx is better."
    )
    assert found.pairs[0].primary.verdict.winner == "nginx"
    assert found.contenders[1].peak_load_step is None
    assert '"peak":null' in to_json(found).replace(" ", "")
    shown = render(compose(record, found)).decode()
    assert "apache forfeited all" in shown
    assert not re.search(r"1/10\b|0\.10+×|10\.0×", shown), "what a loss counts as is no ratio"
    twin = found.pairs[0].primary
    assert twin.all_forfeited == "apache" and replace(twin, pairs_counted=19).all_forfeited == ""


@pytest.mark.parametrize("mark", ["generator-limited", "link-limited"])
@pytest.mark.parametrize(
    ("limited", "verdict"),
    [(("nginx",), "better"), (("apache",), "withheld"), (("nginx", "apache"), "withheld")],
)
def test_a_limited_generator(limited: tuple[str, ...], verdict: str, mark: str) -> None:
    """If only the leader was held back its lead is a lower bound; if the other one was, nothing is known."""
    record = run()
    for name in limited:
        record = change(record, name, None, None, marks=(mark,))
    found = compare_run(record)
    assert kind(found) == verdict
    assert ("at most" in headline_of(found)[0]) == (verdict == "better")
    assert ("at least" in headline_of(compare_run(record, "apache"))[0]) == (verdict == "better")


def test_equivalence_is_withheld_when_the_generator_was_the_limit() -> None:
    record = change(run((FAST, TWIN), blocks=8), "twin", None, None, marks=("generator-limited",))
    assert kind(compare_run(record)) == "withheld"


def test_a_fast_server_with_wrong_answers_does_not_win() -> None:
    wrong = {"protocol": 2_000}
    found = compare_run(change(run(), "nginx", 8, None, errors=wrong))
    assert kind(found) == "withheld"
    assert "wrongly" in sentence(found.pairs[0].primary.verdict)
    assert kind(compare_run(change(run(), "apache", 8, None, errors=wrong))) == "better"


def test_many_errors_of_the_leader_withhold_the_verdict() -> None:
    found = compare_run(change(run(), "nginx", None, None, errors={"refused": 10_000}))
    assert kind(found) == "withheld"
    assert found.contenders[0].errors == {"refused": 180_000}
    assert "refused 180,000" in " ".join(warning.text for warning in warnings_of(found))


def test_three_contenders_are_compared_in_all_pairs() -> None:
    third = Server("lighttpd", 38_000.0, 0.1)
    found = compare_run(run((FAST, SLOW, third), blocks=8), baseline="apache")
    assert [(p.baseline, p.contender) for p in found.pairs] == [
        ("apache", "nginx"), ("apache", "lighttpd"), ("nginx", "lighttpd"),
    ]  # fmt: skip
    assert all(pair.primary.p_adjusted >= pair.primary.p_t for pair in found.pairs)
    assert found.pairs[0].curves[0].level == pytest.approx(1.0 - 0.05 / 3)
    assert {pair.primary.verdict.winner for pair in found.pairs} == {"nginx", "lighttpd"}


def unfinished() -> RunRecord:
    record = run(blocks=8)
    return replace(record, finished_at=None, trials=record.trials[:-4])


def test_an_unfinished_run_is_compared_and_says_so() -> None:
    found = compare_run(unfinished())
    assert found.pairs[0].primary.blocks == 7
    assert found.pairs[0].primary.blocks_left_out == (8,)
    assert "4 of 48 planned trials were not run" in warnings_of(found)[0].text


def test_the_endpoint_is_the_weighted_mean_of_the_load_steps() -> None:
    from bakeoff.stats import trapezoid_weights

    found = compare_run(run(load_steps=FULL_LOAD_STEPS, blocks=6))
    logs = [math.log(point.ratio) for point in found.pairs[0].curves[0].points]
    expected = sum(w * x for w, x in zip(trapezoid_weights(FULL_LOAD_STEPS), logs, strict=True))
    assert math.log(found.pairs[0].primary.ratio) == pytest.approx(expected)


def test_bands_are_wider_than_plain_intervals() -> None:
    from bakeoff.stats import paired_log_ratio

    record = run(blocks=8)
    point = compare_run(record).pairs[0].curves[0].points[1]
    rates = {
        name: [t.operations_per_s for t in sorted(record.trials, key=lambda t: t.block)
               if t.contender == name and t.load_step.clients == 4]
        for name in ("nginx", "apache")
    }  # fmt: skip
    plain = paired_log_ratio(rates["apache"], rates["nginx"])
    assert point.ratio == pytest.approx(plain.ratio)
    assert point.low < plain.low < plain.high < point.high


def test_the_comparison_survives_json() -> None:
    import json

    found = compare_run(change(run(), "apache", 8, None, state="failed", reason="refused"))
    read = json.loads(to_json(found))
    assert read["schema"] == "bakeoff-comparison/1"
    assert read["pairs"][0]["primary"]["verdict"]["kind"] == "better"
    assert read["pairs"][0]["primary"]["forfeited"] == {"nginx": 0, "apache": 6}
    assert len(read["forfeited"]) == 6 and read["forfeited"][0]["reason"] == "refused"
