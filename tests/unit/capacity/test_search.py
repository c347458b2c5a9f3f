"""The search against servers whose capacity is known, in virtual time."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from bakeoff.load.capacity.judge import judge
from bakeoff.load.capacity.objective import Objective, parse_objective
from bakeoff.load.capacity.range import Range
from bakeoff.load.capacity.search import Found, GoneError, Search
from bakeoff.stats import decide, equivalence_p, ratio_from_logs
from bakeoff.store.records.run_records import AT_LEAST, DIED, FOUND, NONE, UNSETTLED
from bakeoff.store.records.trial_parts import JudgedRecord
from tests.unit.capacity.virtual import Queue, limited

OBJECTIVE = parse_objective("p99<=50ms,errors<=0.1%")
RATES = Range(10.0, 1e6, 0.01, 3, 60, whole=False, strictest=OBJECTIVE.strictest)


def against(queue: Queue, objective: Objective = OBJECTIVE) -> Callable[[float], JudgedRecord]:
    return lambda load: judge(objective, queue.answers(load))


def judged(met: bool, lost: float | None = None, limit: str = "") -> JudgedRecord:
    return JudgedRecord(met, (0.0 if met else 0.5) if lost is None else lost, limit, ())


def searched(measure: Callable[[float], JudgedRecord], **changes: object) -> tuple[Found, list[float]]:
    loads: list[float] = []

    def noted(load: float) -> JudgedRecord:
        loads.append(load)
        return measure(load)

    return Search(noted, Range(**{**vars(RATES), **changes})).run(), loads  # type: ignore[arg-type]


@pytest.mark.parametrize("capacity", [10.0, 11.0, 39.9, 40.0, 41.0, 1000.0, 1050.0, 54321.0, 900_000.0])
def test_a_limit_is_found_within_the_width_in_a_bounded_number_of_probes(capacity: float) -> None:
    found, loads = searched(limited(capacity, parse_objective("p99<=5ms")))
    assert found.outcome == FOUND and found.met is not None and found.missed is not None
    assert capacity * 0.989 <= found.met <= capacity * 1.006, loads
    assert (found.missed - found.met) / found.missed <= 0.0101  # a rate has five digits
    assert len(loads) <= 40


@pytest.mark.parametrize("near", [1000.0, 1049.0, 1200.0, 800.0, 400.0, 9000.0, 1e6, 10.0])
def test_a_load_that_was_found_before_saves_probes_and_decides_nothing(near: float) -> None:
    loads: list[float] = []
    measure = limited(1050.0, parse_objective("p99<=5ms"))

    def noted(load: float) -> JudgedRecord:
        loads.append(load)
        return measure(load)

    found = Search(noted, RATES, near).run()
    assert found.outcome == FOUND and 1050.0 * 0.989 <= (found.met or 0) <= 1050.0 * 1.006, loads
    assert len(loads) <= (12 if near in (1000.0, 1049.0) else 40), loads


def test_whole_loads_near_the_least_are_climbed_one_by_one() -> None:
    for capacity, near in ((1, 1.0), (2, 1.0), (3, 2.0), (7, 7.0)):
        where = Range(**{**vars(RATES), "least": 1.0, "most": 1e4, "whole": True})
        found = Search(lambda n: judged(n <= capacity, max(0.0, 1 - capacity / n)), where, near).run()  # noqa: B023
        assert (found.met, found.missed) == (capacity, capacity + 1)


@pytest.mark.parametrize("capacity", [1, 2, 3, 7, 100, 999])
def test_clients_are_whole(capacity: int) -> None:
    found, loads = searched(
        lambda n: judged(n <= capacity, max(0.0, 1 - capacity / n)), least=1.0, most=1e4, whole=True
    )
    assert all(load == int(load) >= 1 for load in loads)
    assert found.outcome == FOUND and capacity * 0.99 <= (found.met or 0) <= capacity
    if capacity < 100:
        assert (found.met, found.missed) == (capacity, capacity + 1)


def test_queueing_theory_is_found_where_windows_are_long() -> None:
    """The sojourn time of M/M/1 is exponential with rate μ − λ: p99 is at most T up to λ = μ − ln(100) / T."""
    theory = 300.0 - math.log(100.0) / 0.05
    capacities = []
    for seed in range(8):
        found, _ = searched(against(Queue(300.0, seed, window_s=120.0), parse_objective("p99<=50ms")))
        capacities.append(found.met or math.nan)
    mean, error = np.mean(capacities), np.std(capacities, ddof=1) / math.sqrt(len(capacities))
    assert abs(mean / theory - 1.0) < 0.02 + 5.0 * error / theory


def test_a_mishap_in_every_twentieth_probe_costs_probes_and_no_capacity() -> None:
    smooth, rough = (
        [searched(against(Queue(1000.0, seed, mishaps=mishaps))) for seed in range(16)] for mishaps in (0.0, 0.05)
    )
    means = [np.exp(np.mean([math.log(found.met or math.nan) for found, _ in runs])) for runs in (smooth, rough)]
    assert means[1] / means[0] == pytest.approx(1.0, abs=0.03)
    assert max(len(loads) for _, loads in rough) <= 60


def test_the_same_answers_give_the_same_probes() -> None:
    """What resuming a search rests on."""
    queue = Queue(1000.0, 5)
    answers: list[JudgedRecord] = []

    def measure(load: float) -> JudgedRecord:
        answers.append(judge(OBJECTIVE, queue.answers(load)))
        return answers[-1]

    first = searched(measure)
    again = iter(list(answers))
    assert searched(lambda load: next(again)) == first and next(again, None) is None


def test_no_load_can_meet_it() -> None:
    found, loads = searched(lambda load: judged(False))
    assert found == Found(NONE, "the least load did not meet the objective", None, 10.0) and loads == [10.0, 10.0]


def test_one_mishap_at_the_least_load_does_not_end_it() -> None:
    times = {"least": 0}

    def measure(load: float) -> JudgedRecord:
        times["least"] += load == 10.0
        return judged(load <= 500.0 and not (load == 10.0 and times["least"] == 1), max(0.0, 1 - 500.0 / load))

    assert searched(measure)[0].outcome == FOUND


def test_a_mishap_that_stops_the_climb_does_not_end_it() -> None:
    seen: list[float] = []

    def measure(load: float) -> JudgedRecord:
        seen.append(load)
        return judged(load <= 5000.0 and not (load == 160.0 and seen.count(160.0) == 1), max(0.0, 1 - 5000.0 / load))

    found, _ = searched(measure)
    assert found.outcome == FOUND and 4950.0 <= (found.met or 0) <= 5000.0


def test_the_highest_load_allowed_met_it() -> None:
    found, loads = searched(lambda load: judged(True), most=1000.0)
    assert (found.outcome, found.met, found.missed) == (AT_LEAST, 1000.0, None) and loads[-1] == 1000.0


def test_a_generator_that_is_the_limit_does_not_pass_for_the_server() -> None:
    limit = "the generator was the limit: 97 % CPU"
    found, _ = searched(lambda load: judged(load <= 3000.0, max(0.0, 1 - 3000.0 / load), limit if load > 2500 else ""))
    assert found.outcome == AT_LEAST and found.reason == limit and 2970.0 <= (found.met or 0) <= 3000.0


def test_a_generator_that_is_the_limit_at_the_least_load_says_nothing_of_the_server() -> None:
    found, _ = searched(lambda load: judged(False, limit="the generator was the limit: it began late"))
    assert found == Found(UNSETTLED, "the generator was the limit: it began late", None, 10.0)


def test_a_contender_that_dies_leaves_what_was_found_before() -> None:
    def measure(load: float) -> JudgedRecord:
        if load > 600.0:
            raise GoneError("it did not answer any more after 640 operations/s")
        return judged(True)

    found, _ = searched(measure)
    assert found == Found(DIED, "it did not answer any more after 640 operations/s", 160.0, None)


def test_the_number_of_probes_is_bounded() -> None:
    rng = np.random.default_rng(1)
    found, loads = searched(lambda load: judged(bool(rng.random() < 0.5)), most_probes=25, width=0.001)
    assert len(loads) <= 25 and found.outcome in (UNSETTLED, FOUND, NONE)
    steady, loads = searched(limited(1000.0, OBJECTIVE), most_probes=8)
    assert steady.outcome == UNSETTLED and len(loads) == 8 and "8 probes were not enough" in steady.reason
    assert (steady.met or 0) < 1000.0 < (steady.missed or 0) * 1.06


def verdict(one: float, other: float, seed: int, blocks: int = 8, delta: float = 0.02) -> str:
    """Of two queues, by the statistics that a run uses."""
    logs = []
    for block in range(blocks):
        met = []
        for place, per_s in enumerate((one, other)):
            found, _ = searched(against(Queue(per_s, 1000 * seed + 10 * block + place, window_s=1.0)), width=0.005)
            met.append(math.log(found.met or math.nan))
        logs.append(met[1] - met[0])
    ratio = ratio_from_logs(np.array(logs), 0.95)
    return decide(ratio, delta, ratio.p_t, equivalence_p(ratio.log_mean, ratio.log_sd, ratio.blocks, delta)).outcome


def test_equal_contenders_get_no_winner_and_different_ones_the_right_one() -> None:
    """At α = 5 % four false winners in ten pairs are as likely as one in a thousand; the seeds are fixed."""
    equal = [verdict(2000.0, 2000.0, seed) for seed in range(10)]
    assert sum(outcome in ("higher", "lower") for outcome in equal) <= 3
    assert [verdict(2000.0, 2200.0, seed) for seed in range(2)] == ["higher"] * 2
    assert [verdict(2200.0, 2000.0, seed) for seed in range(2)] == ["lower"] * 2
