"""A probe held against an objective: what is lost is slower than any limit."""

import numpy as np
import pytest

from bakeoff.load.capacity.judge import Answers, judge
from bakeoff.load.capacity.objective import parse_objective
from tests.unit.capacity.virtual import answers_of


def of(times_ms: list[float], lost: int = 0, asked: int | None = None) -> Answers:
    return answers_of(asked or len(times_ms) + lost, np.sort(np.array(times_ms)) * 1e6, len(times_ms), None, lost)


@pytest.mark.parametrize(
    ("objective", "answers", "met", "value", "lost"),
    [
        ("p99<=50ms", of([10] * 99 + [60]), True, 10e6, 0.01),
        ("p99<=50ms", of([10] * 98 + [60] * 2), False, 60e6, 0.02),
        ("p99<=50ms", of([10] * 99, lost=1), True, 10e6, 0.01),
        ("p99<=50ms", of([10] * 98, lost=2), False, None, 0.02),
        ("p50<=50ms", of([10] * 60, lost=40), True, 10e6, 0.4),
        ("max<=50ms", of([10] * 99 + [50]), True, 50e6, 0.0),
        ("max<=50ms", of([10] * 99 + [51]), False, 51e6, 0.01),
        ("max<=50ms", of([10] * 99, lost=1), False, None, 0.01),
        ("errors<=1%", of([10] * 99, lost=1), True, 0.01, 0.01),
        ("errors<=1%", of([10] * 98, lost=2), False, 0.02, 0.02),
        ("errors<=0", of([10] * 100), True, 0.0, 0.0),
        ("achieved>=99%", of([10] * 99, asked=100), True, 0.99, 0.01),
        ("achieved>=99%", of([10] * 98, asked=100), False, 0.98, 0.02),
    ],
)
def test_terms(objective: str, answers: Answers, met: bool, value: float | None, lost: float) -> None:
    judged = judge(parse_objective(objective), answers)
    (term,) = judged.terms
    assert (judged.met, term.met, term.term) == (
        met,
        met,
        objective.replace("0", "0%") if objective == "errors<=0" else objective,
    )
    assert term.lost == pytest.approx(lost) and (
        term.value is None if value is None else term.value == pytest.approx(value)
    )


def test_a_mean_is_that_of_the_good_ones() -> None:
    judged = judge(parse_objective("mean<=20ms,errors<=1%"), of([10, 30]))
    assert judged.met and judged.terms[0].value == 20e6
    assert not judge(parse_objective("mean<=19ms,errors<=1%"), of([10, 30])).met


def test_all_terms_are_to_be_met_and_a_trial_that_failed_meets_none() -> None:
    objective = parse_objective("p99<=50ms,errors<=0.1%")
    assert judge(objective, of([10] * 2000)).met
    assert not judge(objective, of([10] * 995, lost=5)).met
    assert [t.met for t in judge(objective, of([10] * 995, lost=5)).terms] == [True, False]
    assert not judge(objective, of([10] * 2000), failed="it answered wrongly").met
    nothing = judge(parse_objective("p50<=1s"), of([]))
    assert not nothing.met and nothing.lost == 1.0 and nothing.terms[0].value is None


def test_no_objective_is_met_while_the_queue_grows_however_short_the_times_are_so_far() -> None:
    """At 1,010/s a server of 1,000/s has a queue of 20 ms after two seconds, which no objective of 50 ms sees."""
    objective = parse_objective("p99<=50ms")
    answers = answers_of(2020, np.linspace(1.0, 20.0, 2020) * 1e6, 2000, 20.0)
    judged = judge(objective, answers)
    assert not judged.met and [(term.term, term.met) for term in judged.terms] == [
        ("p99<=50ms", True),
        ("growth<=0.5%", False),
    ]
    assert judged.lost == judged.terms[1].value == pytest.approx(20 / 2020)
    few = answers_of(20, np.full(20, 1e6), 18, 2.0)
    assert judge(objective, few).met and judge(objective, answers_of(2020, np.full(2020, 1e6), 2010, 10.0)).met


def test_who_waits_at_the_end_counts_as_far_as_he_waited() -> None:
    """A pause at the end of the window is no queue that grows; it is in the times."""
    times = np.sort(np.concatenate([np.full(1000, 1e6), np.linspace(0.0, 200e6, 100)]))
    judged = judge(parse_objective("p99<=50ms,errors<=0.1%"), answers_of(1100, times, 1000, 0.0))
    assert [term.met for term in judged.terms] == [False, True, True]
    assert judged.terms[0].value == pytest.approx(178e6, rel=0.02)
