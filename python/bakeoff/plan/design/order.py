"""The order of trials: randomised complete blocks.

In each block every contender is measured once at every load step, in one of two orders. By `load_steps`, trials that
are compared follow each other: all contenders back to back at each load step, so that what drifts from one half minute
to the next hits both sides of a ratio. By `contenders`, a contender has all its load steps in one piece: where it is
reset before, or where what its trials leave behind (caches, files) would otherwise be driven out by the others.

The order of contenders comes from Williams squares, shuffled: over each square every contender stands in every place,
and follows every other one, equally often. By contenders a block takes one row of the square. By load steps each load
step takes one, another than the load step before it, and over as many blocks as the square has rows every load step has
had each of them: with two contenders AB BA AB, then BA AB BA, or the other way round. Load steps rise in odd blocks and
fall in even ones, so that heat and hysteresis are not mistaken for the load. All trials of a block share one seed: the
same random requests for every contender.
"""

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bakeoff.load.load_step import LoadStep
from bakeoff.plan.model import LOAD_STEPS, Plan
from bakeoff.store.records.run_records import PlannedTrial


def order_trials(plan: Plan) -> list[PlannedTrial]:
    """All trials of a plan in the order in which they run; the same plan always gives the same order, and more blocks
    only add to it. Of a search there are none: it plans them as it goes.
    """
    steps = _by_load_steps(plan) if plan.order == LOAD_STEPS else _by_contenders(plan)
    seeds = {block: block_seed(plan.seed, block) for block in range(1, plan.blocks + 1)}
    return [
        PlannedTrial(number, name, load_step, block, seeds[block])
        for number, (block, name, load_step) in enumerate(steps)
    ]


@dataclass(frozen=True)
class Slot:
    """A contender in a block; all slots of a block have its seed."""

    contender: str
    block: int
    seed: int


def order_slots(plan: Plan) -> list[Slot]:
    """All slots of a plan that has them, in their order."""
    rows = (row for square in _squares(plan) for row in square)
    return [
        Slot(contender, block, block_seed(plan.seed, block))
        for block in range(1, plan.blocks + 1)
        for contender in next(rows)
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


def shuffled_square(size: int, rng: random.Random) -> list[list[int]]:
    """The rows of a Williams square in random order."""
    rows = williams_square(size)
    rng.shuffle(rows)
    return rows


def _by_contenders(plan: Plan) -> Iterator[tuple[int, str, LoadStep]]:
    for slot in order_slots(plan):
        for load_step in _load_steps(plan, slot.block):
            yield slot.block, slot.contender, load_step


def _by_load_steps(plan: Plan) -> Iterator[tuple[int, str, LoadStep]]:
    squares = _squares(plan)
    places = {load_step: place for place, load_step in enumerate(plan.load_steps)}
    rows = next(squares)
    for block in range(1, plan.blocks + 1):
        row = (block - 1) % len(rows)
        if row == 0 and block > 1:
            rows = next(squares)
        for load_step in _load_steps(plan, block):
            for contender in rows[(row + places[load_step]) % len(rows)]:
                yield block, contender, load_step


def _load_steps(plan: Plan, block: int) -> Sequence[LoadStep]:
    return plan.load_steps if block % 2 else tuple(reversed(plan.load_steps))


def _squares(plan: Plan) -> Iterator[list[list[str]]]:
    """Rows of contenders, square after square."""
    names, rng = [contender.name for contender in plan.contenders], random.Random(plan.seed)
    while True:
        labels = list(names)
        rng.shuffle(labels)
        yield [[labels[place] for place in row] for row in shuffled_square(len(labels), rng)]
