"""What a campaign shows of its suites while it runs: what one said before its trials, others do not say again."""

from bakeoff.plan.model import Plan
from bakeoff.run.observe.observer import Observer
from bakeoff.run.observe.observer_group import Observers
from bakeoff.store.records.run_records import EventRecord


class DeduplicatingObserver(Observers):
    """Tells all to `observer`, but before the trials of a suite no text twice: notes on the machine are alike for all
    suites, and each run file has its own.
    """

    def __init__(self, observer: Observer) -> None:
        super().__init__(observer)
        self._reported: set[str] = set()
        self._measures = False

    def on_run_start(self, plan: Plan, trials: int) -> None:
        self._measures = True
        super().on_run_start(plan, trials)

    def on_run_end(self) -> None:
        self._measures = False
        super().on_run_end()

    def on_event(self, event: EventRecord) -> None:
        if self._measures or event.text not in self._reported:
            super().on_event(event)
        if not self._measures:
            self._reported.add(event.text)
