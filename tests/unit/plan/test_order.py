from collections import Counter
from typing import Any

import pytest

from bakeoff.plan.load import resolve_plan
from bakeoff.plan.order import block_seed, order_trials, williams_square
from tests.unit.plan.test_load import flags


def plan(count: int, blocks: int, seed: int = 1) -> Any:
    words = [f"c{i}=http://127.0.0.1:{i + 1}" for i in range(count)]
    return resolve_plan(flags("web-static", *words, plan={"blocks": blocks, "seed": seed}))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_every_block_visits_everyone_at_every_mix(count: int) -> None:
    trials = order_trials(plan(count, 8))
    assert [t.order for t in trials] == list(range(count * 3 * 8))
    assert Counter((t.block, t.contender, t.mix.clients) for t in trials) == Counter(
        (block, f"c{i}", mix) for block in range(1, 9) for i in range(count) for mix in (1, 4, 8)
    )
    assert [t.block for t in trials] == sorted(t.block for t in trials)


def test_a_visit_is_not_interrupted_and_mixes_rise_then_fall() -> None:
    trials = order_trials(plan(2, 4))
    visits = [trials[i : i + 3] for i in range(0, len(trials), 3)]
    for visit in visits:
        assert len({(t.contender, t.block) for t in visit}) == 1
        expected = [1, 4, 8] if visit[0].block % 2 else [8, 4, 1]
        assert [t.mix.clients for t in visit] == expected


@pytest.mark.parametrize("seed", range(20))
def test_two_contenders_are_balanced_over_each_pair_of_blocks(seed: int) -> None:
    firsts = [t.contender for t in order_trials(plan(2, 8, seed)) if t.order % 6 == 0]
    for i in range(0, 8, 2):
        assert set(firsts[i : i + 2]) == {"c0", "c1"}


def test_the_order_is_random_but_repeatable() -> None:
    orders = {tuple(t.contender for t in order_trials(plan(2, 8, seed))) for seed in range(30)}
    assert len(orders) > 5
    assert order_trials(plan(3, 8, 5)) == order_trials(plan(3, 8, 5))


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
