"""Several run files as one run: blocks of one day behind those of another, each contender under one name.

A contender is the same in two files when its name, its address, its settings and the work that the plans ask for are
the same: then its blocks of both count. Otherwise it has a name with the letters of its files, and no block has both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, combinations, pairwise
from pathlib import Path
from string import ascii_uppercase
from typing import Any, TypeVar

from bakeoff.core.errors import PlanError
from bakeoff.store.collections.compatibility import refuse_incompatible
from bakeoff.store.records.run_records import (
    ADDED,
    CLEAR,
    FAILED,
    GENERATOR_CAPACITIES,
    VOIDED,
    AmendmentRecord,
    ContenderRecord,
    JoinedFile,
    PlannedTrial,
    RunRecord,
    TrialRecord,
)
from bakeoff.store.sqlite.canonical import plan_hash, to_json

# What of a plan does not say what a trial does; early plans said `until_clear` for `until`.
AROUND_THE_WORK = frozenset(
    {"assumed", "blocks", "changed", "contenders", "dead_after_s", "dead_blocks", "delta", "differences"}
    | {"factors", "interim_analyses", "name", "seed", "size", "title", "until", "until_clear", "when_dead"}
)
Notes = tuple[tuple[str, str], ...]
Moving = TypeVar("Moving", TrialRecord, PlannedTrial)


def join(runs: Sequence[RunRecord], failed: Sequence[str] = (), notes: Notes = ()) -> RunRecord:
    """One run of all contenders of `runs`, whose files it names in `joined`; a single one is returned as it is.

    The files `failed`, by path or letter, count no more, as others repeat them: `notes`, of day and text each, must say
    why. Raises PlanError for runs that cannot be told of together.
    """
    if len(runs) == 1:
        if failed:
            raise PlanError(f"{failed[0]} is named as failed, and there is no other file that repeats it: name it, too")
        return replace(runs[0], notes=notes) if notes else runs[0]
    out = sorted({place_of(path, runs) for path in failed})
    refuse_incompatible(runs, out, bool(notes))
    files = _files(runs, frozenset(out))
    counted = [file for file in files if not file.failed]
    _refuse_unrepeated(files, counted)
    first, plans = counted[0].run, [file.run for file in counted]
    trials = _numbered([_moved(trial, file) for file in counted for trial in file.run.trials])
    rates = [run.null_operations_per_s for run in plans]
    known = [rate for rate in rates if rate is not None]
    ends = [run.finished_at for run in plans]
    return replace(
        first,
        path=Path(" + ".join(run.path.name for run in runs)),
        name=" + ".join(dict.fromkeys(run.name for run in runs)),
        plan={**first.plan, "interim_analyses": None},
        plan_hash=first.plan_hash if _one_hash(plans) else plan_hash({"joined": [run.plan_hash for run in plans]}),
        created_at=min(run.created_at for run in plans),
        finished_at=None if None in ends else max(end or "" for end in ends),
        environment=_environment(plans),
        agents=first.agents if all(run.agents == first.agents for run in plans) else (),
        contenders=_contenders(counted),
        load_steps=tuple(sorted({load_step for run in plans for load_step in run.load_steps})),
        blocks_planned=sum(run.blocks_wanted for run in plans),
        null_operations_per_s=min(known) if len(known) == len(rates) else None,
        trials_planned=sum(run.trials_planned for run in plans),
        trials=trials,
        events=tuple(replace(event, trial_id=None) for run in plans for event in run.events),
        started_here=None,
        joined=files,
        notes=notes,
        amendments=_amendments(counted),
        earlier=_earlier(files, trials),
        pending=tuple(_moved(trial, file) for file in counted for trial in file.run.pending),
        seal=plan_hash({"joined": [run.seal for run in runs]}),
    )


def work_of(plan: dict[str, Any]) -> dict[str, Any]:
    """What of a plan says what is done in a trial: where it is the same, so is what was measured."""
    return {name: value for name, value in plan.items() if name not in AROUND_THE_WORK}


def label(place: int) -> str:
    """The letter of a file: A … Z, AA …"""
    rest, last = divmod(place, len(ascii_uppercase))
    return (label(rest - 1) if rest else "") + ascii_uppercase[last]


def place_of(given: str, runs: Sequence[RunRecord]) -> int:
    """Which of `runs` is named, by its path, its file name or its letter. Raises PlanError."""
    paths = [str(run.path) for run in runs]
    for known in (paths, [run.path.name for run in runs], [label(place) for place in range(len(runs))]):
        if known.count(given) == 1:
            return known.index(given)
    raise PlanError(f"--failed-run {given} is none of the run files: name one of {', '.join(paths)}")


def _refuse_unrepeated(files: Sequence[JoinedFile], counted: Sequence[JoinedFile]) -> None:
    """Nothing is left out that no other file measured again by the same plan."""
    again = {name for file in counted for name in file.names}
    for file in files:
        missing = [name for name in file.names if file.failed and name not in again]
        if missing:
            raise PlanError(
                f"no other file repeats {missing[0]} of {file.run.path} under the same plan and address: name that "
                "file, or leave out --failed-run, so that all files count"
            )


def _one_hash(runs: Sequence[RunRecord]) -> bool:
    return len({run.plan_hash for run in runs}) == 1


def _files(runs: Sequence[RunRecord], failed: frozenset[int]) -> tuple[JoinedFile, ...]:
    works = [to_json(work_of(run.plan)) for run in runs]
    plans = [works.index(work) for work in works]
    keys: dict[str, dict[tuple[str, int, str], list[int]]] = {}
    for place, run in enumerate(runs):
        for one in run.contenders:
            keys.setdefault(one.name, {}).setdefault(_key(run, one, plans[place]), []).append(place)
    before = list(accumulate((0 if n in failed else run.blocks_wanted for n, run in enumerate(runs)), initial=0))
    files = []
    for place, run in enumerate(runs):
        called = {
            one.name: one.name
            if len(keys[one.name]) == 1
            else f"{one.name} ({', '.join(map(label, keys[one.name][_key(run, one, plans[place])]))})"
            for one in run.contenders
        }
        names = {new: old for old, new in called.items()}
        files.append(
            JoinedFile(label(place), _renamed(run, called), names, before[place], plans[place], place in failed)
        )
    return tuple(files)


def _key(run: RunRecord, one: ContenderRecord, plan: int) -> tuple[str, int, str]:
    """What makes a contender the same in two files: where it is, what the plan asks, and how clients talk with it."""
    own = next((each.settings for each in run.planned.contenders if each.name == one.name), {})
    return one.address, plan, to_json(own)


def _renamed(run: RunRecord, called: dict[str, str]) -> RunRecord:
    """The run with its contenders under other names."""
    if all(old == new for old, new in called.items()):
        return run
    content = run.environment.get("content")
    environment = run.environment if not isinstance(content, dict) else {**run.environment, "content": {
        **content,
        "contenders": {called.get(name, name): facts for name, facts in (content.get("contenders") or {}).items()},
        "differences": [_difference(one, called) for one in content.get("differences") or []],
    }}  # fmt: skip
    if isinstance(capacities := environment.get(GENERATOR_CAPACITIES), dict):
        environment = {
            **environment,
            GENERATOR_CAPACITIES: {called.get(name, name): each for name, each in capacities.items()},
        }
    return replace(
        run,
        environment=environment,
        contenders=tuple(replace(one, name=called[one.name]) for one in run.contenders),
        trials=tuple(_called(trial, called) for trial in run.trials),
        earlier=tuple(_called(trial, called) for trial in run.earlier),
        pending=tuple(replace(trial, contender=called[trial.contender]) for trial in run.pending),
        amendments=tuple(replace(one, contender=called.get(one.contender or "")) for one in run.amendments),
    )


def _called(trial: TrialRecord, called: dict[str, str]) -> TrialRecord:
    """A trial with the name that its contender has beside others, also where it was watched."""
    watched = tuple(
        one.model_copy(update={"name": called.get(one.name, one.name)}) if one.role == "contender" else one
        for one in trial.telemetry
    )
    return replace(trial, contender=called[trial.contender], telemetry=watched)


def _difference(value: Any, called: dict[str, str]) -> Any:
    if not isinstance(value, dict) or not isinstance(value.get("between"), list):
        return value
    return {**value, "between": [called.get(name, name) for name in value["between"]]}


def _contenders(files: Sequence[JoinedFile]) -> tuple[ContenderRecord, ...]:
    known: dict[str, ContenderRecord] = {}
    for file in files:
        for one in file.run.contenders:
            known.setdefault(one.name, one)
    return tuple(known.values())


def _environment(runs: Sequence[RunRecord]) -> dict[str, Any]:
    """The facts that all have alike, and what was found of every contender."""
    first, *others = [run.environment for run in runs]
    common = {name: fact for name, fact in first.items() if all(other.get(name) == fact for other in others)}
    if capacities := _generator_capacities(runs):
        common |= {GENERATOR_CAPACITIES: capacities}
    found = [content for run in runs if isinstance(content := run.environment.get("content"), dict)]
    if not found:
        return common
    contenders: dict[str, Any] = {}
    for content in found:
        for name, facts in (content.get("contenders") or {}).items():
            contenders.setdefault(name, facts)
    differences = [one for content in found for one in content.get("differences") or []]
    return {**common, "content": {**found[0], "contenders": contenders, "differences": differences}}


def _generator_capacities(runs: Sequence[RunRecord]) -> dict[str, Any]:
    """By contender the lowest generator capacity of its files; none where a file measured none."""
    lowest: dict[str, Any] = {}
    without: set[str] = set()
    for run in runs:
        stored = run.environment.get(GENERATOR_CAPACITIES)
        own = {name: each for name, each in stored.items() if _rate_of(each)} if isinstance(stored, dict) else {}
        without |= {one.name for one in run.contenders if one.name not in own}
        for name, each in own.items():
            lowest[name] = min(lowest.get(name, each), each, key=_rate_of)
    return {name: each for name, each in lowest.items() if name not in without}


def _rate_of(capacity: object) -> float:
    per_s = capacity.get("operations_per_s") if isinstance(capacity, dict) else None
    return float(per_s) if isinstance(per_s, int | float) else 0.0


def _moved(trial: Moving, file: JoinedFile) -> Moving:
    return replace(trial, block=trial.block + file.before)


def _numbered(trials: Sequence[TrialRecord]) -> tuple[TrialRecord, ...]:
    return tuple(replace(trial, id=number, order=number - 1) for number, trial in enumerate(trials, 1))


def _amendments(files: Sequence[JoinedFile]) -> tuple[AmendmentRecord, ...]:
    """Those of each file; where a pair is in several, a further file is an analysis: it may have been made because of
    what the ones before had shown. So is where a file stands that is between two analyses of its own.
    """
    renumbered = [replace(one, blocks_seen=one.blocks_seen + file.before, blocks=one.blocks + file.before,
                    blocks_before=one.blocks_before + file.before)
            for file in files for one in file.run.amendments if one.sort != CLEAR]  # fmt: skip
    further = any(len(one.names.keys() & other.names.keys()) > 1 for one, other in combinations(files, 2))
    for file in files:
        for seen in _analysed(file.run) if further or file.run.pending else ():
            renumbered.append(
                _added(file, seen + file.before, file.before + file.run.blocks_wanted, f"analysis of {file.label}")
            )
    for before, file in pairwise(files) if further else ():
        seen = before.before + before.run.blocks_wanted
        renumbered.append(_added(file, seen, seen + file.run.blocks_wanted, f"{file.run.path.name} ({file.label})"))
    return tuple(sorted(renumbered, key=lambda one: (one.blocks_seen, one.blocks)))


def _analysed(run: RunRecord) -> list[int]:
    """The interim analyses that were made inside of a run as its plan names them."""
    return sorted(
        {
            each
            for each in run.planned.interim_analyses or ()
            if 0 < each < run.blocks_wanted and each <= run.blocks_whole
        }
    )


def _added(file: JoinedFile, seen: int, blocks: int, text: str) -> AmendmentRecord:
    return AmendmentRecord(file.run.created_at, ADDED, text, seen, seen, blocks, None, file.run.plan_hash)


def _earlier(files: Sequence[JoinedFile], trials: Sequence[TrialRecord]) -> tuple[TrialRecord, ...]:
    """Failed trials that were repeated: of each file its own, and those of a file that another repeats. `order` is
    that of the trial that repeats it, or no trial's.
    """
    places = {(trial.contender, trial.load_step, trial.block): trial.order for trial in trials}
    repetitions = []
    for file in files:
        own = file.run.earlier
        if file.failed:
            own = (*own, *(trial for trial in file.run.trials if trial.state in (FAILED, VOIDED)))
        for trial in own:
            ways = [places[key] for key in _repetitions(trial, file, files) if key in places]
            repetitions.append(replace(trial, block=trial.block + file.before, order=ways[0] if ways else len(trials)))
    return tuple(replace(trial, id=len(trials) + number) for number, trial in enumerate(repetitions, 1))


def _repetitions(trial: TrialRecord, file: JoinedFile, files: Sequence[JoinedFile]) -> list[tuple[str, Any, int]]:
    """What may repeat a trial: itself in its own file, that of the same block in another."""
    others = [other for other in files if not other.failed] if file.failed else [file]
    return [(trial.contender, trial.load_step, trial.block + other.before) for other in others]
