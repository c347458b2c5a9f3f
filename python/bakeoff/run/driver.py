"""The story of a run: checks, then every planned trial in its order, each stored before the next one starts."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bakeoff.agents.base import Agent
from bakeoff.core.errors import RunFileError
from bakeoff.plan.design.order import order_trials
from bakeoff.plan.model import Plan
from bakeoff.run.checks.build_info import tool
from bakeoff.run.checks.plan_origin import mark
from bakeoff.run.checks.trust import trusted_plan
from bakeoff.run.contenders.prepared import PreparedContenders, preflight, prepare_contenders
from bakeoff.run.fleet.sessions import Fleet
from bakeoff.run.kind import Note
from bakeoff.run.modes.amend import NOTHING, Asked, amend
from bakeoff.run.observe.observer import Observer
from bakeoff.run.outcome.result_spool import ResultSpool
from bakeoff.run.prompts import NO_PROMPTS, Prompts
from bakeoff.run.shapes import run_shape
from bakeoff.run.stop import Stop
from bakeoff.run.trials import Trials
from bakeoff.store.collections.challenged import CHALLENGES
from bakeoff.store.records.absent import ABSENT
from bakeoff.store.records.run_records import ContenderRecord, PlannedTrial, RunRecord
from bakeoff.store.sqlite.read import planned, read_run
from bakeoff.store.sqlite.write import RunHeader, RunWriter


class RunInterruptedError(Exception):
    """The user stopped the run. What was measured is in `path`, or nothing was and `path` is None."""

    def __init__(self, path: Path | None) -> None:
        super().__init__("interrupted")
        self.path = path


def start_run(
    plan: Plan,
    path: Path,
    agents: Sequence[Agent],
    observer: Observer,
    prompts: Prompts = NO_PROMPTS,
    until_block: int | None = None,
    challenges: Mapping[str, Any] | None = None,
    may_miss: bool = False,
) -> None:
    """Check everything, then let `agents` run all trials of `plan` into the new run file `path`, or those of its blocks
    up to `until_block`. `challenges` is what a report says that the run challenges (`collections/challenged.py`). Where
    contenders `may_miss`, one that cannot be used is left out of the run, which tells of it (`records/absent.py`).

    Raises a BakeoffError before anything is measured when the plan cannot be run, RunInterruptedError on
    Ctrl-C, and GeneratorError when an agent is lost: `resume_run` then goes on.
    """
    if path.exists():
        raise RunFileError(
            f"{path} exists already: choose another name with -o, or go on with it by `bakeoff resume {path}`"
        )
    created, stop = False, Stop()
    try:
        with stop.active():
            fleet = Fleet(agents)
            warnings = preflight(plan, fleet, path)
            prepared, plan, absent = prepare_contenders(plan, fleet, may_miss)
            specs = prepared.specs()
            order = order_trials(plan)
            more = ({} if challenges is None else {CHALLENGES: challenges}) | ({ABSENT: absent} if absent else {})
            with RunWriter.create(path, _header(plan, fleet, prepared, more), order) as writer:
                created = True
                writer.set_started_here(mark(path, plan.hash))
                spool = ResultSpool(read_run(path), fleet, False)
                trials = Trials(plan, prepared, specs, fleet, writer, observer, stop, spool, prompts)
                trials.tell([*_missing(absent), *warnings, *run_shape(plan).notes(plan, path), *prepared.notes])
                trials.calibrate()
                todo = _until(order, until_block)
                run_shape(plan).carry_out(plan, trials, writer, todo, None, len(todo) == len(order))
    except KeyboardInterrupt:
        raise RunInterruptedError(path if created else None) from None


def resume_run(
    path: Path,
    agents: Sequence[Agent] | Callable[[], Sequence[Agent]],
    observer: Observer,
    given: Plan | None = None,
    trust: bool = False,
    asked: Asked = NOTHING,
    prompts: Prompts = NO_PROMPTS,
    until_block: int | None = None,
    may_miss: bool = False,
) -> int:
    """Run what is still to do in a run file, and what is `asked` for beside it; returns the number of trials that were,
    0 for a run that is complete, up to `until_block` where that is given. `agents` are made, where they are not yet,
    when there is something to do.

    Raises RunFileError when the file is in use, of another version, of other agents, of another corpus than the
    contenders serve now, or when its plan may not be acted on (see `checks/trust.py`; `given` and `trust` are what
    the user says), PlanError for what cannot be asked of this run, and GeneratorError when an agent is lost. Where
    contenders `may_miss`, the trials of one that cannot be used now are stored as failed.
    """
    run = read_run(path)
    if run.is_complete and asked.leaves_as_it_is(run):
        if run.finished_at is None:
            with RunWriter.reopen(path) as writer:
                writer.finish()
        return 0
    if until_block is not None and not _until(run.pending, until_block):
        return 0
    before = trusted_plan(run, given, trust)
    if not run_shape(before).keeps_order(before, planned(path)):
        raise RunFileError(f"{path} is damaged (its order of trials is not the plan's): run the plan again")
    plan, stop = asked.plan(run, before), Stop()
    try:
        with stop.active(), RunWriter.reopen(path) as writer:
            writer.set_started_here(mark(path, run.plan_hash))
            fleet = Fleet(agents() if callable(agents) else agents)
            _refuse_other_agents(run, fleet)
            warnings = preflight(plan, fleet, path)
            prepared, _, absent = prepare_contenders(plan, fleet, may_miss)
            _refuse_other_content(run, prepared)
            specs = prepared.specs()
            repeats = amend(run, before, plan, asked, writer)  # when nothing stands against it any more
            if plan.blocks != before.blocks:
                writer.set_started_here(mark(path, plan.hash))
            left = read_run(path).pending
            todo = [trial for trial in planned(path) if trial in left or trial.order in repeats]
            whole, todo = len(todo), _until(todo, until_block)
            spool = ResultSpool(run, fleet, True)
            trials = Trials(
                plan, prepared, specs, fleet, writer, observer, stop, spool, prompts, asked.retry_failed, absent
            )
            # In a campaign the next block of a suite is what comes next: nothing that stopped goes on, and what was
            # told of the contenders is not told again.
            in_turn = until_block is not None and todo == [t for t in planned(path) if t.block == until_block]
            resumed = [] if in_turn else [Note("info", _resumed(run, todo, plan, asked))]
            known = {event.text for event in run.events} if in_turn else set()
            trials.tell([*resumed, *(note for note in (*warnings, *prepared.notes) if note.text not in known)])
            trials.calibrate()
            run_shape(plan).carry_out(plan, trials, writer, todo, run, len(todo) == whole)
    except KeyboardInterrupt:
        raise RunInterruptedError(path) from None
    return len(todo) or 1


def _until(todo: Sequence[PlannedTrial], block: int | None) -> list[PlannedTrial]:
    """Those of the blocks up to this one; all without one."""
    return [trial for trial in todo if block is None or trial.block <= block]


def _resumed(run: RunRecord, todo: Sequence[PlannedTrial], plan: Plan, asked: Asked) -> str:
    more = [f"{asked.more_blocks} blocks added after {run.blocks_whole} were seen"] if asked.more_blocks else []
    if again := len(asked.repeats(run)):
        more.append(f"{again} failed or voided trials repeated, which are kept")
    notes = "".join(f"; {each}" for each in more)
    return f"resumed with {run_shape(plan).left(plan, run, todo)}{notes}"


def _refuse_other_agents(run: RunRecord, fleet: Fleet) -> None:
    before, now = [agent.name for agent in run.agents], [agent.name for agent in fleet.agents]
    if before != now:
        raise RunFileError(
            f"{run.path} was measured by the agents {', '.join(before)}, not by {', '.join(now)}: go on with the same "
            "ones"
        )


def _refuse_other_content(run: RunRecord, prepared: PreparedContenders) -> None:
    content = run.environment.get("content")
    before = content.get("corpus") if isinstance(content, dict) else None
    if before != prepared.facts()["corpus"]:
        raise RunFileError(
            f"{run.path} was measured with another corpus ({before}) than the contenders serve now: serve the "
            f"same one again"
        )


def _missing(absent: Mapping[str, str]) -> list[Note]:
    return [Note("warning", f"{name} is missing from this run: {why}") for name, why in absent.items()]


def _header(plan: Plan, fleet: Fleet, prepared: PreparedContenders, more: Mapping[str, Any]) -> RunHeader:
    """`more` is what else stands in its environment."""
    return RunHeader(
        name=plan.name,
        suite=plan.suite,
        kind=plan.kind,
        plan=plan.to_dict(),
        plan_hash=plan.hash,
        tool=tool(fleet.facts(fleet.agents[0].name).build),
        environment={"content": prepared.facts(), **more},
        agents=fleet.records(),
        contenders=[ContenderRecord(c.name, c.address, c.reset) for c in plan.contenders],
        load_steps=plan.load_steps,
        blocks_planned=plan.blocks,
        delta=plan.delta,
    )
