"""Every planned trial in its order, each stored before the next one starts."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

from bakeoff.agents.result import EngineEvent, Outcome
from bakeoff.agents.spec import NullWorkload, TrialSpec
from bakeoff.errors import AgentLostError, LabError, PlanError, RunFileError, TargetError
from bakeoff.kinds import run_part
from bakeoff.mix import Clients
from bakeoff.plan.model import Contender, Plan
from bakeoff.run.counsel import Counsel
from bakeoff.run.dead import Deaths, Silence, is_dead
from bakeoff.run.fleet import Fleet
from bakeoff.run.fleet_session import FleetOutcome, FleetSession
from bakeoff.run.ground import Ground, Specs
from bakeoff.run.judge import without_result
from bakeoff.run.kept import Kept, KeptTrial
from bakeoff.run.kind import Note
from bakeoff.run.losses import Losses
from bakeoff.run.observer import Observer, trial_line
from bakeoff.run.preflight import check_disk, trial_bytes
from bakeoff.run.probe import judged
from bakeoff.run.reset import reset, wait_for
from bakeoff.run.settle import Settle
from bakeoff.run.shares import trial_record
from bakeoff.run.soak import Stretch, soaks
from bakeoff.run.stop import Stop
from bakeoff.store import records
from bakeoff.store.read import read_run
from bakeoff.store.records import AmendmentRecord, EventRecord, PlannedTrial, TrialRecord
from bakeoff.store.write import RunWriter, utc_now

POLL_S = 0.2
NULL_LENGTHS_S = (0.5, 2.0, 8.0)
# So many connections keep a load thread busy; so many at most are made anew, each of which takes a port for a while.
NULL_CONNECTIONS, MOST_CONNECTIONS = 32, 10_000
CANCEL_PATIENCE_S = 5.0
OVERDUE_S = 30.0


class Trials:
    """One pass over planned trials."""

    def __init__(
        self,
        plan: Plan,
        ground: Ground,
        specs: Specs,
        fleet: Fleet,
        writer: RunWriter,
        observer: Observer,
        stop: Stop,
        kept: Kept,
        counsel: Counsel,
        null_operations_per_s: float | None = None,
        ceilings: Mapping[str, float] | None = None,
        retry: bool = False,
    ) -> None:
        self._plan = plan
        self._ground = ground
        self._specs = specs
        self._fleet = fleet
        self._writer = writer
        self._observer = observer
        self._stop = stop
        self._kept = kept
        self._null_rate, self._ceilings = null_operations_per_s, dict(ceilings or {})
        self._part = run_part(plan.kind)
        self._contenders = {c.name: c for c in plan.contenders}
        self._losses = Losses(plan, fleet, lambda note: self.tell([note]), self._fewer)
        self._settle = Settle(self.answers, lambda note: self.tell([note]))
        self._clear = counsel.clear
        asking = None if counsel.ask is None else partial(self._asked, counsel.ask)
        run = read_run(writer.path)
        self._visits: dict[tuple[int, str], list[TrialRecord]] = defaultdict(list)
        for trial in () if retry else run.trials:
            self._visits[trial.block, trial.contender].append(trial)
        self.deaths = Deaths(plan, run, writer, asking, lambda note: self.tell([note]), retry)

    def tell(self, notes: Sequence[Note]) -> None:
        """Store events of the run and show them."""
        events = [EventRecord(utc_now(), note.level, note.text, None) for note in notes]
        self._writer.add_events(events)
        for event in events:
            self._observer.on_event(event)

    def calibrate(self) -> None:
        """Measure what the generator asks at most: each agent asks a server on its own loopback that does nothing, all
        at once, and it is stored. A machine so busy that not one operation was done is asked for longer. Where Bakeoff
        has no such server for this work nothing is measured.
        """
        if self._specs.of_nothing is None:
            return
        for length_s in NULL_LENGTHS_S:
            outcome = self._null_outcome(length_s)
            rate = _null_rate(None if outcome is None else outcome.whole)
            if outcome is not None and rate:
                self._null_rate = rate
                self._ceilings = {part.agent: _null_rate(part.outcome) for part in outcome.parts}
                self._writer.set_null_rate(rate, self._ceilings)
                return
        raise LabError("the engine could not measure its own ceiling: build it anew with `make build`")

    def _null_outcome(self, length_s: float) -> FleetOutcome | None:
        """What all agents asked of servers that do nothing in `length_s`; None when they did not end."""
        nothing = self._specs.of_nothing
        if nothing is None:
            return None
        settings, cores = self._plan.settings, self._plan.settings.clock.cores
        spec = TrialSpec(
            workload=NullWorkload(server=nothing),
            load=Clients(NULL_CONNECTIONS * cores * len(self._fleet.active)),
            length_s=length_s,
            max_operations=None if nothing.is_kept else MOST_CONNECTIONS,
            cores=cores,
            pin=settings.pin,
        )
        # What they tell is merged as that of the work itself, for which any address will do.
        merged_by = spec.model_copy(update={"workload": nothing.at("127.0.0.1:1")})
        session = self._fleet.start({agent.name: spec for agent in self._fleet.active}, merged_by)
        outcome = session.wait(length_s + OVERDUE_S)
        if outcome is not None and outcome.lost:
            raise LabError(f"{outcome.lost}: bring it back, then run the plan again")
        if outcome is None:
            session.cancel()
        return outcome

    def run(self, planned: Sequence[PlannedTrial], whole: bool = True) -> None:
        """All trials, with a reset before each visit; marks the run as finished when they are the `whole` rest."""
        self.carry_out(partial(self._run_trials, planned), len(planned), whole)

    def carry_out(self, work: Callable[[], None], trials: int, whole: bool = True) -> None:
        """Do `work`, which does about so many trials; marks the run as finished when it is the `whole` rest."""
        self._observer.on_run_start(self._plan, trials)
        try:
            try:
                work()
            except AgentLostError as error:
                raise LabError(f"{error}: bring it back, then `bakeoff resume {self._writer.path}`") from None
            finally:
                self.tell(self._ground.close())
            if whole:
                self._writer.finish()
        finally:
            self._observer.on_run_end()

    def _run_trials(self, planned: Sequence[PlannedTrial]) -> None:
        visit, fault = None, None
        for trial in planned:
            if (trial.block, trial.contender) != visit:
                self._end_visit(visit)
                if (visit is None or visit[0] != trial.block) and self.ends_before(trial.block):
                    return
                visit = (trial.block, trial.contender)
                fault = self.deaths.why_left_out(trial.contender) or self.visit(trial.contender)
            reason = fault or self.changed(trial.contender)
            record = self.one(trial) if reason is None else self.failed(trial, reason)
            self._visits[trial.block, trial.contender].append(record)
            fault = fault or self._silent(record)
        self._end_visit(visit)

    def _end_visit(self, visit: tuple[int, str] | None) -> None:
        if visit is not None:
            self.deaths.visited(visit[1], visit[0], is_dead(self._visits[visit]))

    def _silent(self, record: TrialRecord) -> str | None:
        """Why the rest of a visit need not be asked: nothing came back in this trial, and nobody answers."""
        if record.state != records.FAILED or record.operations or self._plan.dead_after_s is None:
            return None
        try:
            self.answers(record.contender)
        except TargetError as error:
            return f"dead since the trial before, at {record.mix.words}: {error}"
        return None

    def ends_before(self, block: int) -> bool:
        """Whether the run ends at a planned look, before a block, as its verdict is clear."""
        looks = self._plan.looks or ()
        if not self._plan.until_clear or block - 1 not in looks:
            return False
        if self._clear is None:
            raise LabError("this run cannot look whether its verdict is clear: nobody told it how")
        why = self._clear(self._writer.path)
        if why is None:
            self.tell([Note("info", f"look after {block - 1} blocks: not clear yet, the run goes on")])
            return False
        text, plan = f"clear at the planned look after {block - 1} of {self._plan.blocks} blocks: {why}", self._plan
        run = read_run(self._writer.path)
        self._writer.amend(
            AmendmentRecord(utc_now(), records.CLEAR, text, block - 1, plan.blocks, block - 1, None, run.plan_hash)
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

    def visit(self, name: str) -> str | None:
        """Make a contender ready for its trials; why it is not, or None. Not coming back fails its visit, not the
        run.
        """
        contender = self._contenders[name]
        try:
            reset(contender, partial(self._answers, contender))
        except TargetError as error:
            self.tell([Note("warning", str(error))])
            return str(error)
        return None

    def answers(self, name: str) -> None:
        """Raises TargetError unless a contender answers now."""
        self._answers(self._contenders[name])

    def _answers(self, contender: Contender) -> None:
        self._losses.surviving(partial(self._ground.answers, contender))

    def comes_back(self, name: str) -> str | None:
        """Wait for a contender that did not answer, after its reset where it has one; why it does not, or None."""
        contender = self._contenders[name]
        if contender.reset is not None:
            return self.visit(name)
        try:
            wait_for(contender, partial(self._answers, contender), "it did not answer before")
        except TargetError as error:
            return str(error)
        return None

    def changed(self, name: str) -> str | None:
        """Why the address does not lead to the contender any more, or None."""
        try:
            self._losses.surviving(partial(self._ground.unchanged, self._contenders[name]))
        except TargetError as error:
            return str(error)
        return None

    def failed(self, trial: PlannedTrial, reason: str) -> TrialRecord:
        """Store a trial that could not be, and may not be left out."""
        return self._store(trial, without_result(trial, utc_now(), records.FAILED, reason), {}, [])

    def one(self, trial: PlannedTrial) -> TrialRecord:
        """Do one trial and store it; without agents that are lost before it begins, where the plan allows that."""
        record, losses = self._losses.surviving(partial(self._one, trial))
        self._losses.after(losses)
        return record

    def _fewer(self) -> None:
        """Fewer agents are left, and so their ceiling is lower. The run file keeps that of all."""
        if self._null_rate is not None:
            outcome = self._null_outcome(NULL_LENGTHS_S[0])
            self._null_rate = _null_rate(None if outcome is None else outcome.whole) or self._null_rate

    def _one(self, trial: PlannedTrial) -> tuple[TrialRecord, list[AgentLostError]]:
        """The same, and who was lost in the middle. Raises AgentLostError when one was before anything was sent."""
        check_disk(self._writer.path, trial_bytes(self._plan))
        specs = self._specs.of(trial.contender, trial.mix, trial.seed)
        stretch = Stretch(self._plan, trial, self._writer, self._observer) if soaks(self._plan) else None
        if stretch is not None and stretch.is_over:
            return self._store(trial, *stretch.from_rows(), []), []
        if stretch is not None:
            specs = stretch.specs(specs)
        known = self._kept.find(trial, specs) if stretch is None else None
        if known is not None:
            return self._take(trial, known), []
        self._settle.before(trial.contender)
        self._kept.begin(trial)
        started, events = datetime.now(UTC), list[EngineEvent]()
        session: FleetSession | None = None
        self._observer.on_trial_start(trial)
        try:
            with self._stop.deferred():
                session = self._fleet.start(specs, self._specs.here(specs))
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
        except (LabError, PlanError) as error:  # the engine's fault: it says nothing about the contender
            with self._stop.deferred():
                if session is not None:
                    _cancel(session)
                text = started.isoformat(timespec="milliseconds")
                void = without_result(trial, text, records.VOIDED, str(error))
                return self._store(trial, void, {}, _stamped(started, events)), []
        with self._stop.deferred():
            losses = [] if outcome is None else outcome.losses
            interruption = str(losses[0]) if stretch is not None and losses else None
            record = self._finish(trial, started, session, outcome, events, stretch, interruption, cut)
            self._kept.stored(trial)
            if interruption is not None:  # what is left of a soak is for another stretch with all of them
                raise LabError(f"{interruption}: bring it back, then `bakeoff resume {self._writer.path}`")
            return record, losses

    def _take(self, trial: PlannedTrial, known: KeptTrial) -> TrialRecord:
        """Store a trial that its machines did before the run was gone on with."""
        self.tell([Note("info", known.note)])
        limit, spread_s = self._plan.error_limit, self._plan.fleet.start_spread_s
        at, outcome, null_rate = known.started_at, known.outcome, self._null_rate
        record = trial_record(trial, at, outcome, limit, null_rate, self._part, False, spread_s, self._ceilings)
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
        until = time.monotonic() + s.around_s + s.length_s + s.reply_timeout_s + s.clock.connect_timeout_s + OVERDUE_S
        while time.monotonic() < until:
            outcome = session.wait(POLL_S)
            with self._stop.deferred():
                _take_rows(session, stretch)
            if outcome is not None:
                return outcome, None
            snapshot = session.snapshot()
            self._observer.on_snapshot(trial, snapshot)
            events += session.drain_events()
            if stretch is not None:
                stretch.watch(snapshot)
                if stretch.stopped_by is not None:
                    outcome = _cancel(session)
                    _take_rows(session, stretch)
                    return outcome, None
            elif (dead := silence.look(snapshot)) is not None:
                return _cancel(session), dead
        _cancel(session)
        return None, None

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
        if outcome is not None:
            limit, stopped = self._plan.error_limit, interruption is not None
            spread_s = self._plan.fleet.start_spread_s
            record = trial_record(
                trial, text, outcome, limit, self._null_rate, self._part, stopped, spread_s, self._ceilings
            )
        elif interruption is not None:
            record = without_result(trial, text, records.INTERRUPTED, interruption)
        else:
            record = without_result(trial, text, records.FAILED, "the trial did not end in time and was given up")
        if cut is not None and record.state != records.VOIDED:
            record = replace(record, state=records.FAILED, reason=cut)
        if stretch is not None:
            record = stretch.concluded(record)
        notes = _stamped(started, events)
        if record.state == records.INTERRUPTED:  # resume repeats the trial; that it was stopped must stay known
            notes.append(EventRecord(utc_now(), "warning", f"trial interrupted: {trial_line(record)}", None))
        whole = None if outcome is None else outcome.whole
        return self._store(trial, record, dict(whole.histograms) if whole else {}, notes)

    def _store(
        self, planned: PlannedTrial, record: TrialRecord, histograms: dict[str, bytes], events: Sequence[EventRecord]
    ) -> TrialRecord:
        if self._plan.capacity is not None:
            verdict = judged(self._plan.capacity.goal, record, histograms)
            record = replace(record, purpose=planned.purpose, share=planned.share, judged=verdict)
        self._settle.after(record)
        self._writer.add_trial(record, histograms, events)
        for event in events:
            self._observer.on_event(event)
        self._observer.on_trial_end(record)
        return record


def _null_rate(outcome: Outcome | None) -> float:
    """Operations per second of the `null` workload; 0 without any."""
    result = None if outcome is None else outcome.result
    return result.operations / result.window_s if result is not None and result.window_s > 0 else 0.0


def _take_rows(session: FleetSession, stretch: Stretch | None) -> None:
    """Store the rows of a soak that ended since the last look."""
    rows = session.drain_rows() if stretch is not None else ()
    if stretch is not None and rows:
        stretch.take(rows, session.snapshot().elapsed_s)


def _cancel(session: FleetSession) -> FleetOutcome | None:
    session.cancel()
    try:
        return session.wait(CANCEL_PATIENCE_S)
    except LabError:
        return None


def _last_events(session: FleetSession) -> Sequence[EngineEvent]:
    try:
        return session.drain_events()
    except LabError:
        return ()


def _stamped(started: datetime, events: Sequence[EngineEvent]) -> list[EventRecord]:
    return [
        EventRecord((started + timedelta(seconds=e.at_s)).isoformat(timespec="milliseconds"), e.level, e.text, None)
        for e in events
    ]
