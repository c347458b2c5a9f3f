"""Runs that were measured one by one, as one: their contenders side by side, in one block, never paired.

What ran at another time met another machine: such a run gives numbers and no verdict.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bakeoff.errors import PlanError
from bakeoff.store.canonical import plan_hash
from bakeoff.store.records import RunRecord

MOST = 100


def join(runs: Sequence[RunRecord]) -> RunRecord:
    """One run of all contenders of `runs`, whose files it names in `joined`; a single one is returned as it is.

    Raises PlanError for runs that cannot stand beside each other.
    """
    if len(runs) == 1:
        return runs[0]
    _refuse_unlike(runs)
    first, names = runs[0], _names(runs)
    contenders = tuple(replace(run.contenders[0], name=name, reset=None) for run, name in zip(runs, names, strict=True))
    trials = [replace(t, contender=name) for run, name in zip(runs, names, strict=True) for t in run.trials]
    rates = [run.null_operations_per_s for run in runs]
    known = [rate for rate in rates if rate is not None]
    return replace(
        first,
        path=Path(" + ".join(run.path.name for run in runs)),
        name=" + ".join(dict.fromkeys(run.name for run in runs)),
        plan_hash=plan_hash({"joined": [run.plan_hash for run in runs]}),
        created_at=min(run.created_at for run in runs),
        finished_at=None if None in [run.finished_at for run in runs] else max(run.finished_at or "" for run in runs),
        contenders=contenders,
        mixes=tuple(sorted({mix for run in runs for mix in run.mixes})),
        null_operations_per_s=min(known) if len(known) == len(rates) else None,
        trials_planned=sum(run.trials_planned for run in runs),
        trials=tuple(replace(trial, id=number, order=number - 1) for number, trial in enumerate(trials, 1)),
        events=tuple(replace(event, trial_id=None) for run in runs for event in run.events),
        started_here=None,
        joined=tuple(run.path.name for run in runs),
        different=_different(runs),
        amendments=(),
        earlier=(),
        pending=tuple(replace(t, contender=name) for run, name in zip(runs, names, strict=True) for t in run.pending),
    )


def _refuse_unlike(runs: Sequence[RunRecord]) -> None:
    if len(runs) > MOST:
        raise PlanError(f"{len(runs)} run files are too many to stand beside each other: at most {MOST}")
    for run in runs:
        if run.imported_from is not None or len(run.contenders) != 1 or run.blocks_planned != 1:
            raise PlanError(
                f"{run.path} has {len(run.contenders)} contenders and {run.blocks_planned} blocks: only runs of one "
                "contender and one block are put together; name its file alone, or run all contenders in one run"
            )
        if run.kind != runs[0].kind or type(run.mixes[0]) is not type(runs[0].mixes[0]):
            raise PlanError(
                f"{runs[0].path} and {run.path} are of different work ({runs[0].suite} at {runs[0].mixes[0].words}, "
                f"{run.suite} at {run.mixes[0].words}): compare like with like"
            )


def _names(runs: Sequence[RunRecord]) -> list[str]:
    """The contenders' own names; where two are alike the names of the files, then with numbers."""
    for names in ([run.contenders[0].name for run in runs], [run.path.stem for run in runs]):
        if len(set(names)) == len(names):
            return names
    return [f"{run.contenders[0].name}-{number}" for number, run in enumerate(runs, 1)]


def _different(runs: Sequence[RunRecord]) -> tuple[str, ...]:
    """The settings in which the runs differ."""
    tables = [found if isinstance(found := run.plan.get("settings"), dict) else {} for run in runs]
    names = dict.fromkeys(name for table in tables for name in table)
    return tuple(name for name in names if any(table.get(name) != tables[0].get(name) for table in tables))
