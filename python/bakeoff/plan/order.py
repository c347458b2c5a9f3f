"""The order of trials: randomised complete blocks.

In each block every contender is visited once. The order of visits comes from Williams squares, shuffled: over
each square every contender stands in every place, and follows every other one, equally often; with two
contenders that gives AB BA or BA AB at random. Within a visit the mixes rise in odd blocks and fall in even
ones, so that heat and hysteresis are not mistaken for the load. All trials of a block share one
seed: the same random requests for every contender.
"""

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bakeoff.plan.model import Plan
from bakeoff.store.records import PlannedTrial


def order_trials(plan: Plan) -> list[PlannedTrial]:
    """All trials of a plan in the order in which they run; the same plan always gives the same order. Of a search there
    are none: it plans them as it goes.
    """
    trials: list[PlannedTrial] = []
    for visit in order_visits(plan):
        mixes = plan.mixes if visit.block % 2 else tuple(reversed(plan.mixes))
        for mix in mixes:
            trials.append(PlannedTrial(len(trials), visit.contender, mix, visit.block, visit.seed))
    return trials


@dataclass(frozen=True)
class Visit:
    """A contender in a block; all visits of a block have its seed."""

    contender: str
    block: int
    seed: int


def order_visits(plan: Plan) -> list[Visit]:
    """All visits of a plan in their order."""
    orders = _block_orders([c.name for c in plan.contenders], random.Random(plan.seed))
    return [
        Visit(contender, block, block_seed(plan.seed, block))
        for block in range(1, plan.blocks + 1)
        for contender in next(orders)
    ]


def block_seed(seed: int, block: int) -> int:
    """The seed of one block: 53 bits, so that it survives JSON."""
    digest = hashlib.sha256(f"bakeoff block {seed} {block}".encode()).digest()
    return int.from_bytes(digest[:7], "big") >> 3


def williams_square(size: int) -> list[list[int]]:
    """Rows of places 0..size-1, balanced for position and succession; odd sizes need their mirror rows."""
    first, low, high = [0], 1, size - 1
    while len(first) < size:
        first.append(low if len(first) % 2 else high)
        low, high = (low + 1, high) if len(first) % 2 == 0 else (low, high - 1)
    rows = [[(place + shift) % size for place in first] for shift in range(size)]
    return rows + [row[::-1] for row in rows] if size % 2 and size > 1 else rows


def _block_orders(names: Sequence[str], rng: random.Random) -> Iterator[list[str]]:
    while True:
        labels = list(names)
        rng.shuffle(labels)
        rows = williams_square(len(labels))
        rng.shuffle(rows)
        yield from ([labels[place] for place in row] for row in rows)
