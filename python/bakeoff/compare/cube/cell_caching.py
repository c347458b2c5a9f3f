"""Where caching is strong, weak and none, over file size × record size: read from the jump of a contender's rates."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from bakeoff.compare.cube.cells import CellArray, CellKey
from bakeoff.compare.model.cell import CachedDespiteFall, CacheRule, CacheUnknown, CacheZone, FewFileSizes, NoFall
from bakeoff.compare.model.fact import Fact

# A cache is faster than what lies behind it by this much at least; a level is one within this ratio.
CACHE_FALL, LEVEL = 3.0, 1.6
LEAST_FILES = 3
# Of one record size: file sizes to which caching is strong, those between, from which on it is none; times lower;
# whether more than the largest are so low.
Ends = tuple[float, tuple[float, ...], float, bool]


def cache_rules(arrays: Sequence[CellArray], in_memory: frozenset[str]) -> tuple[CacheRule, ...]:
    """A rule for each contender, load step and group of tests that have the same one. None of a contender
    `in_memory`.
    """
    return tuple(
        rule
        for array in arrays
        for place, name in enumerate(array.contenders)
        if name not in in_memory
        for rule in _rules(array, place)
    )


def _rules(array: CellArray, contender: int) -> list[CacheRule]:
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(array.rates[contender])
    columns: dict[str, dict[float, dict[float, float]]] = defaultdict(lambda: defaultdict(dict))
    cached = {array.keys[at] for side, at in array.cached if side == contender}
    for at, (test, file, record) in enumerate(array.keys):
        row = logs[at][np.isfinite(logs[at])]
        if file and record and row.size:
            columns[test][record / 1024.0][file / 1024.0] = float(row.mean())
    by_stretches: dict[tuple[tuple[tuple[float, float], Ends | Fact], ...], list[tuple[str, list[float]]]] = (
        defaultdict(list)
    )
    for test, by_record in columns.items():
        found = {
            record: _unless_cached(_fall(by_file), [file for file in by_file if _key(test, file, record) in cached])
            for record, by_file in by_record.items()
        }
        stretches = _stretches({record: rule if isinstance(rule, Fact) else rule[0] for record, rule in found.items()})
        falls = [
            _median([rule[1] for record, rule in found.items() if not isinstance(rule, Fact) and low <= record <= high])
            for (low, high), _ in stretches
        ]
        by_stretches[tuple(stretches)].append((test, falls))
    return [_rule(array, contender, stretches, tests) for stretches, tests in by_stretches.items()]


def _rule(
    array: CellArray,
    contender: int,
    stretches: tuple[tuple[tuple[float, float], Ends | Fact], ...],
    tests: list[tuple[str, list[float]]],
) -> CacheRule:
    zones, unknown = [], []
    for place, (records, rule) in enumerate(stretches):
        if isinstance(rule, Fact):
            unknown.append(CacheUnknown(*records, rule))
        else:
            strong, weak, none, levelled = rule
            fall = _median([falls[place] for _, falls in tests])
            zones.append(CacheZone(*records, strong, weak, none, fall, levelled))
    named = tuple(test for test, _ in tests)
    return CacheRule(array.contenders[contender], array.load_step, named, tuple(zones), tuple(unknown))


def _stretches(by_record: Mapping[float, Ends | Fact]) -> list[tuple[tuple[float, float], Ends | Fact]]:
    """Neighbouring record sizes with the same ends, or the same reason, as one."""
    found: list[tuple[tuple[float, float], Ends | Fact]] = []
    for record, rule in sorted(by_record.items(), key=lambda one: one[0]):
        if found and found[-1][1] == rule:
            found[-1] = ((found[-1][0][0], record), rule)
        else:
            found.append(((record, record), rule))
    return found


def _fall(by_file: Mapping[float, float]) -> tuple[Ends, float] | Fact:
    """Of logarithms of rates by file size: the ends and how many times lower the last level is; or why nobody can tell.

    The low level lasts to the end; what a size between the two has is weak.
    """
    sizes = sorted(by_file)
    levels = [by_file[size] for size in sizes]
    if len(levels) < LEAST_FILES:
        return FewFileSizes(LEAST_FILES)
    top, bottom = max(levels), levels[-1]
    if top - bottom < math.log(CACHE_FALL):
        return NoFall(sizes[-1], CACHE_FALL)
    high = [place for place, level in enumerate(levels) if level >= top - math.log(LEVEL)]
    low = len(levels) - 1
    while low > 0 and levels[low - 1] <= bottom + math.log(LEVEL):
        low -= 1
    weak = tuple(sizes[high[-1] + 1 : low])
    return (sizes[high[-1]], weak, sizes[low], low < len(levels) - 1), math.exp(top - bottom)


def _key(test: str, file_kib: float, record_kib: float) -> CellKey:
    return test, round(file_kib * 1024), round(record_kib * 1024)


def _unless_cached(rule: tuple[Ends, float] | Fact, cached: Sequence[float]) -> tuple[Ends, float] | Fact:
    """A fall behind which a cache still served files, by what disk or wire carried, is not where caching ends."""
    if isinstance(rule, Fact) or not cached or max(cached) < rule[0][2]:
        return rule
    return CachedDespiteFall(float(f"{rule[1]:.2g}"), max(cached))


def _median(values: Sequence[float]) -> float:
    return float(np.median(values)) if values else math.nan
