"""Trials as arrays: contender × load step × block, with the trials that cannot be used named."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bakeoff.compare.cube.forfeits import broke, forfeited_trial
from bakeoff.compare.failures.unserved import unserved
from bakeoff.compare.model.comparison import Forfeit, LeftOut
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.reason import NoneInWindow, NoRate, OtherMachines, Recorded, reason_of
from bakeoff.load.load_step import LoadStep, OfCapacity
from bakeoff.store.records.figures import Figures
from bakeoff.store.records.run_records import OK, RunRecord, TrialRecord

if TYPE_CHECKING:
    from bakeoff.compare.kind import ComparePart

Key = tuple[str, LoadStep, int]
# A trial that is as it should be, and has nothing to be compared with.
UNPAIRED = "unpaired"


@dataclass(frozen=True)
class Cube:
    """`trials` maps (contender, load step, block) to the trial; `usable` holds those whose numbers count; `lost`
    those that the contender forfeited, with the reason: they have no numbers, or none that may stand for it. `kind`
    knows what is particular to the suite.
    """

    kind: ComparePart
    contenders: tuple[str, ...]
    load_steps: tuple[LoadStep, ...]
    blocks: tuple[int, ...]
    trials: dict[Key, TrialRecord]
    usable: dict[Key, TrialRecord]
    forfeited: dict[Key, Fact]
    left_out: tuple[LeftOut, ...]
    # Of several run files: the blocks of those in which each contender is.
    asked: Mapping[str, frozenset[int]] = field(default_factory=dict)

    def together(self, one: str, other: str) -> NDArray[np.bool_]:
        """In which blocks both were to be measured, shape (blocks,): in all of a run, not in all of several files."""
        both = [all(block in self.asked.get(name, (block,)) for name in (one, other)) for block in self.blocks]
        return np.array(both, dtype=bool)

    def values(self, extract: Callable[[TrialRecord], float], failed_too: bool = False) -> NDArray[np.float64]:
        """`extract` of every usable trial, shape (contenders, load steps, blocks); NaN where there is none.

        With `failed_too` also of failed trials: for errors, which are what made them fail.
        """
        numbers = np.full((len(self.contenders), len(self.load_steps), len(self.blocks)), math.nan)
        for c, contender in enumerate(self.contenders):
            for m, load_step in enumerate(self.load_steps):
                for b, block in enumerate(self.blocks):
                    key = (contender, load_step, block)
                    trial = self.trials.get(key)
                    if trial is not None and (key in self.usable or (failed_too and broke(trial))):
                        numbers[c, m, b] = extract(trial)
        return numbers

    def forfeits(self, contender: str) -> NDArray[np.bool_]:
        """Which trials `contender` lost, shape (load steps, blocks)."""
        forfeited = [
            [(contender, load_step, block) in self.forfeited for block in self.blocks] for load_step in self.load_steps
        ]
        return np.array(forfeited, dtype=bool).reshape(len(self.load_steps), len(self.blocks))

    def of(self, contender: str, load_steps: tuple[LoadStep, ...]) -> list[TrialRecord]:
        """All trials of `contender` at `load_steps`, usable or not."""
        wanted = set(load_steps)
        return [trial for trial in self._by_contender[contender] if trial.load_step in wanted]

    @cached_property
    def _by_contender(self) -> Mapping[str, list[TrialRecord]]:
        """Asked for of each pair at each load step: one pass over a large run is enough."""
        trials: dict[str, list[TrialRecord]] = defaultdict(list)
        for trial in self.trials.values():
            trials[trial.contender].append(trial)
        return trials

    def index(self, contender: str) -> int:
        """Position of `contender` on the first axis."""
        return self.contenders.index(contender)


def build_cube(run: RunRecord, baseline: str) -> Cube:
    """Sort the trials of `run`; the baseline comes first. A later attempt replaces an earlier one."""
    from bakeoff.compare.kind import compare_part  # what a kind does not say itself is said of cubes

    names = [contender.name for contender in run.contenders]
    ordered = (baseline, *(name for name in names if name != baseline))
    trials = {(t.contender, t.load_step, t.block): t for t in sorted(run.trials, key=lambda t: t.id)}
    usable = {key: trial for key, trial in trials.items() if why_unusable(trial) is None}
    by_other_machines = _by_other_machines(usable)
    usable = {key: trial for key, trial in usable.items() if key not in by_other_machines}
    kind = compare_part(run.kind)
    forfeited = {
        key: reason for key, trial in trials.items() if (reason := forfeited_trial(trial, kind.enough)) is not None
    }
    forfeited = {**unserved(kind, trials), **forfeited}
    blocks = tuple(sorted({block for _, _, block in trials}))
    asked = {name: frozenset(b for file in run.joined if name in file.names for b in file.blocks) for name in names}
    left_out = _left_out(trials, by_other_machines)
    load_steps = tuple(sorted(run.load_steps))
    return Cube(kind, ordered, load_steps, blocks, trials, usable, forfeited, left_out, asked if run.joined else {})


def why_unusable(trial: TrialRecord) -> Fact | None:
    """None when the trial counts; else the reason why its numbers enter no statistic."""
    if trial.state != OK:
        return reason_of(trial) or Recorded("")
    if trial.is_empty:
        return NoneInWindow(tuple(sorted(trial.errors.items())))
    if trial.figures(Figures).stated:
        return None
    if not math.isfinite(trial.operations_per_s) or trial.operations_per_s <= 0.0:
        return NoRate()
    return None


def machines_of(trial: TrialRecord) -> tuple[str, ...]:
    """The agents that sent it, sorted."""
    return tuple(sorted(share.agent for share in trial.per_agent))


def usual_of(trials: Sequence[TrialRecord]) -> TrialRecord:
    """One of those that the machines sent that sent most of these."""
    frequent = Counter(map(machines_of, trials))
    return max(trials, key=lambda trial: (frequent[machines_of(trial)], len(trial.per_agent)))


def same_machines(one: TrialRecord, other: TrialRecord) -> bool:
    """Whether the same machines sent both, or would have: one with few clients leaves machines without any."""
    mine, theirs = set(machines_of(one)), set(machines_of(other))
    return mine == theirs or (mine < theirs and _is_small(one)) or (theirs < mine and _is_small(other))


def _is_small(trial: TrialRecord) -> bool:
    """Whether no further machine would have had a client."""
    load_step = trial.load_step.of if isinstance(trial.load_step, OfCapacity) else trial.load_step
    return load_step is not None and load_step.clients <= len(trial.per_agent)


def _by_other_machines(usable: dict[Key, TrialRecord]) -> dict[Key, Fact]:
    """Trials that other machines drove than drove most of the contenders at the same load step and block, and why they
    do not count: a machine that was forfeited in between, or came back, may have been the slow one, or the one far
    away.
    """
    pairs: dict[tuple[LoadStep, int], dict[Key, TrialRecord]] = defaultdict(dict)
    for key, trial in usable.items():
        if trial.per_agent:
            pairs[key[1:]][key] = trial
    by_other_machines: dict[Key, Fact] = {}
    for driven in pairs.values():
        usual = usual_of(list(driven.values()))
        for key, trial in driven.items():
            if not same_machines(trial, usual):
                by_other_machines[key] = OtherMachines(machines_of(trial), machines_of(usual))
    return by_other_machines


def _left_out(trials: dict[Key, TrialRecord], by_other_machines: dict[Key, Fact]) -> tuple[LeftOut, ...]:
    left_out = []
    for key, trial in sorted(trials.items(), key=lambda item: item[1].order):
        reason = why_unusable(trial)
        if key in by_other_machines:
            where = trial.id, trial.contender, trial.load_step, trial.block, trial.order
            left_out.append(LeftOut(*where, UNPAIRED, by_other_machines[key]))
        elif reason is not None:
            state = trial.state if trial.state != OK else "failed"
            left_out.append(
                LeftOut(trial.id, trial.contender, trial.load_step, trial.block, trial.order, state, reason, trial.code)
            )
    return tuple(left_out)


def forfeited_trials(cube: Cube) -> tuple[Forfeit, ...]:
    """What each contender forfeited, in the order it ran."""
    ordered = sorted(cube.forfeited.items(), key=lambda item: cube.trials[item[0]].order)
    return tuple(Forfeit(*key, "", reason) for key, reason in ordered)


def blamed(trials: list[TrialRecord]) -> list[TrialRecord]:
    """Those that say something about the contender: neither voided nor interrupted."""
    return [trial for trial in trials if trial.state in (OK, "failed")]


def totals(trials: list[TrialRecord]) -> tuple[int, dict[str, int]]:
    """Operations and errors by class, summed over `trials`."""
    errors: dict[str, int] = defaultdict(int)
    for trial in trials:
        for name, count in trial.errors.items():
            errors[name] += count
    return sum(trial.operations for trial in trials), dict(errors)
