"""Factorial designs: which pairs of combinations make up an effect, and an effect's log-ratios over blocks.

Everything is a sum of log-ratios of two combinations that differ in one factor, both measured in the same block. A main
effect is their mean over all combinations of the other factors; an interaction is how much larger such a log-ratio is
at one level of another factor than at another, again as a mean over the rest. In a complete design with two levels
these are the orthogonal contrasts of a 2^k factorial; where a combination is missing the mean is over those that are
there, and what nothing is left of has no contrast.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

Cell = tuple[int, ...]
Logs = NDArray[np.float64]


@dataclass(frozen=True)
class Term:
    """`weight` times ln(upper / lower); both differ in one factor."""

    weight: float
    lower: Cell
    upper: Cell


@dataclass(frozen=True)
class Contrast:
    """The effect of going from the levels `below` to the levels `above` of `factors`: of one factor its main effect, of
    more their interaction. It is the mean over `contexts` of the `wanted` combinations of the other factors.
    """

    factors: tuple[int, ...]
    below: Cell
    above: Cell
    terms: tuple[Term, ...]
    contexts: int
    wanted: int


def contrasts(
    levels: Sequence[int], present: NDArray[np.bool_], planned: NDArray[np.bool_] | None = None
) -> tuple[Contrast, ...]:
    """All effects of a design whose factors have so many `levels`, of one factor first; `present`, of shape `levels`,
    says which combinations there are. Every pair of levels is a contrast. Those without any context have no terms.

    Where some combinations have no level of a factor, the shape has one place more for them, behind its levels. No
    contrast leads there. `planned`, of the same shape, then says which combinations were to be; a contrast of others is
    left out.
    """
    found = (
        _contrast(present, planned, factors, *ends)
        for order in range(1, len(levels) + 1)
        for factors in combinations(range(len(levels)), order)
        for ends in _pairs([levels[factor] for factor in factors])
    )
    return tuple(contrast for contrast in found if contrast.wanted)


def at_level(contrast: Contrast, factor: int, level: int) -> Contrast:
    """The same effect at one level of a factor that is none of its own, over the contexts that are left."""
    terms = [term for term in contrast.terms if term.lower[factor] == level]
    share = sum(abs(term.weight) for term in terms)
    whole = sum(abs(term.weight) for term in contrast.terms)
    contexts = round(contrast.contexts * share / whole) if whole else 0
    scale = whole / share if share else 0.0
    scaled = tuple(replace(term, weight=term.weight * scale) for term in terms)
    return replace(contrast, terms=scaled, contexts=contexts)


def between(one: Cell, other: Cell, factors: Sequence[int], present: NDArray[np.bool_]) -> Contrast:
    """How two combinations of levels of `factors` differ, as a mean over those of the others that both have."""
    levels = present.shape
    free = [factor for factor in range(len(levels)) if factor not in factors]
    pairs = []
    for context in product(*(range(levels[factor]) for factor in free)):
        rest = dict(zip(free, context, strict=True))
        pair = tuple(_cell({**rest, **dict(zip(factors, ends, strict=True))}) for ends in (one, other))
        if present[pair[0]] and present[pair[1]]:
            pairs.append(pair)
    terms = tuple(Term(1.0 / len(pairs), *pair) for pair in pairs)
    wanted = int(np.prod([levels[factor] for factor in free], dtype=int))
    return Contrast(tuple(factors), one, other, terms, len(pairs), wanted)


def block_logs(contrast: Contrast, pairs: Mapping[tuple[Cell, Cell], Logs], shape: tuple[int, int]) -> Logs:
    """The log-ratio of an effect, shape (load steps, blocks): NaN where one of its pairs, ln(upper / lower), has
    none.
    """
    total = np.zeros(shape)
    for term in contrast.terms:
        total = total + term.weight * pairs[term.lower, term.upper]
    return total if contrast.terms else np.full(shape, np.nan)


def _pairs(levels: Sequence[int]) -> Iterator[tuple[Cell, Cell]]:
    """Two levels of each factor, the lower first, in all ways."""
    for chosen in product(*(combinations(range(number), 2) for number in levels)):
        yield tuple(low for low, _ in chosen), tuple(high for _, high in chosen)


def _contrast(
    present: NDArray[np.bool_], planned: NDArray[np.bool_] | None, factors: tuple[int, ...], below: Cell, above: Cell
) -> Contrast:
    levels = present.shape
    free = [factor for factor in range(len(levels)) if factor not in factors]
    wanted = 0
    kept: list[list[Term]] = []
    for context in product(*(range(levels[factor]) for factor in free)):
        terms = list(_terms(dict(zip(free, context, strict=True)), factors, below, above))
        if planned is not None and not all(planned[term.lower] and planned[term.upper] for term in terms):
            continue
        wanted += 1
        if all(present[term.lower] and present[term.upper] for term in terms):
            kept.append(terms)
    scaled = tuple(replace(term, weight=term.weight / len(kept)) for terms in kept for term in terms)
    return Contrast(factors, below, above, scaled, len(kept), wanted)


def _terms(context: Mapping[int, int], factors: tuple[int, ...], below: Cell, above: Cell) -> Iterator[Term]:
    """The log-ratios along the last of `factors`, at each choice of the ends of the others: plus where all of these are
    above, and another sign for each that is below.
    """
    *others, last = range(len(factors))
    for high in product((False, True), repeat=len(others)):
        chosen = {factors[i]: (above if up else below)[i] for i, up in zip(others, high, strict=True)}
        sign = -1.0 if (len(others) - sum(high)) % 2 else 1.0
        ends = (_cell({**context, **chosen, factors[last]: level}) for level in (below[last], above[last]))
        yield Term(sign, *ends)


def _cell(levels: Mapping[int, int]) -> Cell:
    return tuple(levels[factor] for factor in range(len(levels)))
