"""Several run files together: whether those of one plan agree, and what may be said of contenders that no file has both
of.

What is measured on another day meets another machine. A pair inside a file is paired as ever; two files are two samples
that nothing pairs. What drifted between them for all contenders alike drops out of a ratio of ratios over a contender
that both have, and out of nothing else: without one the difference of days cannot be told from that of servers.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bakeoff.compare.collections.joined_model import (
    BetweenPair,
    BridgesContradict,
    CountedWhy,
    Drift,
    FileRatio,
    FileVerdictKind,
    HeldBeside,
    JoinedPair,
    LostOutright,
    OtherWork,
)
from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.cube.forfeits import PairLogs
from bakeoff.compare.cube.whole_blocks import Mask, kept_load_steps, kept_of_pair, over_load_steps
from bakeoff.compare.estimate.interim import ALPHA
from bakeoff.compare.estimate.intervals import both_shown, turned
from bakeoff.compare.estimate.pairs import leader, pair_logs, reach
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.model.comparison import Comparison
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.gate import FilesDiffer
from bakeoff.compare.model.pair import Gate, GateLevel, Verdict
from bakeoff.compare.validity.gates import Judge
from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.stats import Decision, UnpairedRatio, farthest_apart, holm, over_groups, unpaired_from_logs
from bakeoff.store.records.run_records import JoinedFile, RunRecord

Logs = NDArray[np.float64]


@dataclass(frozen=True)
class Together:
    """Several files on one table: `files` are those that count, `alone` what each says by itself, by its label."""

    run: RunRecord
    cube: Cube
    decides: Metric
    alone: Mapping[str, Comparison]
    delta: float

    @property
    def files(self) -> tuple[JoinedFile, ...]:
        """Those that count."""
        return tuple(file for file in self.run.joined if not file.failed)

    def within(self, file: JoinedFile) -> Mask:
        """Which blocks are those of a file, shape (blocks,)."""
        return np.array([block in file.blocks for block in self.cube.blocks], dtype=bool)

    def having(self, *names: str) -> list[JoinedFile]:
        """The files with all of these contenders."""
        return [file for file in self.files if all(name in file.names for name in names)]

    def logs(self, baseline: str, contender: str, metric: Metric | None = None) -> PairLogs:
        """The primary endpoint of a pair, or another metric of it."""
        return pair_logs(self.cube, metric or self.decides, baseline, contender)

    def levels(self, name: str) -> Logs:
        """Logarithms of the primary figure of a contender, shape (load steps, blocks); NaN where there is none."""
        values = self.cube.values(self.decides.extract)[self.cube.index(name)]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(values > 0.0, np.log(values), math.nan)

    def known(self, name: str) -> tuple[str, str]:
        """By what a contender is known in every file."""
        return self.having(name)[0].identity(name)


def joined_pairs(told: Together, metric: Metric) -> tuple[JoinedPair, ...]:
    """Every pair that several files have; where their plans differ, by what the contenders are called in the files."""
    same: dict[tuple[str, str], list[tuple[JoinedFile, str, str]]] = defaultdict(list)
    for file in told.files:
        for pair in combinations(told.cube.contenders, 2):
            if all(name in file.names for name in pair):
                same[pair].append((file, *pair))
    other: dict[tuple[tuple[str, str], tuple[str, str]], list[tuple[JoinedFile, str, str]]] = defaultdict(list)
    for pair, files in same.items():
        other[told.known(pair[0]), told.known(pair[1])] += files
    pairs = [_joined_pair(told, metric, files, True) for files in same.values() if len(files) > 1]
    for files in other.values():
        if len({(one, two) for _, one, two in files}) > 1:
            pairs.append(_joined_pair(told, metric, files, False))
    return tuple(pairs)


def _joined_pair(
    told: Together, metric: Metric, files: Sequence[tuple[JoinedFile, str, str]], same_work: bool
) -> JoinedPair:
    ratios = tuple(_alone(told.alone[file.label], file, metric, one, two) for file, one, two in files)
    outcomes = [told.logs(one, two, metric) for _, one, two in files]
    kept: Mask = np.logical_and.reduce([kept_of_pair(each)[0] for each in outcomes])
    groups = [_group(told, file, each, kept) for (file, _, _), each in zip(files, outcomes, strict=True)]
    there = [at for at, group in enumerate(groups) if group.size]
    labels = [files[at][0].label for at in there]
    if len(there) > 1:
        apart = farthest_apart([groups[at] for at in there], told.delta)
        between, ratio, p = (labels[apart.places[0]], labels[apart.places[1]]), apart.ratio, apart.p
    else:
        between, ratio, p = ("", ""), UnpairedRatio((0, 0), math.nan, math.nan, math.nan), math.nan
    over = over_groups([groups[at] for at in there]) if there else None
    kinds = {(each.verdict.kind, each.verdict.winner) for each in ratios}
    names = [files[0][1], files[0][2]] if same_work else [files[0][0].names[name] for name in files[0][1:]]
    counted, why = _counted(ratios, ratio, p, told.delta) if same_work else ("apart", "other_plans")
    return JoinedPair(
        baseline=names[0],
        contender=names[1],
        files=ratios,
        same_work=same_work,
        apart_files=between,
        apart=ratio.ratio,
        apart_low=ratio.low,
        apart_high=ratio.high,
        apart_p=p,
        files_low=math.nan if over is None else over.low,
        files_high=math.nan if over is None else over.high,
        counted=counted,
        why=why,
        same_verdict=len(kinds) == 1,
    )


def _group(told: Together, file: JoinedFile, outcomes: PairLogs, kept: Mask) -> Logs:
    """The log-ratios of the blocks of a file, over the load steps that all files have; without blocks that have a
    hole.
    """
    logs = over_load_steps(told.cube, outcomes.settled(), kept)[told.within(file)]
    found: Logs = logs[np.isfinite(logs)]
    return found


def _alone(comparison: Comparison, file: JoinedFile, metric: Metric, baseline: str, contender: str) -> FileRatio:
    """What a file says by itself, turned to the pair as it stands here."""
    (pair,) = [pair for pair in comparison.pairs if {pair.baseline, pair.contender} == {baseline, contender}]
    end = next((one for one in (pair.primary, *pair.secondary) if one.metric == metric.key), None)
    if end is None:  # too few operations in this file for this figure
        return FileRatio(file.label, math.nan, math.nan, math.nan, 0, Verdict("too_few"))
    is_turned = pair.baseline != baseline
    ratio = 1.0 / end.ratio if is_turned else end.ratio
    low, high = turned(end.low, end.high) if is_turned else (end.low, end.high)
    # How many blocks are still needed is said once: of all files together.
    return FileRatio(file.label, ratio, low, high, end.blocks, end.verdict.without_number())


def _counted(
    ratios: Sequence[FileRatio], apart: UnpairedRatio, p: float, delta: float
) -> tuple[FileVerdictKind, CountedWhy]:
    """Whether blocks of all files count together. What a file withholds by itself is not made good by another."""
    winners = {each.verdict.winner for each in ratios if each.verdict.kind == "better"}
    equal = any(each.verdict.kind == "equivalent" for each in ratios)
    differ = p <= ALPHA and not (apart.low > 1.0 / (1.0 + delta) and apart.high < 1.0 + delta)
    if any(each.verdict.kind == "withheld" for each in ratios):
        return "apart", "held"
    if len(winners) > 1 or (winners and equal):
        return "apart", "contradiction"
    if differ:
        return ("each", "other_sizes") if all(each.verdict.kind == "better" for each in ratios) else ("apart", "differ")
    if math.isnan(p):
        return "together", "one_block"
    return "together", "not_shown" if p > ALPHA else "within_delta"


def file_gates(told: Together, metrics: Sequence[Metric]) -> dict[tuple[str, frozenset[str]], Gate]:
    """What keeps blocks of several files from counting together, or qualifies it: by metric and pair."""
    return {
        (metric.key, frozenset((pair.baseline, pair.contender))): _gate(pair)
        for metric in metrics
        for pair in joined_pairs(told, metric)
        if pair.same_work and pair.counted != "together"
    }


def _gate(pair: JoinedPair) -> Gate:
    level: GateLevel = "red" if pair.counted == "apart" else "amber"
    files = tuple((each.file, each.ratio, each.low, each.high) for each in pair.files)
    return Gate("files", level, pair.contender, FilesDiffer(files))


def drifts(told: Together) -> tuple[Drift, ...]:
    """Each contender that several files have, in each of them against the first that has it."""
    known: dict[tuple[str, str], list[tuple[JoinedFile, str]]] = defaultdict(list)
    for file in told.files:
        for name in file.names:
            known[file.identity(name)].append((file, name))
    found = []
    for (called, _), (first, *others) in known.items():
        for other in others:
            kept = _common([told.levels(name)[:, told.within(file)] for file, name in (first, other)])
            below, above = (over_load_steps(told.cube, told.levels(n), kept)[told.within(f)] for f, n in (first, other))
            ratio = unpaired_from_logs(below, above, told.delta)
            same = first[1] == other[1]
            found.append(
                Drift(called, other[0].label, first[0].label, same, ratio.ratio, *_bounds(ratio), ratio.p, ratio.blocks)
            )
    return tuple(found)


def _common(levels: Sequence[Logs]) -> Mask:
    """The load steps that each has in half of its blocks at least."""
    both: Mask = np.logical_and.reduce([kept_load_steps(np.isfinite(one))[0] for one in levels])
    return both


def _bounds(ratio: UnpairedRatio) -> tuple[float, float]:
    return both_shown(ratio.low, ratio.high, min(ratio.blocks))


def between_pairs(told: Together, judge: Judge, pairs: Sequence[JoinedPair]) -> tuple[BetweenPair, ...]:
    """Every two contenders that no file has both of, but for one that is the same under two plans."""
    apart = [
        pair
        for pair in combinations(told.cube.contenders, 2)
        if not told.having(*pair) and told.known(pair[0]) != told.known(pair[1]) and not _in_one_file(told, *pair)
    ]
    bridged = [(pair, bridges) for pair in apart if (bridges := _bridges(told, *pair))]
    ratios = {pair: _over_bridges(told, *pair, bridges) for pair, bridges in bridged}
    found = [ratio for ratio, _, _ in ratios.values()]
    difference, equivalence = holm([ratio.p for ratio in found]), holm([ratio.p_equivalence for ratio in found])
    adjusted = dict(zip(ratios, zip(map(float, difference), map(float, equivalence), strict=True), strict=True))
    return tuple(
        _bridged(told, judge, pairs, pair, dict(bridged)[pair], ratios[pair], adjusted[pair])
        if pair in ratios
        else _unbridged(told, *pair)
        for pair in apart
    )


def _in_one_file(told: Together, one: str, other: str) -> bool:
    """Whether a file has both under the names of its own: then it is the one that pairs them."""
    both = {told.known(one), told.known(other)}
    return any(both <= {file.identity(name) for name in file.names} for file in told.files)


Bridge = tuple[str, str]


def _bridges(told: Together, baseline: str, contender: str) -> tuple[Bridge, ...]:
    """Contenders that stand in a file beside either, by their names there."""
    beside = []
    for name in (baseline, contender):
        others = {other for file in told.having(name) for other in file.names if other != name}
        beside.append({told.known(other): other for other in sorted(others)})
    return tuple((beside[0][one], beside[1][one]) for one in beside[0] if one in beside[1])


def _over_bridges(
    told: Together, baseline: str, contender: str, bridges: Sequence[Bridge]
) -> tuple[UnpairedRatio, Mask, bool]:
    """The ratio of ratios, the load steps that it is over, and whether a loss is in it."""
    sides = [[told.logs(bridge[side], name) for bridge in bridges] for side, name in enumerate((baseline, contender))]
    kept: Mask = np.logical_and.reduce([kept_of_pair(one)[0] for side in sides for one in side])
    below, above = (
        np.mean([over_load_steps(told.cube, one.settled(), kept) for one in side], axis=0) for side in sides
    )
    lost = any(bool(marks[kept].any()) for side in sides for one in side for marks in (*one.lost, one.ties))
    return unpaired_from_logs(below, above, told.delta), kept, lost


def _bridged(
    told: Together,
    judge: Judge,
    pairs: Sequence[JoinedPair],
    pair: tuple[str, str],
    bridges: Sequence[Bridge],
    found: tuple[UnpairedRatio, Mask, bool],
    adjusted: tuple[float, float],
) -> BetweenPair:
    ratio, kept, lost = found
    names = tuple(dict.fromkeys(told.known(one)[0] for one, _ in bridges))
    why_not = _why_not(told, judge, pairs, pair, bridges, lost)
    load_steps = tuple(load_step for load_step, keep in zip(told.cube.load_steps, kept, strict=True) if keep)
    low, high = _bounds(ratio)
    is_above = ratio.ratio > 1.0
    decision = _decision(ratio, *adjusted, told.delta, judge.interim.alpha)
    verdict, _ = judge.verdict(
        decision, *pair, load_steps, leader(pair, is_above, told.decides), min(ratio.blocks), reach(low, high, is_above)
    )
    if verdict.kind in ("disqualified", "too_few"):
        why_not = None
    kind, winner = (verdict.kind, verdict.winner) if why_not is None else ("withheld", None)
    return BetweenPair(
        *pair, names, ratio.ratio, low, high, ratio.p, adjusted[0], ratio.blocks, _explained(ratio.ratio),
        kind, winner, verdict, why_not,
    )  # fmt: skip


def _decision(ratio: UnpairedRatio, p: float, p_equivalence: float, delta: float, alpha: float) -> Decision:
    """Both p values are corrected for the other pairs (Holm)."""
    if min(ratio.blocks) < MINIMUM_BLOCKS:
        return Decision("too_few", MINIMUM_BLOCKS - min(ratio.blocks))
    certain = p <= alpha and (ratio.low > 1.0 or ratio.high < 1.0)
    if certain and abs(math.log(ratio.ratio)) >= math.log1p(delta):
        return Decision("higher" if ratio.ratio > 1.0 else "lower", 0)
    if p_equivalence <= alpha:
        return Decision("equivalent", 0)
    return Decision("near_margin" if certain else "inconclusive", None)


def _why_not(
    told: Together,
    judge: Judge,
    pairs: Sequence[JoinedPair],
    pair: tuple[str, str],
    bridges: Sequence[Bridge],
    lost: bool,
) -> Fact | None:
    """What keeps a bridge from carrying a verdict; None when nothing does."""
    if any(one != other for one, other in bridges):
        return OtherWork()
    if lost:
        return LostOutright()
    names = {one for one, _ in bridges}
    for told_pair in pairs:
        if {told_pair.baseline, told_pair.contender} <= names and told_pair.counted != "together":
            return BridgesContradict(told_pair)
    for file in told.files:
        strict = replace(judge, both=True, metric=told.decides.key, cube=_of_file(told.cube, file))
        for name, bridge in ((name, bridge) for name in pair for bridge in sorted(names)):
            if not {name, bridge} <= file.names.keys():
                continue
            _, gates = strict.verdict(
                Decision("equivalent", 0), bridge, name, told.cube.load_steps, name, MINIMUM_BLOCKS
            )
            if red := [gate for gate in gates if gate.level == "red"]:
                return HeldBeside(red[0])
    return None


def _of_file(cube: Cube, file: JoinedFile) -> Cube:
    """The trials of a file alone: what was amiss in all of them is not much of those of all files."""
    return replace(
        cube,
        trials={key: one for key, one in cube.trials.items() if key[2] in file.blocks},
        usable={key: one for key, one in cube.usable.items() if key[2] in file.blocks},
        lost={key: why for key, why in cube.lost.items() if key[2] in file.blocks},
    )


def _unbridged(told: Together, baseline: str, contender: str) -> BetweenPair:
    """The bare ratio. No interval of it is honest: what changed between the files may be all of it."""
    masks = [np.logical_or.reduce([told.within(file) for file in told.having(name)]) for name in (baseline, contender)]
    levels = [told.levels(name)[:, mask] for name, mask in zip((baseline, contender), masks, strict=True)]
    kept = _common(levels)
    below, above = (
        over_load_steps(told.cube, told.levels(name), kept)[mask]
        for name, mask in zip((baseline, contender), masks, strict=True)
    )
    ratio = unpaired_from_logs(below, above, told.delta)
    lost = tuple(name for name in (baseline, contender) if told.cube.losses(name).any())
    nothing = math.nan
    return BetweenPair(
        baseline, contender, (), ratio.ratio, nothing, nothing, nothing, nothing, ratio.blocks,
        _explained(ratio.ratio), "withheld", None, lost=lost,
    )  # fmt: skip


def _explained(ratio: float) -> float:
    """The change of the slower one that would be all of a ratio: 0.2 for 1.2 and for 1/1.2."""
    return math.exp(abs(math.log(ratio))) - 1.0 if ratio > 0.0 else math.nan
