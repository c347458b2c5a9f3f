"""What a campaign shows while it runs."""

from __future__ import annotations

import io

from bakeoff.run.observe.deduplicating_observer import DeduplicatingObserver
from bakeoff.run.observe.observer import PlainObserver
from bakeoff.store.records.run_records import EventRecord
from tests.unit.run.fake import plan_for


def test_what_is_said_before_the_trials_is_said_once_and_what_befalls_them_each_time() -> None:
    shown = io.StringIO()
    observer, plan = DeduplicatingObserver(PlainObserver(shown)), plan_for("http://h/")
    for own in ("b lags", "c lags"):
        for text in ("2 cores are shared", own):
            observer.on_event(EventRecord("2026-11-23T00:00:00", "warning", text, None))
        observer.on_run_start(plan, 1)
        observer.on_event(EventRecord("2026-11-23T00:00:00", "warning", "the server is silent", None))
        observer.on_run_end()
    observed = shown.getvalue()
    assert [observed.count(text) for text in ("2 cores", "b lags", "c lags", "is silent")] == [1, 1, 1, 2]
