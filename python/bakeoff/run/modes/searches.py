"""Searches for capacities: each slot of a contender finds its own, then measures it at shares of what was found.

Trials are planned one by one, and stored like any other. A search that was interrupted is done again with the trials
that are stored, which give it the same loads in the same order, and goes on where they end.
"""

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from bakeoff.core.errors import ContenderError, GeneratorError
from bakeoff.load.capacity.search import Found, GoneError, Search
from bakeoff.load.load_step import LoadStep
from bakeoff.plan.design.order import Slot, order_slots
from bakeoff.plan.model import Plan
from bakeoff.plan.rules.capacity import CapacityPlan
from bakeoff.run.kind import Note
from bakeoff.run.modes.search_probe import says_nothing
from bakeoff.run.trials import Trials
from bakeoff.store.records.run_records import (
    DIED,
    INTERRUPTED,
    NONE,
    SEARCH,
    SHARE,
    PlannedTrial,
    SearchRecord,
    TrialRecord,
)
from bakeoff.store.records.trial_parts import JudgedRecord
from bakeoff.store.sqlite.write import RunWriter

# A probe that says nothing is done again so often; then what voided it is the limit.
TRIES = 3


@dataclass(frozen=True)
class Before:
    """What a run file holds of searches that were interrupted."""

    planned: Sequence[PlannedTrial] = ()
    trials: Sequence[TrialRecord] = ()
    searches: Sequence[SearchRecord] = ()


class Searches:
    """All searches of a plan, in the order of its slots."""

    def __init__(self, plan: Plan, trials: Trials, writer: RunWriter, before: Before) -> None:
        assert plan.capacity is not None
        self._plan, self._capacity = plan, plan.capacity
        self._trials, self._writer = trials, writer
        self._book = _Book(before)
        self._ended = {(search.contender, search.block): search for search in before.searches}

    def run(self) -> None:
        """Every search that is not over. Marks the run as finished."""
        self._trials.carry_out(self._all, self._plan.trials - self._book.done)

    def _all(self) -> None:
        slots, book, near = order_slots(self._plan), self._book, dict[str, float]()
        deaths, block = self._trials.deaths, 0
        for number, slot in enumerate(slots, 1):
            if slot.block != block and self._trials.ends_before(slot.block):
                return
            ended, block = self._ended.get((slot.contender, slot.block)), slot.block
            why = None if ended is not None else self._trials.why_not_asked(slot.contender)
            if why is not None:
                code = deaths.code_of(slot.contender)
                self._writer.add_search(SearchRecord(slot.contender, slot.block, DIED, why, None, None, code))
                continue
            search = _SlotSearch(
                self._plan, self._capacity, slot, self._trials, self._writer, book, near.get(slot.contender)
            )
            met = search.run(ended)
            if met is not None:
                near[slot.contender] = met
            if ended is None:
                deaths.slot_ended(slot.contender, slot.block, search.died)
            pace = (book.done + book.done_here) / number
            self._trials.expect(book.done_here + round(pace * (len(slots) - number)))


class _Book:
    """The trials of the run, those of before and those that come."""

    def __init__(self, before: Before) -> None:
        self._records = {trial.order: trial for trial in before.trials if trial.state != INTERRUPTED}
        self._queues: dict[tuple[str, int], deque[PlannedTrial]] = defaultdict(deque)
        for planned in before.planned:
            self._queues[planned.contender, planned.block].append(planned)
        self.orders = len(before.planned)
        self.done = len(self._records)
        self.done_here = 0

    def queue(self, slot: Slot) -> deque[PlannedTrial]:
        """What was planned of a slot before, in its order; what is taken up again is taken out."""
        return self._queues[slot.contender, slot.block]

    def record(self, planned: PlannedTrial) -> TrialRecord | None:
        """The trial that is stored of a planned one."""
        return self._records.get(planned.order)


@dataclass
class _SlotSearch:
    """One contender in one block. `near` is what was found of it in the block before."""

    plan: Plan
    capacity: CapacityPlan
    slot: Slot
    trials: Trials
    writer: RunWriter
    book: _Book
    near: float | None
    _orders: dict[tuple[float, bool], int] = field(default_factory=dict)
    _ready: bool = False
    _last: str = ""
    died: bool = False

    def run(self, ended: SearchRecord | None) -> float | None:
        """Search, unless the search has `ended` before, then measure at shares of what was found; the load that was."""
        where = self.capacity.range
        queue = self.book.queue(self.slot)
        if ended is None:
            found = self._search()
            met = found.met
        else:
            while queue and queue[0].purpose == SEARCH:
                planned = queue.popleft()
                if planned.order == ended.met:
                    met_load_step = planned.load_step
            met = None if ended.met is None else met_load_step.x
            found = Found(ended.outcome, ended.reason, met, None)
        if met is None or found.outcome in (DIED, NONE):
            return None
        shares = self.capacity.shares if self.slot.block % 2 else tuple(reversed(self.capacity.shares))
        for share in shares:
            self._at(where.rounded(share * met), SHARE, share)
        return met

    def _search(self) -> Found:
        search = Search(self._probe, self.capacity.range, self.near)
        found = search.run()
        met, missed = (
            None if load is None else self._orders.get((load, is_met))
            for load, is_met in ((found.met, True), (found.missed, False))
        )
        record = SearchRecord(self.slot.contender, self.slot.block, found.outcome, found.reason, met, missed)
        self.writer.add_search(record)
        self.died = found.outcome == DIED
        self.trials.tell([Note("info", f"block {self.slot.block}, {self.slot.contender}: {self._outcome_text(found)}")])
        return found

    def _outcome_text(self, found: Found) -> str:
        words = self.capacity.words
        above = "" if found.missed is None else f", {words(found.missed)} did not"
        met = "no load met the objective" if found.met is None else f"{words(found.met)} met the objective{above}"
        return met + (f" ({found.reason})" if found.reason else "")

    def _probe(self, load: float) -> JudgedRecord:
        for attempt in range(TRIES):
            record = self._at(load, SEARCH, None)
            if attempt == TRIES - 1 or not says_nothing(self.capacity.goal, record):
                break
        assert record.judged is not None
        self._orders[load, record.judged.met] = record.order
        return record.judged

    def _at(self, load: float, purpose: str, share: float | None) -> TrialRecord:
        """The trial at a load: the one that is stored, or a new one. Raises GoneError where the contender is gone while
        it is searched; at a share that trial is failed.
        """
        planned = self._planned(self.capacity.load_step(self.plan.settings, load), purpose, share)
        stored = self.book.record(planned)
        if stored is not None:
            self._last = self.capacity.words(load)
            return stored
        gone = self._gone()
        if gone is not None and purpose == SEARCH:
            raise GoneError(gone)
        self.book.done_here += 1
        self._last = self.capacity.words(load)
        return self.trials.one(planned) if gone is None else self.trials.failed(planned, gone)

    def _planned(self, load_step: LoadStep, purpose: str, share: float | None) -> PlannedTrial:
        queue, slot = self.book.queue(self.slot), self.slot
        if queue:
            planned = queue.popleft()
            if (planned.load_step, planned.purpose, planned.share) != (load_step, purpose, share):
                raise GeneratorError(
                    f"{self.writer.path} was searched by other rules than this version has: run the plan again"
                )
            return planned
        planned = PlannedTrial(self.book.orders, slot.contender, load_step, slot.block, slot.seed, purpose, share)
        self.book.orders += 1
        self.writer.plan_trial(planned)
        return planned

    def _gone(self) -> str | None:
        """Why the contender cannot be asked any more, or None. A reset may bring it back, or time does."""
        contender = self.slot.contender
        if not self._ready:
            self._ready = True
            return self.trials.prepare(contender)
        try:
            self.trials.answers(contender)
            return self.trials.changed(contender)
        except ContenderError as error:
            after = f"after {self._last}" if self._last else "at the beginning"
            self.trials.tell([Note("warning", f"{contender} does not answer {after}: {error}")])
        fault = self.trials.comes_back(contender)
        if fault is None:
            self.trials.tell([Note("info", f"{contender} answers again")])
            return None
        return f"it died {after}: {fault}"
