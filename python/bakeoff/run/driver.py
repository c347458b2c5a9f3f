"""The driver loop: checks, then every planned trial in its order, each stored before the next one starts."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from bakeoff.agents.base import Agent, TrialSession
from bakeoff.agents.result import EngineEvent, Outcome
from bakeoff.agents.spec import NullWorkload, TrialSpec
from bakeoff.errors import LabError, PlanError, RunFileError, TargetError
from bakeoff.kinds import run_part
from bakeoff.mix import Clients
from bakeoff.plan.model import Contender, Plan
from bakeoff.plan.order import order_trials
from bakeoff.run.environment import environment, tool
from bakeoff.run.judge import to_record, without_result
from bakeoff.run.kind import Check, Note
from bakeoff.run.observer import Observer, trial_line
from bakeoff.run.polling import alike
from bakeoff.run.preflight import check_disk, estimate_bytes, preflight
from bakeoff.run.rehearsal import rehearse
from bakeoff.run.reset import reset
from bakeoff.run.specs import trial_spec
from bakeoff.run.started_here import mark
from bakeoff.run.stop import Stop
from bakeoff.run.trust import trusted_plan
from bakeoff.store import records
from bakeoff.store.read import pending, planned, read_run
from bakeoff.store.records import ContenderRecord, EventRecord, PlannedTrial, TrialRecord
from bakeoff.store.write import RunHeader, RunWriter, utc_now

POLL_S = 0.2
NULL_LENGTH_S = 0.5
CANCEL_PATIENCE_S = 5.0
OVERDUE_S = 30.0


class RunInterruptedError(Exception):
    """The user stopped the run. What was measured is in `path`, or nothing was and `path` is None."""

    def __init__(self, path: Path | None) -> None:
        super().__init__("interrupted")
        self.path = path


def start_run(plan: Plan, path: Path, agent: Agent, observer: Observer) -> None:
    """Check everything, then run all trials of `plan` into the new run file `path`.

    Raises a BakeoffError before anything is measured when the plan cannot be run, RunInterruptedError on
    Ctrl-C.
    """
    if path.exists():
        raise RunFileError(
            f"{path} exists already: choose another name with -o, or go on with it by `bakeoff resume {path}`"
        )
    created, stop = False, Stop()
    try:
        with stop.active():
            warnings = _warnings(plan, path)
            check, notes = _examine(plan)
            specs = _specs(plan, check)
            _check_specs(plan, specs, agent)
            rehearse(plan, specs, agent)
            order = order_trials(plan)
            with RunWriter.create(path, _header(plan, agent, check), order) as writer:
                created = True
                writer.set_started_here(mark(path, plan.hash))
                loop = _Loop(plan, check, specs, agent, writer, observer, stop, None)
                loop.tell([*warnings, *notes])
                loop.calibrate()
                loop.run(order)
    except KeyboardInterrupt:
        raise RunInterruptedError(path if created else None) from None


def resume_run(path: Path, agent: Agent, observer: Observer, given: Plan | None = None, trust: bool = False) -> int:
    """Run what is still to do in a run file; returns the number of trials that were.

    Raises RunFileError when the file is complete, in use, of another corpus than the contenders serve now, or when its
    plan may not be acted on (see bakeoff.run.trust; `given` and `trust` are what the user says).
    """
    run = read_run(path)
    todo = pending(path)
    if not todo:
        if run.finished_at is None:
            with RunWriter.reopen(path) as writer:
                writer.finish()
        return 0
    plan = trusted_plan(run, given, trust)
    if list(planned(path)) != order_trials(plan):
        raise RunFileError(f"{path} is damaged (its order of trials is not the plan's): run the plan again")
    stop = Stop()
    try:
        with stop.active(), RunWriter.reopen(path) as writer:
            writer.set_started_here(mark(path, run.plan_hash))
            warnings = _warnings(plan, path)
            check, notes = _examine(plan)
            _refuse_other_content(path, run.environment, check)
            specs = _specs(plan, check)
            _check_specs(plan, specs, agent)
            rehearse(plan, specs, agent)
            loop = _Loop(plan, check, specs, agent, writer, observer, stop, run.null_operations_per_s)
            resumed = Note("info", f"resumed with {len(todo)} of {run.trials_planned} trials to do")
            loop.tell([resumed, *warnings, *notes])
            if run.null_operations_per_s is None:
                loop.calibrate()
            loop.run(todo)
    except KeyboardInterrupt:
        raise RunInterruptedError(path) from None
    return len(todo)


def _warnings(plan: Plan, path: Path) -> list[Note]:
    return [Note("warning", text) for text in preflight(plan, path)]


def _examine(plan: Plan) -> tuple[Check, Sequence[Note]]:
    check = run_part(plan.kind).check(plan)
    for contender in plan.contenders:
        reset(contender, partial(check.answers, contender))
        check.examine(contender)
    return check, check.compare()


def _refuse_other_content(path: Path, stored: dict[str, object], check: Check) -> None:
    content = stored.get("content")
    before = content.get("corpus") if isinstance(content, dict) else None
    if before != check.facts()["corpus"]:
        raise RunFileError(
            f"{path} was measured with another corpus ({before}) than the contenders serve now: serve the "
            f"same one again"
        )


def _specs(plan: Plan, check: Check) -> dict[str, TrialSpec]:
    """The trial spec of each contender but for mix and seed: built once, a corpus has many requests."""
    return alike({c.name: trial_spec(check, c, check.addresses(c)) for c in plan.contenders})


def _check_specs(plan: Plan, specs: dict[str, TrialSpec], agent: Agent) -> None:
    """What the engine would refuse in the middle of the run it refuses now. Raises PlanError."""
    for spec in specs.values():
        for mix in dict.fromkeys((plan.settings.mix_values[0], plan.settings.mix_values[-1])):
            agent.check(spec.for_trial(mix, plan.seed))


def _header(plan: Plan, agent: Agent, check: Check) -> RunHeader:
    return RunHeader(
        name=plan.name,
        suite=plan.suite,
        kind=plan.kind,
        plan=plan.to_dict(),
        plan_hash=plan.hash,
        tool=tool(agent.describe()),
        environment={**environment(), "content": check.facts()},
        contenders=[ContenderRecord(c.name, c.address, c.reset) for c in plan.contenders],
        mixes=plan.settings.mixes,
        blocks_planned=plan.blocks,
        delta=plan.delta,
    )


class _Loop:
    """One pass over planned trials."""

    def __init__(
        self,
        plan: Plan,
        check: Check,
        specs: dict[str, TrialSpec],
        agent: Agent,
        writer: RunWriter,
        observer: Observer,
        stop: Stop,
        null_operations_per_s: float | None,
    ) -> None:
        self._plan = plan
        self._check = check
        self._specs = specs
        self._agent = agent
        self._writer = writer
        self._observer = observer
        self._stop = stop
        self._null_rate = null_operations_per_s
        self._part = run_part(plan.kind)
        self._contenders = {c.name: c for c in plan.contenders}

    def tell(self, notes: Sequence[Note]) -> None:
        """Store events of the run and show them."""
        events = [EventRecord(utc_now(), note.level, note.text, None) for note in notes]
        self._writer.add_events(events)
        for event in events:
            self._observer.on_event(event)

    def calibrate(self) -> None:
        """Measure the engine's own ceiling with the `null` workload and store it."""
        settings, cores = self._plan.settings, self._plan.settings.clock.cores
        spec = TrialSpec(
            workload=NullWorkload(),
            load=Clients(cores),  # one for each load thread: a thread without a client would idle
            length_s=NULL_LENGTH_S,
            cores=cores,
            pin=settings.pin,
        )
        session = self._agent.start(spec)
        outcome = session.wait(NULL_LENGTH_S + OVERDUE_S)
        if outcome is None or outcome.result.window_s <= 0 or not outcome.result.operations:
            session.cancel()
            raise LabError("the engine could not measure its own ceiling: build it anew with `make build`")
        self._null_rate = outcome.result.operations / outcome.result.window_s
        self._writer.set_null_rate(self._null_rate)

    def run(self, planned: Sequence[PlannedTrial]) -> None:
        """All trials, with a reset before each visit; marks the run as finished."""
        self._observer.on_run_start(self._plan, len(planned))
        try:
            try:
                self._run_trials(planned)
            finally:
                self.tell(self._check.close())
            self._writer.finish()
        finally:
            self._observer.on_run_end()

    def _run_trials(self, planned: Sequence[PlannedTrial]) -> None:
        visit, fault = None, None
        for trial in planned:
            if (trial.block, trial.contender) != visit:
                visit = (trial.block, trial.contender)
                fault = self._reset(self._contenders[trial.contender])
            reason = fault or self._changed(self._contenders[trial.contender])
            if reason is None:
                self._run_trial(trial)
            else:
                self._store(without_result(trial, utc_now(), records.FAILED, reason), {}, [])

    def _reset(self, contender: Contender) -> str | None:
        """Why the contender is not ready, or None. Not coming back fails its visit, not the run."""
        try:
            reset(contender, partial(self._check.answers, contender))
        except TargetError as error:
            self.tell([Note("warning", str(error))])
            return str(error)
        return None

    def _changed(self, contender: Contender) -> str | None:
        """Why the address does not lead to the contender any more, or None."""
        try:
            self._check.unchanged(contender)
        except TargetError as error:
            return str(error)
        return None

    def _run_trial(self, trial: PlannedTrial) -> None:
        check_disk(self._writer.path, estimate_bytes(self._plan) // max(1, self._plan.trials))
        spec = self._specs[trial.contender].for_trial(Clients(trial.mix_clients), trial.seed)
        started, events = datetime.now(UTC), list[EngineEvent]()
        session: TrialSession | None = None
        self._observer.on_trial_start(trial)
        try:
            with self._stop.deferred():
                session = self._agent.start(spec)
            outcome = self._watch(trial, session, events)
        except KeyboardInterrupt:
            if session is not None:
                with self._stop.deferred():
                    self._finish(trial, started, session, _cancel(session), events, "stopped by the user")
            raise
        except (LabError, PlanError) as error:  # the engine's fault: it says nothing about the contender
            with self._stop.deferred():
                if session is not None:
                    _cancel(session)
                text = started.isoformat(timespec="milliseconds")
                self._store(without_result(trial, text, records.VOIDED, str(error)), {}, _stamped(started, events))
            return
        with self._stop.deferred():
            self._finish(trial, started, session, outcome, events, None)

    def _watch(self, trial: PlannedTrial, session: TrialSession, events: list[EngineEvent]) -> Outcome | None:
        """Wait for the outcome; None when the engine is long overdue."""
        s = self._plan.settings
        until = time.monotonic() + s.around_s + s.length_s + s.reply_timeout_s + s.clock.connect_timeout_s + OVERDUE_S
        while time.monotonic() < until:
            outcome = session.wait(POLL_S)
            if outcome is not None:
                return outcome
            self._observer.on_snapshot(trial, session.snapshot())
            events += session.drain_events()
        _cancel(session)
        return None

    def _finish(
        self,
        trial: PlannedTrial,
        started: datetime,
        session: TrialSession,
        outcome: Outcome | None,
        events: list[EngineEvent],
        interruption: str | None,
    ) -> None:
        """Store a trial that ended, was stopped (`interruption` says why) or did not end."""
        text = started.isoformat(timespec="milliseconds")
        events += _last_events(session)
        if outcome is not None:
            record = to_record(trial, text, outcome.result, self._plan.error_limit, self._null_rate, self._part)
        elif interruption is not None:
            record = without_result(trial, text, records.INTERRUPTED, interruption)
        else:
            record = without_result(trial, text, records.FAILED, "the trial did not end in time and was given up")
        notes = _stamped(started, events)
        if record.state == records.INTERRUPTED:  # resume repeats the trial; that it was stopped must stay known
            notes.append(EventRecord(utc_now(), "warning", f"trial interrupted: {trial_line(record)}", None))
        self._store(record, dict(outcome.histograms) if outcome else {}, notes)

    def _store(self, record: TrialRecord, histograms: dict[str, bytes], events: Sequence[EventRecord]) -> None:
        self._writer.add_trial(record, histograms, events)
        for event in events:
            self._observer.on_event(event)
        self._observer.on_trial_end(record)


def _cancel(session: TrialSession) -> Outcome | None:
    session.cancel()
    try:
        return session.wait(CANCEL_PATIENCE_S)
    except LabError:
        return None


def _last_events(session: TrialSession) -> Sequence[EngineEvent]:
    try:
        return session.drain_events()
    except LabError:
        return ()


def _stamped(started: datetime, events: Sequence[EngineEvent]) -> list[EventRecord]:
    return [
        EventRecord((started + timedelta(seconds=e.at_s)).isoformat(timespec="milliseconds"), e.level, e.text, None)
        for e in events
    ]
