"""Which pairs of contenders a report draws: those against the baseline, those asked for, and the rest in folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bakeoff.core.errors import PlanError

ALL = "all"
# So many other pairs, and cells of them, are drawn in folds unasked: a page is to open at once.
FEW, FEW_CELLS = 3, 300


class Pair(Protocol):
    """Two contenders, the second divided by the first."""

    @property
    def baseline(self) -> str: ...
    @property
    def contender(self) -> str: ...


@dataclass(frozen=True)
class ShownPairs:
    """The pairs that were asked for beside those against the baseline: they stand in the open; with `every` all others
    are in folds, however many.
    """

    chosen: frozenset[frozenset[str]] = frozenset()
    every: bool = False

    def in_the_open(self, pair: Pair, baseline: str) -> bool:
        """Whether a pair is drawn in the open."""
        return pair.baseline == baseline or frozenset((pair.baseline, pair.contender)) in self.chosen

    def folded(self, pair: Pair, baseline: str, others: int, cells: int) -> bool:
        """Whether it is drawn in a fold, of so many `others` that are not in the open, with `cells` in each."""
        few = others <= FEW and others * cells <= FEW_CELLS
        return not self.in_the_open(pair, baseline) and (self.every or few)


BASELINE_AND_FEW = ShownPairs()


def shown_pairs(words: Sequence[str], names: Sequence[str]) -> ShownPairs:
    """The pairs of `b,c` words, either way round, or `all`. Raises PlanError for what is no pair of `names`."""
    chosen = set()
    for word in words:
        pair = frozenset(name.strip() for name in word.split(","))
        if word == ALL:
            continue
        if len(pair) != 2 or word.count(",") != 1:
            raise PlanError(f"--pair {word!r}: write two contenders, as b,c, or {ALL}")
        if unknown := next((name for name in sorted(pair) if name not in names), None):
            raise PlanError(f"--pair {word!r}: there is no contender {unknown!r}: choose of {', '.join(names)}")
        chosen.add(pair)
    return ShownPairs(frozenset(chosen), ALL in words)
