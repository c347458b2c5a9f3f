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
from functools import reduce
from itertools import combinations
from operator import or_

import numpy as np
from numpy.typing import NDArray

from bakeoff.compare.collections.joined_model import (
    BetweenPair,
    BridgesContradict,
    CountedWhy,
    Drift,
    FileRatio,
    FileVerdictKind,
    ForfeitedPairs,
    JoinedPair,
    OtherWork,
    WithheldInFile,
)
from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.cube.forfeits import PairLogs
from bakeoff.compare.cube.whole_blocks import (
    Mask,
    WholeBlocks,
    whole_blocks_in_all,
    whole_blocks_of,
    whole_blocks_of_pair,
)
from bakeoff.compare.estimate.estimate import corrected
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
from bakeoff.stats import Decision, UnpairedRatio, decision_of, farthest_apart, over_groups, unpaired_from_logs
from bakeoff.store.records.run_records import JoinedFile, RunRecord

Logs = NDArray[np.float64]


@dataclass(frozen=True)
class Together:
    """Several files on one table; `alone` is what each that counts says by itself, by its label."""

    run: RunRecord
    cube: Cube
    decides: Metric
    alone: Mapping[str, Comparison]
    delta: float

    def within(self, file: JoinedFile) -> Mask:
        """Which blocks are those of a file, shape (blocks,)."""
        return np.array([block in file.blocks for block in self.cube.blocks], dtype=bool)

    def having(self, *names: str) -> list[JoinedFile]:
        """The files with all of these contenders."""
        return [file for file in self.run.files if all(name in file.names for name in names)]

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


def joined_pairs(joint: Together, metric: Metric) -> tuple[JoinedPair, ...]:
    """Every pair that several files have; where their plans differ, by what the contenders are called in the files."""
    same: dict[tuple[str, str], list[tuple[JoinedFile, str, str]]] = defaultdict(list)
    for file in joint.run.files:
        for pair in combinations(joint.cube.contenders, 2):
            if all(name in file.names for name in pair):
                same[pair].append((file, *pair))
    other: dict[tuple[tuple[str, str], tuple[str, str]], list[tuple[JoinedFile, str, str]]] = defaultdict(list)
    for pair, files in same.items():
        other[joint.known(pair[0]), joint.known(pair[1])] += files
    pairs = [_joined_pair(joint, metric, files, True) for files in same.values() if len(files) > 1]
    for files in other.values():
        if len({(one, two) for _, one, two in files}) > 1:
            pairs.append(_joined_pair(joint, metric, files, False))
    return tuple(pairs)


def _joined_pair(
    joint: Together, metric: Metric, files: Sequence[tuple[JoinedFile, str, str]], same_work: bool
) -> JoinedPair:
    ratios = tuple(_alone(joint.alone[file.label], file, metric, one, two) for file, one, two in files)
    outcomes = [joint.logs(one, two, metric) for _, one, two in files]
    kept = whole_blocks_in_all([whole_blocks_of_pair(joint.cube, each) for each in outcomes])
    groups = [_group(joint, file, each, kept) for (file, _, _), each in zip(files, outcomes, strict=True)]
    there = [at for at, group in enumerate(groups) if group.size]
    labels = [files[at][0].label for at in there]
    if len(there) > 1:
        apart = farthest_apart([groups[at] for at in there], joint.delta)
        between, ratio, p = (labels[apart.places[0]], labels[apart.places[1]]), apart.ratio, apart.p
    else:
        between, ratio, p = ("", ""), UnpairedRatio((0, 0), math.nan, math.nan, math.nan), math.nan
    over = over_groups([groups[at] for at in there]) if there else None
    kinds = {(each.verdict.kind, each.verdict.winner) for each in ratios}
    names = [files[0][1], files[0][2]] if same_work else [files[0][0].names[name] for name in files[0][1:]]
    counted, why = _counted(ratios, ratio, p, joint.delta) if same_work else ("apart", "other_plans")
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


def _group(joint: Together, file: JoinedFile, outcomes: PairLogs, kept: WholeBlocks) -> Logs:
    """The log-ratios of the blocks of a file, over the load steps that all files have; without blocks that have a
    hole.
    """
    logs = kept.by_block(outcomes.settled())[joint.within(file)]
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


def file_gates(joint: Together, metrics: Sequence[Metric]) -> dict[tuple[str, frozenset[str]], Gate]:
    """What keeps blocks of several files from counting together, or qualifies it: by metric and pair."""
    return {
        (metric.key, frozenset((pair.baseline, pair.contender))): _gate(pair)
        for metric in metrics
        for pair in joined_pairs(joint, metric)
        if pair.same_work and pair.counted != "together"
    }


def _gate(pair: JoinedPair) -> Gate:
    level: GateLevel = "red" if pair.counted == "apart" else "amber"
    files = tuple((each.file, each.ratio, each.low, each.high) for each in pair.files)
    return Gate("files", level, pair.contender, FilesDiffer(files))


def drifts(joint: Together) -> tuple[Drift, ...]:
    """Each contender that several files have, in each of them against the first that has it."""
    known: dict[tuple[str, str], list[tuple[JoinedFile, str]]] = defaultdict(list)
    for file in joint.run.files:
        for name in file.names:
            known[file.identity(name)].append((file, name))
    found = []
    for (called, _), (first, *others) in known.items():
        for other in others:
            ratio = _unpaired(joint, *((name, joint.within(file)) for file, name in (first, other)))
            same = first[1] == other[1]
            found.append(
                Drift(called, other[0].label, first[0].label, same, ratio.ratio, *_bounds(ratio), ratio.p, ratio.blocks)
            )
    return tuple(found)


def _unpaired(joint: Together, below: tuple[str, Mask], above: tuple[str, Mask]) -> UnpairedRatio:
    """The ratio of two contenders by their own figures in some blocks each, over the load steps that each has in half
    of its blocks at least.
    """
    levels = [np.where(within, joint.levels(name), math.nan) for name, within in (below, above)]
    kept = whole_blocks_in_all([whole_blocks_of(joint.cube, np.isfinite(one)) for one in levels])
    return unpaired_from_logs(kept.by_block(levels[0]), kept.by_block(levels[1]), joint.delta)


def _bounds(ratio: UnpairedRatio) -> tuple[float, float]:
    return both_shown(ratio.low, ratio.high, min(ratio.blocks))


def between_pairs(joint: Together, judge: Judge, pairs: Sequence[JoinedPair]) -> tuple[BetweenPair, ...]:
    """Every two contenders that no file has both of, but for one that is the same under two plans."""
    apart = [
        pair
        for pair in combinations(joint.cube.contenders, 2)
        if not joint.having(*pair) and joint.known(pair[0]) != joint.known(pair[1]) and not _in_one_file(joint, *pair)
    ]
    bridged = [(pair, bridges) for pair in apart if (bridges := _bridges(joint, *pair))]
    ratios = {pair: _over_bridges(joint, *pair, bridges) for pair, bridges in bridged}
    both = corrected((ratio.p, ratio.p_equivalence) for ratio, _, _ in ratios.values())
    adjusted = dict(zip(ratios, both, strict=True))
    return tuple(
        _bridged(joint, judge, pairs, pair, dict(bridged)[pair], ratios[pair], adjusted[pair])
        if pair in ratios
        else _unbridged(joint, *pair)
        for pair in apart
    )


def _in_one_file(joint: Together, one: str, other: str) -> bool:
    """Whether a file has both under the names of its own: then it is the one that pairs them."""
    both = {joint.known(one), joint.known(other)}
    return any(both <= {file.identity(name) for name in file.names} for file in joint.run.files)


Bridge = tuple[str, str]


def _bridges(joint: Together, baseline: str, contender: str) -> tuple[Bridge, ...]:
    """Contenders that stand in a file beside either, by their names there."""
    bridges = []
    for name in (baseline, contender):
        others = {other for file in joint.having(name) for other in file.names if other != name}
        bridges.append({joint.known(other): other for other in sorted(others)})
    return tuple((bridges[0][one], bridges[1][one]) for one in bridges[0] if one in bridges[1])


def _over_bridges(
    joint: Together, baseline: str, contender: str, bridges: Sequence[Bridge]
) -> tuple[UnpairedRatio, WholeBlocks, bool]:
    """The ratio of ratios, the load steps that it is over, and whether a loss is in it."""
    sides = [[joint.logs(bridge[side], name) for bridge in bridges] for side, name in enumerate((baseline, contender))]
    kept = whole_blocks_in_all([whole_blocks_of_pair(joint.cube, one) for side in sides for one in side])
    below, above = (np.mean([kept.by_block(one.settled()) for one in side], axis=0) for side in sides)
    forfeited = any(
        bool(marks[kept.steps].any()) for side in sides for one in side for marks in (*one.forfeited, one.ties)
    )
    return unpaired_from_logs(below, above, joint.delta), kept, forfeited


def _bridged(
    joint: Together,
    judge: Judge,
    pairs: Sequence[JoinedPair],
    pair: tuple[str, str],
    bridges: Sequence[Bridge],
    found: tuple[UnpairedRatio, WholeBlocks, bool],
    adjusted: tuple[float, float],
) -> BetweenPair:
    ratio, kept, forfeited = found
    names = tuple(dict.fromkeys(joint.known(one)[0] for one, _ in bridges))
    why_not = _why_not(joint, judge, pairs, pair, bridges, forfeited)
    low, high = _bounds(ratio)
    is_above = ratio.ratio > 1.0
    decision = _decision(ratio, *adjusted, joint.delta, judge.interim.alpha)
    verdict, _ = judge.verdict(
        decision,
        *pair,
        kept.load_steps,
        leader(pair, is_above, joint.decides),
        min(ratio.blocks),
        reach(low, high, is_above),
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
    certain = p <= alpha and (ratio.low > 1.0 or ratio.high < 1.0)
    log = math.log(ratio.ratio) if ratio.ratio > 0.0 else math.nan
    return decision_of(min(ratio.blocks), log, delta, certain, p_equivalence <= alpha)


def _why_not(
    joint: Together,
    judge: Judge,
    pairs: Sequence[JoinedPair],
    pair: tuple[str, str],
    bridges: Sequence[Bridge],
    forfeited: bool,
) -> Fact | None:
    """What keeps a bridge from carrying a verdict; None when nothing does."""
    if any(one != other for one, other in bridges):
        return OtherWork()
    if forfeited:
        return ForfeitedPairs()
    names = {one for one, _ in bridges}
    for joined_pair_of in pairs:
        if {joined_pair_of.baseline, joined_pair_of.contender} <= names and joined_pair_of.counted != "together":
            return BridgesContradict(joined_pair_of)
    for file in joint.run.files:
        strict = replace(judge, both=True, metric=joint.decides.key, cube=_of_file(joint.cube, file))
        for name, bridge in ((name, bridge) for name in pair for bridge in sorted(names)):
            if not {name, bridge} <= file.names.keys():
                continue
            _, gates = strict.verdict(
                Decision("equivalent", 0), bridge, name, joint.cube.load_steps, name, MINIMUM_BLOCKS
            )
            if red := [gate for gate in gates if gate.level == "red"]:
                return WithheldInFile(red[0])
    return None


def _of_file(cube: Cube, file: JoinedFile) -> Cube:
    """The trials of a file alone: what was amiss in all of them is not much of those of all files."""
    return replace(
        cube,
        trials={key: one for key, one in cube.trials.items() if key[2] in file.blocks},
        usable={key: one for key, one in cube.usable.items() if key[2] in file.blocks},
        forfeited={key: why for key, why in cube.forfeited.items() if key[2] in file.blocks},
    )


def _unbridged(joint: Together, baseline: str, contender: str) -> BetweenPair:
    """The bare ratio. No interval of it is honest: what changed between the files may be all of it."""
    ratio = _unpaired(joint, *((n, reduce(or_, map(joint.within, joint.having(n)))) for n in (baseline, contender)))
    forfeited = tuple(name for name in (baseline, contender) if joint.cube.forfeits(name).any())
    nothing = math.nan
    return BetweenPair(
        baseline, contender, (), ratio.ratio, nothing, nothing, nothing, nothing, ratio.blocks,
        _explained(ratio.ratio), "withheld", None, forfeited=forfeited,
    )  # fmt: skip


def _explained(ratio: float) -> float:
    """The change of the slower one that would be all of a ratio: 0.2 for 1.2 and for 1/1.2."""
    return math.exp(abs(math.log(ratio))) - 1.0 if ratio > 0.0 else math.nan
