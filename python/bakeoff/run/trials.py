"""Every planned trial in its order, each stored before the next one starts."""

import gc
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby

from bakeoff.agents.machine.thread_priority import uncollected
from bakeoff.agents.result import DisturbancesResult, EngineEvent
from bakeoff.core.errors import AgentLostError, ContenderError, GeneratorError, PlanError, RunFileError
from bakeoff.plan.model import LOAD_STEPS, Contender, Plan
from bakeoff.run.checks.generator_capacity import GeneratorCapacities
from bakeoff.run.checks.preflight import check_disk, trial_bytes
from bakeoff.run.contenders.dead_contenders import Deaths, Silence, is_dead
from bakeoff.run.contenders.liveness_check import gone_notes
from bakeoff.run.contenders.prepared import PreparedContenders, Specs
from bakeoff.run.contenders.quiesce import Quiesce
from bakeoff.run.contenders.reset import reset, wait_for
from bakeoff.run.fleet.agent_loss import AgentLosses
from bakeoff.run.fleet.agent_results import trial_record
from bakeoff.run.fleet.session import FleetOutcome, FleetSession
from bakeoff.run.fleet.sessions import Fleet
from bakeoff.run.kind import Note, run_part
from bakeoff.run.modes.search_probe import judged
from bakeoff.run.modes.soak import Stretch
from bakeoff.run.observe.observer import Observer, trial_line
from bakeoff.run.observe.watching import Watching
from bakeoff.run.outcome.all_attempts import all_attempts_of
from bakeoff.run.outcome.judge import without_result
from bakeoff.run.outcome.result_spool import ResultSpool, SpooledTrial
from bakeoff.run.outcome.void_intervals import apart
from bakeoff.run.prompts import Prompts
from bakeoff.run.sampling import Sampling
from bakeoff.run.shapes import run_shape
from bakeoff.run.stop import Stop
from bakeoff.store.records import run_records
from bakeoff.store.records.check_facts import facts_of, found_otherwise
from bakeoff.store.records.run_records import AmendmentRecord, EventRecord, PlannedTrial, TrialRecord
from bakeoff.store.sqlite.read import read_run
from bakeoff.store.sqlite.write import RunWriter, utc_now

POLL_S = 1.0
CANCEL_PATIENCE_S = 5.0
OVERDUE_S = 30.0


class Trials:
    """One pass over planned trials. Those of contenders that are `absent`, for which reason, are stored as failed."""

    def __init__(
        self,
        plan: Plan,
        prepared: PreparedContenders,
        specs: Specs,
        fleet: Fleet,
        writer: RunWriter,
        observer: Observer,
        stop: Stop,
        spool: ResultSpool,
        prompts: Prompts,
        retry: bool = False,
        absent: Mapping[str, str] | None = None,
    ) -> None:
        self._plan = plan
        self._absent = dict(absent or {})
        self._prepared = prepared
        self._specs = specs
        self._fleet = fleet
        self._writer = writer
        self._observer = observer
        self._stop = stop
        self._kept = spool
        self._part = run_part(plan.kind)
        self._goal = plan.goal
        self._contenders = {c.name: c for c in plan.contenders}
        run = read_run(writer.path)
        self._generator_capacities = GeneratorCapacities(plan, specs, fleet, run)
        self._losses = AgentLosses(plan, fleet, lambda note: self.tell([note]), self._generator_capacities.fewer)
        self._settle = Quiesce(self.answers, lambda note: self.tell([note]))
        self._watching = Watching(plan, lambda note: self.tell([note]))
        self._analyse = prompts.analyse
        asking = None if prompts.ask is None else partial(self._asked, prompts.ask)
        self._begun = {c.name: facts_of(run.environment, c.name) for c in plan.contenders}
        self._last = {trial.contender: trial for trial in run.trials}
        self._slots: dict[tuple[int, str], list[TrialRecord]] = defaultdict(list)
        for trial in () if retry else run.trials:
            self._slots[trial.block, trial.contender].append(trial)
        self.deaths = Deaths(plan, run, writer, asking, lambda note: self.tell([note]), retry)

    def tell(self, notes: Sequence[Note]) -> None:
        """Store events of the run and show them."""
        events = [EventRecord(utc_now(), n.level, n.text, None, n.code, n.contender, n.reason) for n in notes]
        self._writer.add_events(events)
        for event in events:
            self._observer.on_event(event)

    def calibrate(self) -> None:
        """Measure what the generator asks at most, in each way in which it asks, as far as that is not known."""
        self._generator_capacities.measure(self._writer)

    def run(self, planned: Sequence[PlannedTrial], whole: bool = True) -> None:
        """All trials, with a reset before each turn of a contender; marks the run as finished when they are the `whole`
        rest.
        """
        self.carry_out(partial(self._run_trials, planned), len(planned), whole)

    def carry_out(self, work: Callable[[], None], trials: int, whole: bool = True) -> None:
        """Do `work`, which does about so many trials; marks the run as finished when it is the `whole` rest."""
        self._observer.on_run_start(self._plan, trials)
        try:
            try:
                work()
                if whole:
                    self.tell(gone_notes(self._plan, self._last, self.why_not_asked, self.answers))
            except AgentLostError as error:
                raise GeneratorError(f"{error}: bring it back, then `bakeoff resume {self._writer.path}`") from None
            finally:
                self._watching.close()
                self.tell(self._prepared.close())
            if whole:
                self._writer.finish()
        finally:
            self._observer.on_run_end()

    def _run_trials(self, planned: Sequence[PlannedTrial]) -> None:
        for block, trials in groupby(planned, key=lambda trial: trial.block):
            if self.ends_before(block):
                return
            self._run_block(block, list(trials))

    def _run_block(self, block: int, planned: Sequence[PlannedTrial]) -> None:
        """The trials of a block. A contender is made ready at each of its turns: its slot, or by load steps each
        trial. Once it is not there, it is not asked in this block any more.
        """
        faults: dict[str, str | None] = {}
        by_load_steps = self._plan.order == LOAD_STEPS
        for (name, _), turn in groupby(
            planned, key=lambda trial: (trial.contender, trial.load_step if by_load_steps else None)
        ):
            if name not in faults:
                faults[name] = self.why_not_asked(name)
            faults[name] = faults[name] or self.prepare(name)
            for trial in turn:
                reason = faults[name] or self.changed(name)
                record = self.one(trial) if reason is None else self.failed(trial, reason)
                self._slots[block, name].append(record)
                faults[name] = faults[name] or self._unresponsive(record)
        for name in faults:
            self.deaths.slot_ended(name, block, is_dead(self._slots[block, name]))

    def why_not_asked(self, name: str) -> str | None:
        """Why a contender is asked nothing now: the run goes on without it, or it was not there at the begin."""
        return self.deaths.why_left_out(name) or self._absent.get(name)

    def _unresponsive(self, record: TrialRecord) -> str | None:
        """Why the rest of a slot need not be asked: nothing came back in this trial, and nobody answers."""
        if record.state != run_records.FAILED or record.operations or self._plan.dead_after_s is None:
            return None
        try:
            self.answers(record.contender)
        except ContenderError as error:
            return f"dead since the trial before, at {record.load_step.words}: {error}"
        return None

    def ends_before(self, block: int) -> bool:
        """Whether the run ends at a planned interim analysis, before a block, as what its plan waits for is there."""
        planned = self._plan.interim_analyses or ()
        if self._plan.until is None or block - 1 not in planned:
            return False
        if self._analyse is None:
            raise GeneratorError("this run cannot analyse itself: no analysis was given")
        found, plan = self._analyse(self._writer.path), self._plan
        number = f"{planned.index(block - 1) + 1} of {len(planned)}"
        where = f"interim analysis {number}, after {block - 1} of {plan.blocks} blocks"
        if not found.ends:
            self.tell([Note("info", f"{where}: {found.words}; the run goes on")])
            return False
        text = f"stopped at {where}: {found.words}"
        run = read_run(self._writer.path)
        self._writer.amend(
            AmendmentRecord(utc_now(), run_records.CLEAR, text, block - 1, plan.blocks, block - 1, None, run.plan_hash)
        )
        self.tell([Note("info", text)])
        return True

    def _asked(self, ask: Callable[[str], bool], question: str) -> bool:
        """Put a question to the user, with nothing drawn over it."""
        self._observer.on_question(True)
        try:
            return ask(question)
        finally:
            self._observer.on_question(False)

    def expect(self, trials: int) -> None:
        """So many trials are expected now, with those that are done."""
        self._observer.on_forecast(trials)

    def prepare(self, name: str) -> str | None:
        """Make a contender ready for its trials; why it is not, or None. Not coming back fails its slot, not the
        run.
        """
        contender = self._contenders[name]
        try:
            reset(contender, partial(self._answers, contender))
        except ContenderError as error:
            self.tell([Note("warning", str(error))])
            return str(error)
        return None

    def answers(self, name: str) -> None:
        """Raises ContenderError unless a contender answers now."""
        self._answers(self._contenders[name])

    def _answers(self, contender: Contender) -> None:
        self._losses.surviving(partial(self._prepared.answers, contender))

    def comes_back(self, name: str) -> str | None:
        """Wait for a contender that did not answer, after its reset where it has one; why it does not, or None."""
        contender = self._contenders[name]
        if contender.reset is not None:
            return self.prepare(name)
        try:
            wait_for(contender, partial(self._answers, contender), "it did not answer before")
        except ContenderError as error:
            return str(error)
        return None

    def changed(self, name: str) -> str | None:
        """Why the address does not lead to the contender any more, or None."""
        try:
            self._losses.surviving(partial(self._prepared.unchanged, self._contenders[name]))
        except ContenderError as error:
            return str(error)
        return None

    def failed(self, trial: PlannedTrial, reason: str) -> TrialRecord:
        """Store a trial that could not be, and may not be left out."""
        record = without_result(trial, utc_now(), run_records.FAILED, reason)
        return self._store(trial, replace(record, code=self.deaths.code_of(trial.contender)), {}, [])

    def one(self, trial: PlannedTrial) -> TrialRecord:
        """Do one trial and store it; without agents that are lost before it begins, where the plan allows that."""
        record, losses = self._losses.surviving(partial(self._one, trial))
        self._losses.after(losses)
        return record

    def _one(self, trial: PlannedTrial) -> tuple[TrialRecord, list[AgentLostError]]:
        """The same, and who was lost in the middle. Raises AgentLostError when one was before anything was sent."""
        check_disk(self._writer.path, trial_bytes(self._plan))
        specs = self._specs.of(trial.contender, trial.load_step, trial.seed)
        stretch = run_shape(self._plan).stretch(self._plan, trial, self._writer, self._observer)
        if stretch is not None and stretch.is_over:
            return self._store(trial, *stretch.from_rows(), []), []
        if stretch is not None:
            specs = stretch.specs(specs)
        known = self._kept.find(trial, specs) if stretch is None else None
        if known is not None:
            return self._take(trial, known), []
        self._settle.before()
        self._kept.begin(trial)
        started, events = datetime.now(UTC), list[EngineEvent]()
        session: FleetSession | None = None
        self._observer.on_trial_start(trial)
        self._watching.begin(trial)
        try:
            with self._stop.deferred():
                session = self._fleet.start(specs, self._specs.here(specs))
            with uncollected():
                outcome, cut = self._watch(trial, session, events, stretch)
        except KeyboardInterrupt:
            if session is not None:
                with self._stop.deferred():
                    outcome = _cancel(session)
                    _take_rows(session, stretch)
                    self._finish(trial, started, session, outcome, events, stretch, "stopped by the user")
            raise
        except RunFileError:  # such as a full disk: what was stored stays
            if session is not None:
                session.cancel()
            raise
        except AgentLostError:  # nothing was sent: the trial can be done when the agent is back
            raise
        except (GeneratorError, PlanError) as error:  # the engine's fault: it says nothing about the contender
            with self._stop.deferred():
                if session is not None:
                    _cancel(session)
                text = started.isoformat(timespec="milliseconds")
                void = without_result(trial, text, run_records.VOIDED, str(error))
                return self._store(trial, void, {}, _stamped(started, events)), []
        with self._stop.deferred():
            losses = [] if outcome is None else outcome.losses
            interruption = str(losses[0]) if stretch is not None and losses else None
            record = self._finish(trial, started, session, outcome, events, stretch, interruption, cut)
            self._kept.stored(trial)
            if interruption is not None:  # what is left of a soak is for another stretch with all of them
                raise GeneratorError(f"{interruption}: bring it back, then `bakeoff resume {self._writer.path}`")
            return record, losses

    def _take(self, trial: PlannedTrial, known: SpooledTrial) -> TrialRecord:
        """Store a trial that its machines did before the run was gone on with."""
        self.tell([Note("info", known.note)])
        limit, spread_s = self._plan.error_limit, self._plan.fleet.start_spread_s
        at, outcome, capacity = known.started_at, known.outcome, self._generator_capacities.of(trial.contender)
        record = trial_record(trial, at, outcome, limit, capacity, self._part, False, spread_s)
        with self._stop.deferred():
            whole = known.outcome.whole
            notes = _stamped(datetime.fromisoformat(known.started_at), known.events)
            record = self._store(trial, record, dict(whole.histograms) if whole else {}, notes)
            self._kept.stored(trial)
            return record

    def _watch(
        self, trial: PlannedTrial, session: FleetSession, events: list[EngineEvent], stretch: Stretch | None
    ) -> tuple[FleetOutcome | None, str | None]:
        """Wait for the outcome; None when the engine is long overdue. And why it was cut, where a contender is dead."""
        s, silence = self._plan.settings, Silence(self._plan)
        until = (
            time.monotonic()
            + s.setup_teardown_s
            + s.length_s
            + s.reply_timeout_s
            + s.clock.connect_timeout_s
            + OVERDUE_S
        )
        dead: str | None = None

        def sample() -> None:
            nonlocal dead
            snapshot = session.snapshot()
            self._watching.elapsed(snapshot.elapsed_s)
            self._observer.on_snapshot(trial, snapshot)
            events.extend(session.drain_events())
            if stretch is not None:
                stretch.watch(snapshot)
            elif dead is None and (dead := silence.add(snapshot)) is not None:
                session.cancel()

        # Beside the load a thread samples, and this one sleeps until all is over.
        rest = session.rests()
        sampling = None if rest is None else Sampling(rest, sample, session.cancel)
        try:
            while (left_s := until - time.monotonic()) > 0.0:
                outcome = session.wait(left_s if sampling is not None and stretch is None else POLL_S)
                with self._stop.deferred():
                    _take_rows(session, stretch)
                if outcome is not None:
                    if sampling is not None:
                        sampling.end()
                    return outcome, dead
                if sampling is None:
                    sample()
                if stretch is not None and stretch.stopped_by is not None:
                    outcome = _cancel(session)
                    _take_rows(session, stretch)
                    return outcome, None
                if sampling is None and dead is not None:
                    return _cancel(session), dead
            _cancel(session)
            return None, None
        finally:
            if sampling is not None:
                sampling.close()

    def _finish(
        self,
        trial: PlannedTrial,
        started: datetime,
        session: FleetSession,
        outcome: FleetOutcome | None,
        events: list[EngineEvent],
        stretch: Stretch | None,
        interruption: str | None,
        cut: str | None = None,
    ) -> TrialRecord:
        """Store a trial that ended, was stopped (`interruption` says why), was `cut` as the contender is dead, or did
        not end.
        """
        text = started.isoformat(timespec="milliseconds")
        events += _last_events(session)
        disturbances: Sequence[DisturbancesResult] = ()
        if outcome is not None and stretch is not None:
            outcome, disturbances = apart(outcome)
            outcome = stretch.counted(outcome, disturbances)
        if outcome is not None:
            limit, stopped = self._plan.error_limit, interruption is not None
            spread_s = self._plan.fleet.start_spread_s
            capacity = self._generator_capacities.of(trial.contender)
            record = trial_record(trial, text, outcome, limit, capacity, self._part, stopped, spread_s)
        elif interruption is not None:
            record = without_result(trial, text, run_records.INTERRUPTED, interruption)
        else:
            record = without_result(trial, text, run_records.FAILED, "the trial did not end in time and was given up")
        if cut is not None and record.state != run_records.VOIDED:
            record = replace(record, state=run_records.FAILED, reason=cut)
        whole = None if outcome is None else outcome.whole
        histograms = dict(whole.histograms) if whole else {}
        if stretch is not None:
            record, histograms = stretch.without_void(record, histograms, disturbances)
            record = stretch.concluded(record)
        record = replace(record, telemetry=(*record.telemetry, *self._watching.seen(trial, outcome, record)))
        notes = _stamped(started, events)
        if record.state == run_records.INTERRUPTED:  # resume repeats the trial; that it was stopped must stay known
            notes.append(EventRecord(utc_now(), "warning", f"trial interrupted: {trial_line(record)}", None))
        return self._store(trial, replace(record, tried=all_attempts_of(record, histograms)), histograms, notes)

    def _store(
        self, planned: PlannedTrial, record: TrialRecord, histograms: dict[str, bytes], events: Sequence[EventRecord]
    ) -> TrialRecord:
        if self._goal is not None:
            verdict = judged(self._goal, record, histograms, self._part)
            record = replace(record, purpose=planned.purpose, share=planned.share, judged=verdict)
        found = found_otherwise(self._begun[record.contender], self._prepared.found(record.contender))
        record = replace(record, found=found)
        self._settle.after(record)
        self._last[record.contender] = record
        self._writer.add_trial(record, histograms, events)
        for event in events:
            self._observer.on_event(event)
        self._observer.on_trial_end(record)
        return record


def _take_rows(session: FleetSession, stretch: Stretch | None) -> None:
    """Store the intervals of a soak that ended since the last sample."""
    rows = session.drain_intervals() if stretch is not None else ()
    if stretch is not None and rows:
        stretch.take(rows, session.snapshot().elapsed_s)
        gc.collect(0)  # nothing else collects what a trial of days leaves behind


def _cancel(session: FleetSession) -> FleetOutcome | None:
    session.cancel()
    try:
        return session.wait(CANCEL_PATIENCE_S)
    except GeneratorError:
        return None


def _last_events(session: FleetSession) -> Sequence[EngineEvent]:
    try:
        return session.drain_events()
    except GeneratorError:
        return ()


def _stamped(started: datetime, events: Sequence[EngineEvent]) -> list[EventRecord]:
    return [
        EventRecord((started + timedelta(seconds=e.at_s)).isoformat(timespec="milliseconds"), e.level, e.text, None)
        for e in events
    ]
