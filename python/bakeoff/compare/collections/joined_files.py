"""The files of a joined run by themselves: what each is, and what of a failed one stands beside its repetition."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from bakeoff.compare.collections.joined import Together, drifts
from bakeoff.compare.collections.joined_differences import differences
from bakeoff.compare.collections.joined_model import BetweenPair, FailedTrial, FileInfo, IfCounted, Joined, JoinedPair
from bakeoff.compare.cube.cube import why_unusable
from bakeoff.compare.model.comparison import Comparison
from bakeoff.store.records.run_records import JoinedFile, TrialRecord


def made_of(
    joint: Together, pairs: Sequence[JoinedPair], between: Sequence[BetweenPair], counted: Sequence[IfCounted]
) -> Joined:
    """All that is told of several files."""
    run = joint.run
    return Joined(
        files=tuple(_info(file) for file in run.joined),
        figure=joint.decides.short,
        unit=joint.decides.unit,
        same_work=len({file.plan for file in run.files}) == 1,
        with_factors=any(file.run.planned.factors for file in run.joined),
        differences=differences(run.joined),
        drifts=drifts(joint),
        pairs=tuple(pairs),
        between=tuple(between),
        failed=tuple(one for file in run.joined if file.failed for one in _failed(joint, file)),
        if_counted=tuple(counted),
    )


def _info(file: JoinedFile) -> FileInfo:
    run = file.run
    environment = run.environment
    cpu = environment.get("cpu")
    model = cpu.get("model") if isinstance(cpu, dict) else None
    words = [str(fact) for fact in (environment.get("hostname"), model) if fact]
    return FileInfo(
        label=file.label,
        file=run.path.name,
        contenders=tuple(file.names),
        created_at=run.created_at,
        finished_at=run.finished_at,
        plan_hash=run.plan_hash,
        version=run.tool.get("version", "unknown version"),
        kernel=str(environment.get("kernel", "not recorded")),
        machine=", ".join(words) or "not recorded",
        first_block=file.blocks[0] if file.blocks else 0,
        last_block=file.blocks[-1] if file.blocks else 0,
        trials_planned=run.trials_planned,
        trials=dict(Counter(trial.state for trial in run.trials)),
        failed=file.failed,
    )


def _failed(joint: Together, file: JoinedFile) -> list[FailedTrial]:
    """Every trial of a file that failed: also those that went well, which count no more either."""
    return [
        FailedTrial(
            file.label, trial.contender, trial.load_step, trial.block, trial.state, trial.reason,
            _value(joint, trial), _repeated(joint, trial),
        )
        for trial in sorted(file.run.trials, key=lambda each: (each.contender, each.load_step, each.block))
    ]  # fmt: skip


def _value(joint: Together, trial: TrialRecord) -> float:
    return math.nan if why_unusable(trial) is not None else joint.decides.extract(trial)


def _repeated(joint: Together, trial: TrialRecord) -> float:
    """The geometric mean over the blocks that count, at the same load step."""
    found = [_value(joint, each) for each in joint.cube.of(trial.contender, (trial.load_step,))]
    logs = [math.log(value) for value in found if value > 0.0]
    return float(np.exp(np.mean(logs))) if logs else math.nan


def if_counted(comparison: Comparison, whole: Comparison) -> tuple[IfCounted, ...]:
    """The pairs of a comparison as they are in the `whole` of all files."""
    known = {(pair.baseline, pair.contender): pair.primary for pair in whole.pairs}
    ends = [(pair, known[pair]) for one in comparison.pairs if (pair := (one.baseline, one.contender)) in known]
    return tuple(IfCounted(*pair, e.ratio, e.low, e.high, e.blocks, e.verdict.without_number()) for pair, e in ends)
