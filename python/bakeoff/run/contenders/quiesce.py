"""Between trials: what a contender still owes of one load must not be charged to the next, whosever that is.

A rate offers more than a contender may be able to answer, and many servers go on with what they have taken in when its
connections are gone. Before the next trial such a contender is asked, one request after the other, until it answers as
fast as it did at its best; a first in, first out queue is over with the first answer. That holds for the next trial of
another contender, too: on one machine it would have to share that with work that is left of this one.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from bakeoff.core.errors import ContenderError
from bakeoff.core.times import s_of
from bakeoff.core.units import format_duration
from bakeoff.run.kind import Note
from bakeoff.store.records.run_records import TrialRecord
from bakeoff.store.records.trial_parts import StartsRecord

# A trial leaves work behind when more than these of what it began, as a count and as a share of what was offered, had
# no answer at the end of its window. What waited for a connection was never sent.
OWED_LEAST, OWED_SHARE = 2, 0.01
# An answer counts as one at rest within so many times the fastest median of the contender (of a trial that it could
# not carry, the fastest answer), and below the least always: a check opens a connection of its own, on a machine that
# may be busy.
SLOWER_TIMES = 5.0
LEAST_S = 0.05
# The next trial waits so long at most: twice what the load before lasted, within these.
PATIENCE_TIMES = 2.0
PATIENCE_S = (2.0, 120.0)
TELL_S = 0.5


@dataclass
class Quiesce:
    """Which contenders may still be at work. `answers` raises ContenderError, `tell` takes what is worth to know."""

    answers: Callable[[str], None]
    tell: Callable[[Note], None]
    clock: Callable[[], float] = time.monotonic
    _owing_s: dict[str, float] = field(default_factory=dict)
    _rest_s: dict[str, float] = field(default_factory=dict)

    def after(self, record: TrialRecord) -> None:
        """Note what a trial may have left behind."""
        name, starts = record.contender, record.starts
        owes = starts is not None and _owed(record, starts) > max(OWED_LEAST, OWED_SHARE * starts.offered)
        rest_ns = record.service.min_ns if owes else record.service.p50_ns
        if rest_ns is not None:
            self._rest_s[name] = min(self._rest_s.get(name, math.inf), s_of(rest_ns))
        if owes:
            low_s, high_s = PATIENCE_S
            self._owing_s[name] = min(max(PATIENCE_TIMES * record.window_s, low_s), high_s)

    def before(self) -> None:
        """Before any trial: wait until those that may still be at work answer as they do at rest, or too long."""
        owing_s, self._owing_s = self._owing_s, {}
        for name, patience_s in owing_s.items():
            self._wait_for(name, patience_s)

    def _wait_for(self, name: str, patience_s: float) -> None:
        limit_s = max(LEAST_S, SLOWER_TIMES * self._rest_s.get(name, 0.0))
        begun_s = asked_s = self.clock()
        while True:
            try:
                self.answers(name)
            except ContenderError:
                return  # the trial to come is the judge of that
            now_s = self.clock()
            if now_s - asked_s <= limit_s:
                break
            if now_s - begun_s >= patience_s:
                self.tell(_impatient(name, now_s - begun_s, now_s - asked_s))
                return
            asked_s = now_s
        if asked_s - begun_s >= TELL_S:
            waited = format_duration(round(asked_s - begun_s, 1))
            self.tell(Note("info", f"{name} went on for {waited} with what it was offered before: it was waited for"))


def _owed(record: TrialRecord, starts: StartsRecord) -> int:
    return starts.started - starts.answered - record.errors_total


def _impatient(name: str, waited_s: float, answer_s: float) -> Note:
    waited, answer = format_duration(round(waited_s, 1)), format_duration(round(answer_s, 2))
    return Note(
        "warning",
        f"{name} still takes {answer} for one request, {waited} after it was offered too much: the next trial begins "
        "all the same, and pays for it. Give the contender a `reset` command, or rates that rise less far.",
    )
