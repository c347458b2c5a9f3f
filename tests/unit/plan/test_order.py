import operator
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from statistics import fmean

import pytest

from bakeoff.plan.design.order import block_seed, order_trials, williams_square
from bakeoff.plan.load import resolve_plan
from bakeoff.plan.model import Plan
from bakeoff.store.records.run_records import PlannedTrial
from tests.unit.plan.test_load import flags


def plan(count: int, blocks: int, seed: int = 1, order: str = "auto", load_steps: str = "1,4,8") -> Plan:
    words = [f"c{i}=http://127.0.0.1:{i + 1}" for i in range(count)]
    return resolve_plan(
        flags("web-static", *words, plan={"blocks": blocks, "seed": seed, "order": order}, clients=load_steps)
    )


@pytest.mark.parametrize("order", ["load_steps", "contenders"])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_every_block_visits_everyone_at_every_load_step(count: int, order: str) -> None:
    trials = order_trials(plan(count, 8, order=order))
    assert [t.order for t in trials] == list(range(count * 3 * 8))
    assert Counter((t.block, t.contender, t.load_step.clients) for t in trials) == Counter(
        (block, f"c{i}", load_step) for block in range(1, 9) for i in range(count) for load_step in (1, 4, 8)
    )
    assert [t.block for t in trials] == sorted(t.block for t in trials)


def test_a_visit_is_not_interrupted_and_load_steps_rise_then_fall() -> None:
    trials = order_trials(plan(2, 4, order="contenders"))
    slots = [trials[i : i + 3] for i in range(0, len(trials), 3)]
    for slot in slots:
        assert len({(t.contender, t.block) for t in slot}) == 1
        expected = [1, 4, 8] if slot[0].block % 2 else [8, 4, 1]
        assert [t.load_step.clients for t in slot] == expected


def turns(trials: list[PlannedTrial], count: int) -> list[tuple[int, int, tuple[str, ...]]]:
    """Block, load step and contenders of the trials that follow each other, so many at a time."""
    found = []
    for first in range(0, len(trials), count):
        turn = trials[first : first + count]
        assert len({(t.block, t.load_step) for t in turn}) == 1, "all contenders of a load step back to back"
        found.append((turn[0].block, turn[0].load_step.clients, tuple(t.contender for t in turn)))
    return found


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_by_load_steps_all_contenders_follow_each_other_and_load_steps_rise_then_fall(count: int) -> None:
    found = turns(order_trials(plan(count, 4, order="load_steps")), count)
    assert [load_step for _, load_step, _ in found] == [1, 4, 8, 8, 4, 1] * 2
    assert [block for block, _, _ in found] == [block for block in range(1, 5) for _ in range(3)]
    for (block, _, names), (after, _, others) in pairwise(found):
        assert names != others or block != after, "one load step has another order than the load step before it"


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_by_load_steps_each_load_step_has_each_row_of_a_square_once(count: int, seed: int) -> None:
    rows = len(williams_square(count))
    found = turns(order_trials(plan(count, 2 * rows, seed, "load_steps")), count)
    for load_step in (1, 4, 8):
        for blocks in (range(1, rows + 1), range(rows + 1, 2 * rows + 1)):
            own = [names for block, at, names in found if at == load_step and block in blocks]
            assert len(set(own)) == rows
            for place in range(count):
                assert set(Counter(names[place] for names in own).values()) == {rows // count}
            followers = Counter(pair for names in own for pair in pairwise(names))
            assert set(followers.values()) == {rows // count} and len(followers) == count * (count - 1)


def block_differences(trials: list[PlannedTrial], drift: Callable[[int], float]) -> list[float]:
    """Of equal contenders whose logarithm drifts by the trial: the mean difference over the load steps, by block."""
    cells = {(t.block, t.load_step, t.contender): drift(t.order) for t in trials}
    blocks, load_steps = sorted({t.block for t in trials}), {t.load_step for t in trials}
    return [fmean(cells[b, m, "c0"] - cells[b, m, "c1"] for m in load_steps) for b in blocks]


@pytest.mark.parametrize("seed", range(5))
def test_by_load_steps_a_linear_drift_stays_a_third_of_a_trial_in_a_block_and_is_gone_over_two(seed: int) -> None:
    """By contenders each difference is that of three trials: nine times as much."""
    fine = block_differences(order_trials(plan(2, 8, seed, "load_steps")), lambda order: 0.01 * order)
    coarse = block_differences(order_trials(plan(2, 8, seed, "contenders")), lambda order: 0.01 * order)
    assert [abs(d) for d in fine] == pytest.approx([0.01 / 3] * 8)
    assert [abs(d) for d in coarse] == pytest.approx([0.03] * 8)
    for i in range(0, 8, 2):
        assert fine[i] + fine[i + 1] == pytest.approx(0.0)
    even = block_differences(order_trials(plan(2, 8, seed, "load_steps", "1,2,4,8")), lambda order: 0.01 * order)
    assert even == pytest.approx([0.0] * 8), "with an even number of load steps it is gone within each block"


def test_by_load_steps_a_step_between_two_trials_touches_one_pair_at_most() -> None:
    """A neighbour of the machine comes and stays: by contenders it may part all load steps of one contender from the
    other's.
    """

    def worst(order: str) -> float:
        trials = order_trials(plan(2, 2, order=order))
        steps = [partial(operator.le, step) for step in range(12)]
        return max(max(map(abs, block_differences(trials, step))) for step in steps)

    assert (worst("load_steps"), worst("contenders")) == (pytest.approx(1 / 3), pytest.approx(1.0))


@pytest.mark.parametrize("order", ["load_steps", "contenders"])
def test_more_blocks_only_add_to_the_order(order: str) -> None:
    for blocks in range(1, 9):
        less = order_trials(plan(3, blocks, order=order))
        assert order_trials(plan(3, 9, order=order))[: len(less)] == less


@pytest.mark.parametrize("order", ["load_steps", "contenders"])
@pytest.mark.parametrize("seed", range(20))
def test_two_contenders_are_balanced_over_each_pair_of_blocks(seed: int, order: str) -> None:
    firsts = [t.contender for t in order_trials(plan(2, 8, seed, order)) if t.order % 6 == 0]
    for i in range(0, 8, 2):
        assert set(firsts[i : i + 2]) == {"c0", "c1"}


@pytest.mark.parametrize("order", ["load_steps", "contenders"])
def test_the_order_is_random_but_repeatable(order: str) -> None:
    orders = {tuple(t.contender for t in order_trials(plan(2, 8, seed, order))) for seed in range(30)}
    assert len(orders) > 5
    assert order_trials(plan(3, 8, 5, order)) == order_trials(plan(3, 8, 5, order))


def test_plans_of_before_there_was_a_choice_keep_their_order() -> None:
    """Run files of then are gone on with, and blocks are added to them."""
    stored = plan(3, 8, 5).to_dict()
    assert stored.pop("order") == "load_steps"
    old = Plan.from_dict(stored)
    assert old.order == "contenders" and old.to_dict() == stored, "and so their hash"
    assert "".join(t.contender[1] for t in order_trials(old) if t.load_step.clients == 4) == "021210120012201102201120"


def test_one_seed_per_block_shared_by_all_contenders() -> None:
    trials = order_trials(plan(3, 6))
    by_block = {b: {t.seed for t in trials if t.block == b} for b in range(1, 7)}
    assert all(len(seeds) == 1 for seeds in by_block.values())
    assert len(set.union(*by_block.values())) == 6
    assert block_seed(1, 1) != block_seed(2, 1)
    assert all(0 <= t.seed < 2**53 for t in trials)


@pytest.mark.parametrize("size", range(1, 8))
def test_williams_squares_balance_place_and_succession(size: int) -> None:
    rows = williams_square(size)
    per_place = len(rows) // size
    for place in range(size):
        assert Counter(row[place] for row in rows) == dict.fromkeys(range(size), per_place)
    successions = Counter((row[i], row[i + 1]) for row in rows for i in range(size - 1))
    assert len(set(successions.values())) <= 1
    assert len(successions) == size * (size - 1)
