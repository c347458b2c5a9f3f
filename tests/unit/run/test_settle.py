from dataclasses import replace

import pytest

from bakeoff.core.errors import ContenderError
from bakeoff.load.arrivals import Constant
from bakeoff.load.load_step import Rate
from bakeoff.run.contenders.quiesce import Quiesce
from bakeoff.run.kind import Note
from bakeoff.run.outcome.judge import to_record
from bakeoff.store.records.run_records import PlannedTrial, TrialRecord
from tests.unit.run.fake import EMPTY, SOME, WEB, result

STARTS = {"offered": 500, "started": 500, "never_started": 0, "answered": 500, "ran_out": 0, "connections_used": 3}


class Server:
    """Answers after what it owes, then as at rest. Has a clock of its own."""

    def __init__(self, owes_s: float = 0.0, rest_s: float = 0.001, dead: bool = False) -> None:
        self.now_s, self.owes_s, self.rest_s, self.dead = 0.0, owes_s, rest_s, dead
        self.asked = 0
        self.notes: list[Note] = []

    def answers(self, name: str) -> None:
        self.asked += 1
        if self.dead:
            raise ContenderError("gone")
        self.now_s += self.owes_s + self.rest_s
        self.owes_s = 0.0

    def settle(self) -> Quiesce:
        return Quiesce(self.answers, self.notes.append, lambda: self.now_s)


def trial(least_ns: int = 500_000, median_ns: int = 2_000_000, **counts: int) -> TrialRecord:
    """A trial of `a` at a rate, with these service times."""
    planned = PlannedTrial(3, "a", Rate(250.0, Constant(), 64), 1, 99)
    starts = STARTS | counts | {"late": EMPTY}
    service = SOME | {"min_ns": least_ns, "p50_ns": median_ns}
    return to_record(planned, "now", result(starts=starts, response=SOME, service=service), 0.05, None, WEB)


def test_who_kept_up_is_asked_nothing() -> None:
    server = Server(owes_s=5.0)
    settle = server.settle()
    settle.before()
    settle.after(trial())
    settle.after(replace(trial(), starts=None))
    settle.before()
    assert server.asked == 0


@pytest.mark.parametrize(
    "counts", [{"answered": 495}, {"answered": 300, "started": 302, "never_started": 198, "ran_out": 200}]
)
def test_who_owes_next_to_nothing_is_asked_nothing(counts: dict[str, int]) -> None:
    server = Server(owes_s=5.0)
    settle = server.settle()
    settle.after(trial(**counts))
    settle.before()
    assert server.asked == 0


def test_who_fell_behind_is_waited_for_once_and_the_wait_is_told() -> None:
    server = Server(owes_s=1.5)
    settle = server.settle()
    settle.after(trial(answered=400))
    settle.before()  # whosever trial is next: what is left of the one before would be beside it
    settle.before()
    assert server.asked == 2
    assert [note.text for note in server.notes] == [
        "a went on for 1.5s with what it was offered before: it was waited for"
    ]


def test_a_short_wait_is_not_worth_a_word() -> None:
    server = Server(owes_s=0.3)
    settle = server.settle()
    settle.after(trial(answered=400))
    settle.before()
    assert (server.asked, server.notes) == (2, [])


def test_who_stays_slow_is_not_waited_for_for_ever() -> None:
    server = Server(rest_s=0.3)
    settle = server.settle()
    settle.after(trial(answered=400))  # its window has 2 s: patience for 4
    settle.before()
    assert server.asked == 14
    assert [note.level for note in server.notes] == ["warning"]
    assert "a still takes 300ms for one request, 4.2s after it was offered too much" in server.notes[0].text


def test_a_server_that_is_always_slow_is_at_rest_when_it_is_as_slow_as_ever() -> None:
    server = Server(rest_s=0.3)
    settle = server.settle()
    settle.after(trial(250_000_000, 290_000_000))
    settle.after(trial(280_000_000, 900_000_000, answered=100))
    settle.before()
    assert (server.asked, server.notes) == (1, [])


def test_times_of_a_queue_are_not_taken_for_those_at_rest() -> None:
    server = Server(owes_s=1.0, rest_s=0.3)
    settle = server.settle()
    settle.after(trial(1_000_000, 900_000_000, answered=100))
    settle.before()
    assert server.asked > 2 and server.notes[-1].level == "warning"


def test_who_does_not_answer_is_left_to_the_trial() -> None:
    server = Server(dead=True)
    settle = server.settle()
    settle.after(trial(answered=400))
    settle.before()
    assert (server.asked, server.notes) == (1, [])
