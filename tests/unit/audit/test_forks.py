"""Work in several processes: order, errors, what is left of them."""

from __future__ import annotations

import multiprocessing
import os
import signal

import pytest

from bakeoff.core.errors import GeneratorError, PlanError
from bakeoff.core.system import forks
from bakeoff.core.system.forks import in_forks


@pytest.fixture(autouse=True)
def three_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks.os, "sched_getaffinity", lambda _: {0, 1, 2})


def refused(number: int) -> int:
    if number == 5:
        raise PlanError("five is refused")
    return number


def test_results_come_in_order_from_as_many_processes_as_processors() -> None:
    found = list(in_forks(lambda number: (number, os.getpid()), range(10)))
    assert [number for number, _ in found] == list(range(10))
    assert len({pid for _, pid in found}) == 3 and os.getpid() not in {pid for _, pid in found}


def test_an_error_comes_in_the_place_of_its_result_and_no_process_is_left() -> None:
    results = in_forks(refused, range(10))
    assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(PlanError, match="five"):
        next(results)
    assert not multiprocessing.active_children()


def test_a_process_that_is_killed_is_an_error() -> None:
    with pytest.raises(GeneratorError, match="memory"):
        list(in_forks(lambda number: os.kill(os.getpid(), signal.SIGKILL), range(3)))


def test_no_process_is_left_of_work_that_is_not_wanted_any_more() -> None:
    results = in_forks(lambda number: bytes(1_000_000), range(1_000))
    next(results)
    results.close()
    assert not multiprocessing.active_children()


def test_one_thing_needs_no_process() -> None:
    assert list(in_forks(lambda _: os.getpid(), [1])) == [os.getpid()]
