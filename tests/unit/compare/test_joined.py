"""Several run files together, against drifts and ratios that are known: nothing is put together that disagrees, and
what no file has both of is never called a winner without a bridge.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bakeoff.compare import Comparison, compare_run
from bakeoff.compare.collections.joined_model import BridgesContradict, Joined, OtherWork, WithheldInFile
from bakeoff.core.errors import PlanError
from bakeoff.report.narrate.document import to_json
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.verdict.interim import interim_text
from bakeoff.stats import farthest_apart, unpaired_from_logs
from bakeoff.store.collections.join import join, label
from bakeoff.store.records.run_records import ADDED, CLEAR, AmendmentRecord, PlannedTrial, RunRecord
from tests.told import headline_of
from tests.unit.compare.synthetic import Server, change, run
from tests.unit.compare.synthetic_cells import blocks_run

DRIFT, TRUE = 0.8, 1.10
LOAD_STEPS, BLOCKS = (1, 4), 8
A, B, C = (
    Server(name, 40_000.0 * times, 0.1 / times, spread=0.01) for name, times in (("a", 1), ("b", TRUE), ("c", 2))
)
VERDICTS = ("is better", "is faster", "is equivalent", "are equivalent")
ADDRESSES = {"a": "http://192.0.2.1", "b": "http://192.0.2.2", "c": "http://192.0.2.3", "d": "http://192.0.2.4"}


def slower(server: Server, times: float) -> Server:
    return replace(server, capacity=server.capacity * times, base_ms=server.base_ms / times)


def day(name: str, *servers: Server, drift: float = 1.0, seed: int = 1, blocks: int = BLOCKS) -> RunRecord:
    """A run file of its own day, on which everything is as fast as `drift` has it."""
    record = run(tuple(slower(one, drift) for one in servers), LOAD_STEPS, blocks, seed=seed)
    at = f"2026-11-{seed:02d}T10:00:00.000+00:00"
    contenders = tuple(replace(one, address=ADDRESSES[one.name]) for one in record.contenders)
    plan = {**record.plan, "contenders": [{"name": s.name} for s in servers], "seed": seed}
    return replace(record, path=Path(f"{name}.bakeoff"), created_at=at, contenders=contenders, plan=plan)


def of(found: Comparison) -> Joined:
    assert found.joined is not None
    return found.joined


def test_over_a_bridge_the_drift_is_gone_and_the_interval_holds_the_truth() -> None:
    found = compare_run(join([day("x", A, C, seed=1), day("y", B, C, drift=DRIFT, seed=2)]))
    (pair,) = of(found).between
    assert (pair.baseline, pair.contender, pair.bridges) == ("a", "b", ("c",))
    assert pair.low < TRUE < pair.high and pair.high / pair.low < 1.05 and pair.blocks == (BLOCKS, BLOCKS)
    assert pair.winner == "b" and sentence(pair) == "b better (over the bridge of c, unpaired: measured in other files)"
    (drift,) = of(found).drifts
    assert (drift.contender, drift.file, drift.against) == ("c", "B", "A") and drift.low < DRIFT < drift.high
    (texts,) = [text for text in headline_of(found) if text.startswith("b ÷ a")]
    assert "unpaired" in texts and "A change between the files cancels if it hit all alike" in texts
    assert found.winner == "c", "who is in both files was measured beside either; the other two share a place"
    assert [place.words for place in found.ranking if place.contender in "ab"] == ["2–3", "2–3"]


def test_without_a_bridge_days_and_servers_cannot_be_told_apart() -> None:
    """The days make the better one look 12 % worse: whoever trusted the bare ratio would be wrong."""
    found = compare_run(join([day("x", A, seed=1), day("y", B, drift=DRIFT, seed=2)]))
    (pair,) = of(found).between
    assert pair.ratio == pytest.approx(TRUE * DRIFT, rel=0.03) and np.isnan(pair.low) and np.isnan(pair.p)
    assert pair.kind == "withheld" and pair.winner is None and sentence(pair).startswith("cannot tell: unpaired")
    assert pair.explained_by == pytest.approx(1.0 / pair.ratio - 1.0)
    assert not any(word in text for word in VERDICTS for text in headline_of(found))
    assert headline_of(found)[0].startswith("b and a cannot be ranked")
    assert found.pairs == () and found.ranking == () and found.winner is None


def test_a_bridge_that_was_measured_under_another_plan_carries_no_verdict() -> None:
    other = day("y", B, C, drift=DRIFT, seed=2)
    other = replace(other, plan={**other.plan, "settings": {**other.plan["settings"], "keep_alive": True}})
    found = compare_run(join([day("x", A, C, seed=1), other]))
    (pair,) = of(found).between
    assert pair.ratio == pytest.approx(TRUE, rel=0.03) and pair.kind == "withheld" and pair.why_not == OtherWork()
    assert [c.name for c in found.contenders] == ["a", "c (A)", "b", "c (B)"]
    assert next((d.sort, d.item, d.values) for d in of(found).differences) == (
        "work", "settings · keep_alive", ("false", "true"),
    )  # fmt: skip


def test_the_same_over_bridges_is_held_to_all_pairs_together() -> None:
    """At the smallest δ at which two by themselves are just shown to be the same, they are not beside a third one."""
    files = [day("x", A, C, seed=1), day("y", replace(A, name="b"), C, seed=2)]
    third = day("z", replace(B, name="d"), C, seed=3)

    def same(runs: list[RunRecord], delta: float) -> bool:
        between = of(compare_run(join(runs), delta=delta)).between
        return next(pair for pair in between if (pair.baseline, pair.contender) == ("a", "b")).kind == "equivalent"

    deltas = [each / 1000 for each in range(8, 40)]
    smallest = deltas[bisect_left(deltas, True, key=lambda delta: same(files, delta))]
    assert same(files, smallest) and not same([*files, third], smallest) and same([*files, third], deltas[-1])


def test_bridges_that_contradict_each_other_carry_none() -> None:
    d = Server("d", 50_000.0, 0.07)
    days = [day("x", A, C, seed=1), day("y", B, C, drift=DRIFT, seed=2)]
    for place, (at, times) in enumerate(zip(days, (1.0, 1.5), strict=True)):
        more = run((slower(d, times),), LOAD_STEPS, BLOCKS, seed=7)
        days[place] = replace(
            at, contenders=(*at.contenders, replace(more.contenders[0], address="http://192.0.2.4")),
            trials=(*at.trials, *more.trials),
        )  # fmt: skip
    (pair,) = of(compare_run(join(days))).between
    assert pair.bridges == ("c", "d") and pair.winner is None and isinstance(pair.why_not, BridgesContradict)


def test_a_bridge_whose_generator_was_the_limit_carries_none() -> None:
    limited = change(day("x", A, C, seed=1), "c", None, None, marks=("generator-limited",))
    (pair,) = of(compare_run(join([limited, day("y", B, C, seed=2, drift=DRIFT)]))).between
    assert pair.winner is None and isinstance(pair.why_not, WithheldInFile)


def halves(whole: RunRecord) -> list[RunRecord]:
    """A run as two files of half of its blocks each."""
    half = whole.blocks_planned // 2
    files = []
    for place, name in enumerate("xy"):
        trials = tuple(
            replace(trial, block=trial.block - place * half)
            for trial in whole.trials
            if (trial.block > half) == bool(place)
        )
        at = f"2026-11-2{place}T10:00:00.000+00:00"
        files.append(
            replace(whole, path=Path(f"{name}.bakeoff"), created_at=at, trials=trials, blocks_planned=half,
                    trials_planned=len(trials), plan={**whole.plan, "blocks": half})
        )  # fmt: skip
    return files


def test_equal_days_are_the_run_of_all_blocks_to_which_half_was_added() -> None:
    whole = day("whole", A, B, blocks=16)
    added = AmendmentRecord(whole.created_at, ADDED, "+8", 8, 8, 16, None, whole.plan_hash)
    expected = compare_run(replace(whole, amendments=(added,)))
    found = compare_run(join(halves(whole)))
    assert found.run.blocks_measured == 16 and found.pairs == expected.pairs and found.curves == expected.curves
    plain = compare_run(whole).pairs[0].primary
    assert (found.pairs[0].primary.ratio, found.pairs[0].primary.log_sd) == (plain.ratio, plain.log_sd)
    (pair,) = of(found).pairs
    assert pair.counted == "together" and pair.same_verdict and found.pairs[0].primary.verdict.winner == "b"
    assert pair.apart_low < 1.0 < pair.apart_high and pair.files_low < TRUE < pair.files_high
    assert [one.blocks for one in pair.files] == [8, 8]
    assert any("so that their blocks count together; the verdict is the same in each" in t for t in headline_of(found))


def test_days_that_disagree_are_not_put_together() -> None:
    better, worse = day("x", A, B, seed=1), day("y", slower(A, TRUE**2), B, seed=2)
    found = compare_run(join([better, worse]))
    verdict = found.pairs[0].primary.verdict
    assert verdict.kind == "withheld" and found.winner is None
    assert "the run files differ: 1.1" in sentence(verdict) and "in A and 0.9" in sentence(verdict)
    assert all(p.verdict.kind == "withheld" for curve in found.pairs[0].curves[:1] for p in curve.points)
    (pair,) = of(found).pairs
    assert pair.counted == "apart" and not pair.same_verdict and pair.why == "contradiction"
    assert [one.verdict.winner for one in pair.files] == ["b", "a"]


def test_cells_and_operations_of_days_that_disagree_are_not_put_together() -> None:
    days = []
    for number, times in ((1, 1.2), (2, 0.8)):
        record = blocks_run(lambda *_, times=times: times)  # type: ignore[misc]
        days.append(replace(record, path=Path(f"{number}.bakeoff"), created_at=f"2026-11-0{number}T10:00:00.000+00:00"))
    found = compare_run(join(days))
    assert found.cells is not None and found.cells.pairs == () and found.pairs[0].exploratory.tested == 0
    assert found.pairs[0].primary.verdict.kind == "withheld" and not any("120" in text for text in headline_of(found))
    agreeing = compare_run(join([days[0], replace(days[0], path=Path("3.bakeoff"), created_at="2026-11-03")]))
    assert agreeing.cells is not None and len(agreeing.cells.pairs) == 1


def test_single_blocks_of_several_days_have_a_verdict_from_six_on() -> None:
    days = [day(f"{seed}", A, B, seed=seed, blocks=1) for seed in range(1, 8)]
    two, six = compare_run(join(days[:2])), compare_run(join(days[:6]))
    assert two.pairs[0].primary.verdict.kind == "too_few" and "widened" not in headline_of(two)[0]
    assert any("none of them has blocks enough for a verdict of its own" in text for text in headline_of(two))
    assert six.pairs[0].primary.verdict.winner == "b" and "widened" not in headline_of(six)[0]
    (pair,) = of(six).pairs
    assert (pair.files_low, pair.files_high) == pytest.approx((six.pairs[0].primary.low, six.pairs[0].primary.high))


def test_days_of_one_winner_by_another_size_say_both_sizes() -> None:
    found = compare_run(join([day("x", A, B, seed=1), day("y", A, slower(B, 1.2), seed=2)]))
    end = found.pairs[0].primary
    assert end.verdict.winner == "b" and [gate.level for gate in end.gates] == ["amber"]
    assert of(found).pairs[0].counted == "each" and any("no one size holds" in text for text in headline_of(found))


def test_what_a_file_withholds_is_not_made_good_by_another() -> None:
    """Of all trials the generator was the limit in half of them only."""
    limited = change(day("x", A, B, seed=1), "a", None, None, marks=("generator-limited",))
    found = compare_run(join([limited, day("y", A, B, seed=2)]))
    assert found.pairs[0].primary.verdict.kind == "withheld" and of(found).pairs[0].why == "held"


def test_a_name_at_another_address_is_another_contender() -> None:
    moved = day("y", A, C, seed=2)
    moved = replace(moved, contenders=(replace(moved.contenders[0], address="http://192.0.2.99"), moved.contenders[1]))
    found = compare_run(join([day("x", A, C, seed=1), moved]))
    assert [c.name for c in found.contenders] == ["a (A)", "c", "a (B)"]
    assert [(p.baseline, p.contender, p.bridges) for p in of(found).between] == [("a (A)", "a (B)", ("c",))]
    assert {c.address for c in found.contenders} == {"http://192.0.2.1", "http://192.0.2.3", "http://192.0.2.99"}


def test_machines_and_versions_that_differ_are_named() -> None:
    other = day("y", A, B, seed=2)
    other = replace(other, environment={**other.environment, "kernel": "6.9"}, tool={**other.tool, "version": "0.2.0"})
    joined = of(compare_run(join([day("x", A, B, seed=1), other])))
    assert {(d.sort, d.item, d.values) for d in joined.differences} == {
        ("environment", "kernel", ("6.1.0", "6.9")), ("software", "version", ("0.1.0", "0.2.0")),
        ("plan", "seed", ("1", "2")),
    }  # fmt: skip


def test_secrets_are_told_apart_and_not_told() -> None:
    days = [day("x", A, C, seed=1), day("y", B, C, seed=2)]
    for place, value in enumerate(("geheim-1", "geheim-2")):
        settings = {**days[place].plan["settings"], "basic_auth": value, "headers": [f"x: {value}"]}
        days[place] = replace(days[place], plan={**days[place].plan, "settings": settings})
    found = compare_run(join(days))
    shown = [d.values for d in of(found).differences if d.sort == "work"]
    assert shown == [(None, None)] * 2 and "geheim" not in to_json(found)


def failing(record: RunRecord, contender: str = "b") -> RunRecord:
    return change(record, contender, 4, None, state="failed", reason="crashed")


NOTES = (("2026-11-21", "b failed at 4 clients, new driver, run again"),)


def test_a_failed_run_stands_beside_its_repetition() -> None:
    broken, again = failing(day("x", A, B, seed=1)), day("y", A, B, seed=2)
    found = compare_run(join([broken, again], ["x.bakeoff"], NOTES))
    alone = compare_run(again)
    assert found.pairs[0].primary.ratio == alone.pairs[0].primary.ratio
    assert [gate.name for gate in found.pairs[0].primary.gates] == ["repeated trials"]
    assert len(found.repeated) == BLOCKS and {each.again for each in found.repeated} == {"ok"}
    joined = of(found)
    assert [file.failed for file in joined.files] == [True, False] and found.notes[0].date == "2026-11-21"
    assert len(joined.failed) == len(broken.trials), "also what went well in it"
    crashed = [one for one in joined.failed if one.state == "failed"]
    assert {(one.contender, one.reason) for one in crashed} == {("b", "crashed")} and len(crashed) == BLOCKS
    assert all(np.isnan(one.value) and one.repeated > 0.0 for one in crashed)
    (if_counted,) = joined.if_counted
    assert if_counted.ratio < 0.7 < found.pairs[0].primary.ratio
    texts = " ".join(headline_of(found))
    assert "A failed and was repeated" in texts and "2026-11-21: b failed at 4 clients" in texts
    assert "b had failed 8 trials before they were repeated" in texts


def test_no_unwanted_day_is_called_a_failed_one() -> None:
    good, broken, again = day("x", A, B, seed=1), failing(day("z", A, C, seed=3), "c"), day("y", A, B, seed=2)
    with pytest.raises(PlanError, match="has no failed, voided or missing trial: it counts"):
        join([good, again], ["A"], NOTES)
    with pytest.raises(PlanError, match="say when and why, as --note"):
        join([failing(good), again], ["A"])
    with pytest.raises(PlanError, match=r"no other file repeats c of z\.bakeoff"):
        join([broken, again], ["A"], NOTES)
    with pytest.raises(PlanError, match="one of them has to count"):
        join([failing(good), failing(again)], ["A", "B"], NOTES)
    with pytest.raises(PlanError, match=r"is none of the run files: name one of x\.bakeoff, y\.bakeoff"):
        join([failing(good), again], ["w.bakeoff"], NOTES)
    with pytest.raises(PlanError, match="name it, too"):
        join([failing(good)], ["x.bakeoff"], NOTES)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"tool": {"imported_from": "iozone"}}, "was imported from iozone"),
        ({"plan": {"capacity": {"objective": "p99<=50ms"}}}, "is a search for capacities"),
        ({"plan": {"settings": {"interval_s": 3600.0}}}, "is a soak"),
        ({"trials": ()}, "has no trial yet"),
        ({"suite": "web-dynamic"}, "are of different work"),
    ],
)
def test_what_cannot_be_told_of_together_is_refused_in_one_sentence(changed: dict[str, object], expected: str) -> None:
    one = day("x", A, B, seed=1)
    with pytest.raises(PlanError, match=expected) as refused:
        join([one, replace(day("y", A, B, seed=2), **changed)])  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)


def test_a_copy_that_went_on_further_is_no_other_day() -> None:
    whole = day("whole", A, B)
    part = replace(whole, path=Path("copy.bakeoff"), trials=whole.trials[:8])
    with pytest.raises(PlanError, match=r"have trials in common \(8\)"):
        join([part, whole])
    with pytest.raises(PlanError, match="101 run files are too many"):
        join([whole] * 101)


def test_plans_that_name_different_smallest_differences_need_one() -> None:
    days = join([day("x", A, B, seed=1), replace(day("y", A, B, seed=2), delta=0.02)])
    with pytest.raises(PlanError, match=r"different smallest differences \(0.02 and 0.05\): give one by --delta"):
        compare_run(days)
    assert compare_run(days, delta=0.05).run.delta == 0.05


def test_letters_of_files() -> None:
    assert [label(place) for place in (0, 25, 26, 51, 52)] == ["A", "Z", "AA", "AZ", "BA"]


def test_statistics_of_little_say_little() -> None:
    assert np.isnan(unpaired_from_logs([], [0.1]).ratio)
    one = unpaired_from_logs([0.0, 0.1], [0.2])
    assert one.ratio == pytest.approx(np.exp(0.15)) and np.isnan(one.low) and np.isnan(one.p)
    apart = farthest_apart([[0.0], [0.3], [0.1]], 0.05)
    assert apart.places == (0, 1) and np.isnan(apart.p)
    three = farthest_apart([[0.0, 0.01, 0.02], [0.3, 0.31, 0.32], [0.01, 0.02, 0.0]], 0.05)
    assert three.places == (0, 1) and three.p < 0.001 < unpaired_from_logs([0.0, 0.02], [0.0, 0.01]).p
    assert three.ratio.ratio == pytest.approx(np.exp(0.3)) and unpaired_from_logs([0.0, 0.0], [0.0, 0.0]).p == 1.0


def analysed_at(blocks: int, ended: bool) -> RunRecord:
    """a and b, of analyses after 6, 12 and 18 blocks as many as `blocks` make; `ended` says that the run is over."""
    record = day("x", A, B, blocks=blocks)
    last = record.load_steps[-1]
    missing = tuple(PlannedTrial(0, "b", last, block, 1) for block in range(blocks + 1, 19))
    stopped = AmendmentRecord(record.created_at, CLEAR, "stopped", blocks, 18, blocks, None, record.plan_hash)
    return replace(
        record, plan={**record.plan, "interim_analyses": [6, 12, 18]}, blocks_planned=18,
        amendments=(stopped,) if ended else (), pending=() if ended else missing,
    )  # fmt: skip


def test_a_file_that_stands_beside_another_undoes_no_analysis_of_it() -> None:
    """Who stopped at the first of three analyses would else have the interval of a plan that was to end there."""
    early, other = analysed_at(6, True), day("y", C, seed=2)
    alone, joined = compare_run(early).pairs[0].primary, compare_run(join([early, other])).pairs[0].primary
    assert alone.high / alone.low > 1.01 and (joined.low, joined.high) == (alone.low, alone.high)
    usual = compare_run(join([replace(early, plan=day("x", A, B).plan), other]))
    assert (
        usual.pairs[0].primary.low > joined.low and usual.run.interim is not None and not usual.run.interim.is_reported
    )
    found = compare_run(join([early, other]))
    assert found.run.interim is not None and "so that all analyses together keep" in interim_text(found.run.interim)
    assert any("as wide as the planned interim analyses of the files ask for" in text for text in headline_of(found))


def test_a_file_between_two_of_its_analyses_is_analysed_by_whoever_reads_it_beside_another() -> None:
    found = compare_run(join([analysed_at(8, False), day("y", C, seed=2)])).run.interim
    assert found is not None and found.earlier == (6,) and found.alpha < 0.005 and found.level > 0.995


def test_when_a_run_was_to_end_is_no_part_of_its_work() -> None:
    one, other = day("x", A, B, seed=1), day("y", A, B, seed=2)
    other = replace(other, plan={**other.plan, "until": "clear", "interim_analyses": [6, 8]})
    early = replace(one, plan={**one.plan, "until_clear": False})
    assert of(compare_run(join([early, other]))).same_work
