"""Every way in which tables give a percentage: of which pair, metric and loads, by which mean, on which base."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

import numpy as np

from bakeoff.audit.interval import Interval
from bakeoff.audit.table import Column, Table
from bakeoff.formats.foreign.units import BETTER

Mean = Literal["each", "peak", "arithmetic", "geometric", "harmonic", "sums"]
# ratio: A ÷ B − 1. reduction: 1 − B ÷ A. times: A ÷ B.
Base = Literal["ratio", "reduction", "times"]
MOST_TABLES = 40


@dataclass(frozen=True)
class Reading:
    """`value` is from where to where the percentage (of `times`: the ratio) lies by the printed digits. `better` is
    ahead of `worse`. `loads` are the first and the last load, in words; `whole` that these are all of both.
    """

    better: str
    worse: str
    metric: str
    mean: Mean
    base: Base
    loads: tuple[str, str]
    whole: bool
    low: float
    high: float
    lower_is_better: bool


@dataclass(frozen=True)
class _Pair:
    """Gains of one over the other at common loads, in the order of loads: how many times better it is."""

    better: str
    worse: str
    metric: str
    at: tuple[float, ...]
    words: tuple[str, ...]
    mine: Interval
    theirs: Interval
    lower_is_better: bool

    def gain(self) -> Interval:
        return self.theirs / self.mine if self.lower_is_better else self.mine / self.theirs


def readings(tables: Sequence[Table], low: float | None, high: float | None) -> Iterator[Reading]:
    """All readings at loads from `low` to `high`."""
    for pair in _pairs(tables):
        inside = [
            place for place, at in enumerate(pair.at) if (low is None or at >= low) and (high is None or at <= high)
        ]
        if inside:
            yield from _of_pair(pair, inside)


def _pairs(tables: Sequence[Table]) -> Iterator[_Pair]:
    """Each contender against each other one, in both orders: who is ahead differs."""
    for one, other in permutations(tables[:MOST_TABLES], 2):
        if one.part != other.part or _name(one) == _name(other):
            continue
        for column in one.measured:
            if column.name in other.columns and (pair := _pair(one, other, column, other.columns[column.name])):
                yield pair


def _name(table: Table) -> str:
    return table.contender or table.file


def _pair(one: Table, other: Table, mine: Column, theirs: Column) -> _Pair | None:
    there = {row.where(): place for place, row in enumerate(other.rows)}
    rows = [
        (place, there[row.where()])
        for place, row in enumerate(one.rows)
        if row.where() in there and mine.known[place] and theirs.known[there[row.where()]]
    ]
    if not rows:
        return None
    left, right = [place for place, _ in rows], [place for _, place in rows]
    axis = one.axis or next(iter(one.loads), None)
    at = tuple(float(axis.base.low[place]) if axis is not None else 0.0 for place in left)
    lower = BETTER.get(mine.unit.quantity) == "lower" or mine.name == "errors"
    words = tuple(one.rows[place].where() for place in left)
    return _Pair(_name(one), _name(other), mine.name, at, words, mine.base[left], theirs.base[right], lower)


def _of_pair(pair: _Pair, inside: list[int]) -> Iterator[Reading]:
    gains = pair.gain()[inside]
    whole = len(inside) == len(pair.at)
    ends = (pair.words[inside[0]], pair.words[inside[-1]])
    for place, row in enumerate(inside):
        yield from _on_bases(pair, "each", (pair.words[row],) * 2, whole, gains[[place]])
    if len(inside) < 2:
        return
    for mean, value in _means(pair, gains, inside):
        yield from _on_bases(pair, mean, ends, whole, value)
    # A mean of reductions is another one than the reduction of a mean.
    less = (Interval.of(1.0) - Interval.of(1.0) / gains) * 100.0
    yield _reading(pair, "arithmetic", "reduction", ends, whole, _mean(less))


def _means(pair: _Pair, gains: Interval, inside: list[int]) -> Iterator[tuple[Mean, Interval]]:
    yield "arithmetic", _mean(gains)
    with np.errstate(all="ignore"):
        yield "geometric", Interval(np.exp(np.mean(np.log(gains.low))), np.exp(np.mean(np.log(gains.high))))
    yield "harmonic", Interval.of(1.0) / _mean(Interval.of(1.0) / gains)
    mine, theirs = _mean(pair.mine[inside]), _mean(pair.theirs[inside])
    yield "sums", theirs / mine if pair.lower_is_better else mine / theirs
    if not pair.lower_is_better:
        yield "peak", _peak(pair.mine[inside]) / _peak(pair.theirs[inside])


def _mean(values: Interval) -> Interval:
    return Interval.of(float(np.mean(values.low)), float(np.mean(values.high)))


def _peak(values: Interval) -> Interval:
    return Interval.of(float(np.max(values.low)), float(np.max(values.high)))


def _on_bases(pair: _Pair, mean: Mean, loads: tuple[str, str], whole: bool, gain: Interval) -> Iterator[Reading]:
    one = Interval.of(float(np.ravel(gain.low)[0]), float(np.ravel(gain.high)[0]))
    yield _reading(pair, mean, "ratio", loads, whole, (one - 1.0) * 100.0)
    yield _reading(pair, mean, "times", loads, whole, one)
    if mean != "arithmetic":
        yield _reading(pair, mean, "reduction", loads, whole, (Interval.of(1.0) - Interval.of(1.0) / one) * 100.0)


def _reading(pair: _Pair, mean: Mean, base: Base, loads: tuple[str, str], whole: bool, value: Interval) -> Reading:
    ends = (float(value.low), float(value.high))
    return Reading(pair.better, pair.worse, pair.metric, mean, base, loads, whole, *ends, pair.lower_is_better)
