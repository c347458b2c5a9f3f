"""Several observers of one run, none of which depends on the others."""

from collections.abc import Callable
from contextlib import suppress

from bakeoff.agents.result import Snapshot
from bakeoff.plan.model import Plan
from bakeoff.run.observe.observer import Observer
from bakeoff.store.records.run_records import EventRecord, PlannedTrial, SoakIntervalRecord, TrialRecord
from bakeoff.store.sqlite.write import utc_now


class Observers:
    """Tells everything to each of them, in their order.

    One that raises is told no more, for a run is worth more than what shows it; the others hear of it as a warning.
    """

    def __init__(self, *observers: Observer) -> None:
        self._observers = list(observers)

    def on_run_start(self, plan: Plan, trials: int) -> None:
        self._tell(lambda observer: observer.on_run_start(plan, trials))

    def on_forecast(self, trials: int) -> None:
        self._tell(lambda observer: observer.on_forecast(trials))

    def on_trial_start(self, trial: PlannedTrial) -> None:
        self._tell(lambda observer: observer.on_trial_start(trial))

    def on_snapshot(self, trial: PlannedTrial, snapshot: Snapshot) -> None:
        self._tell(lambda observer: observer.on_snapshot(trial, snapshot))

    def on_interval(self, row: SoakIntervalRecord, left_s: float) -> None:
        self._tell(lambda observer: observer.on_interval(row, left_s))

    def on_trial_end(self, record: TrialRecord) -> None:
        self._tell(lambda observer: observer.on_trial_end(record))

    def on_event(self, event: EventRecord) -> None:
        self._tell(lambda observer: observer.on_event(event))

    def on_question(self, open: bool) -> None:
        self._tell(lambda observer: observer.on_question(open))

    def on_run_end(self) -> None:
        self._tell(lambda observer: observer.on_run_end())

    def _tell(self, what: Callable[[Observer], None]) -> None:
        for observer in tuple(self._observers):
            try:
                what(observer)
            except Exception as error:  # whatever it is, it is not the run's
                self._observers.remove(observer)
                with suppress(Exception):
                    observer.on_run_end()
                text = f"{type(observer).__name__} shows no more of the run ({type(error).__name__}: {error})"
                self.on_event(EventRecord(utc_now(), "warning", text, None))
