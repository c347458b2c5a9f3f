"""Run files that can be told of together, and why others cannot: one sentence each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from bakeoff.core.errors import PlanError
from bakeoff.store.records.run_records import FAILED, VOIDED, RunRecord

MOST = 100
ALONE = "name its file alone"


def refuse_incompatible(runs: Sequence[RunRecord], failed: Sequence[int], noted: bool) -> None:
    """Raises PlanError for files that are not of one sort of work, or of which one is there twice."""
    if len(runs) > MOST:
        raise PlanError(f"{len(runs)} run files are too many for one report: at most {MOST}")
    for run in runs:
        _refuse_by_itself(run)
    for one, other in combinations(runs, 2):
        _refuse_twice(one, other)
    first = runs[0]
    for run in runs[1:]:
        if (run.kind, run.suite) != (first.kind, first.suite) or type(run.load_steps[0]) is not type(
            first.load_steps[0]
        ):
            raise PlanError(
                f"{first.path} and {run.path} are of different work ({first.suite} at {first.load_steps[0].words}, "
                f"{run.suite} at {run.load_steps[0].words}): compare like with like"
            )
    _refuse_failed([runs[place] for place in failed], len(runs), noted)


def _refuse_by_itself(run: RunRecord) -> None:
    if run.imported_from is not None:
        raise PlanError(f"{run.path} was imported from {run.imported_from}, which states no blocks in time: {ALONE}")
    if what := run.planned.shape.alone:
        raise PlanError(f"{run.path} is {what}: {ALONE}")
    if not run.load_steps or not run.trials:
        raise PlanError(f"{run.path} has no trial yet: run it first, or leave it out")


def _refuse_twice(one: RunRecord, other: RunRecord) -> None:
    """A copy, also one that went on further, would count its trials twice."""
    known = {(trial.started_at, trial.contender, trial.load_step, trial.seed) for trial in one.trials}
    same = sum((trial.started_at, trial.contender, trial.load_step, trial.seed) in known for trial in other.trials)
    if one.created_at == other.created_at and same:
        raise PlanError(
            f"{one.path} and {other.path} have trials in common ({same:,}), which would count twice: name one of them"
        )


def _refuse_failed(failed: Sequence[RunRecord], files: int, noted: bool) -> None:
    if failed and len(failed) == files:
        raise PlanError("all run files are named as failed: one of them has to count")
    for run in failed:
        broken = [trial for trial in run.trials if trial.state in (FAILED, VOIDED)]
        if not broken and run.is_complete:
            raise PlanError(f"{run.path} has no failed, voided or missing trial: it counts; leave out --failed-run")
    if failed and not noted:
        raise PlanError(
            f"{failed[0].path} is left out as failed: say when and why, as --note '2026-11-21: new driver, run again'"
        )
