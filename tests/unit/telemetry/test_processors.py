"""Each processor apart: known counts in, known shares out."""

import math

import pytest

from bakeoff.telemetry.intervals import Intervals
from bakeoff.telemetry.model import EVERY_S, MOST_INTERVALS
from bakeoff.telemetry.readers import exporter, proc_text
from bakeoff.telemetry.readers.exposition import samples
from bakeoff.telemetry.readers.processors import MOST_PROCESSORS, Spent, in_window, spent_of
from bakeoff.telemetry.reading import Reading

STAT = """cpu  400 0 0 0 0 0 0 0 0 0
cpu0 100 10 20 700 50 6 4 110 0 0
cpu2 1 2 3 4 5 6 7 8 0 0
cpu77 1 2
intr 5
"""


def spent(*rows: tuple[float, float]) -> Spent:
    made = spent_of(dict(enumerate(rows)))
    assert made is not None
    return made


def test_processors_are_read_apart_and_one_that_is_not_there_is_not_known() -> None:
    found = proc_text.machine({"stat": STAT})
    assert found.facts["processors"] == 3 and found.processors is not None
    assert found.processors.worked_s[0] == pytest.approx(1.4), "user, nice, system and interrupts"
    assert found.processors.left_s[0] == pytest.approx(8.9), "without what was stolen"
    assert math.isnan(found.processors.left_s[1]) and math.isnan(found.processors.left_s[77])
    assert found.processors.worked_s[2] == pytest.approx(0.19) and found.processors.left_s[2] == pytest.approx(0.28)


def test_a_node_exporter_tells_processors_apart_by_their_label() -> None:
    rows = (("0", "user", 3.0), ("0", "nice", 1.0), ("0", "idle", 4.0), ("0", "steal", 9.0), ("3", "softirq", 2.0))
    lines = [f'node_cpu_seconds_total{{cpu="{cpu}",mode="{mode}"}} {value}' for cpu, mode, value in rows]
    lines += ['node_cpu_seconds_total{cpu="x",mode="idle"} 1', 'node_cpu_seconds_total{cpu="99999999",mode="idle"} 1']
    found = exporter.machine(samples("\n".join(lines))).processors
    assert found is not None and (found.worked_s[0], found.left_s[0]) == (4.0, 8.0)
    assert (found.worked_s[3], found.left_s[3], len(found.left_s)) == (2.0, 2.0, 4)


def test_shares_are_those_of_the_window_and_the_busiest_is_looked_for_in_each_second() -> None:
    """A thread that goes from one processor to the other: each is half idle, one is always full."""
    spans = [
        (float(n), 1.0, spent((1.0, 1.0), (0.0, 1.0)) if n % 2 else spent((0.0, 1.0), (1.0, 1.0))) for n in range(6)
    ]
    found = in_window(spans, 1.0, 5.0)
    assert found.each == (0.5, 0.5) and found.busiest == 1.0
    assert in_window(spans, 0.5, 1.5).each == (0.5, 0.5)
    assert in_window(spans, 9.0, 10.0).busiest is None and in_window([], 0.0, 1.0).each == ()


def test_ticks_of_a_tenth_of_a_second_do_not_make_a_busy_processor() -> None:
    """Of ten samples a second each sees another of ten processors full: in a second none was over a tenth."""
    spans = [(n / 10, 0.1, spent(*((0.1 * (n % 10 == p), 0.1) for p in range(10)))) for n in range(30)]
    found = in_window(spans, 0.0, 3.0)
    assert found.busiest == pytest.approx(0.1) and found.each == pytest.approx((0.1,) * 10)


def test_what_counts_backwards_is_unknown_and_the_rest_is_told() -> None:
    intervals = Intervals()
    for at_s, rows in (
        (0.0, ((5.0, 9.0), (0.0, 0.0))),
        (1.0, ((1.0, 2.0), (0.5, 1.0))),
        (2.0, ((1.5, 3.0), (1.0, 2.0))),
    ):
        intervals.add(at_s, Reading(processors=spent(*rows)))
    assert intervals.each_processor(0.0, 2.0).each == (0.5, 0.5)
    assert intervals.each_processor(0.0, 1.0).each == (None, 0.5)


def test_a_long_trial_of_many_processors_stays_small_and_right() -> None:
    intervals = Intervals()
    for n in range(2 * MOST_INTERVALS):
        intervals.add(float(n), Reading({"cpu_user_s": float(n)}, processors=spent((0.25 * n, float(n)), (n, n))))
    assert len(intervals.processors) == len(intervals.values) <= MOST_INTERVALS
    assert intervals.each_processor(0.0, 3_000.0).each == (0.25, 1.0)
    many = "\n".join(f"cpu{n} 1 1 1 1 1 1 1 1 0 0" for n in range(4_000))
    found = proc_text.machine({"stat": many})
    assert found.processors is not None and len(found.processors.left_s) == MOST_PROCESSORS
    assert found.facts["processors"] == 4_000


@pytest.mark.parametrize("fails_every", [0, 2])
def test_what_is_kept_of_a_trial_stops_growing_within_ten_minutes(fails_every: int) -> None:
    """By counts, for six hours of samples, also where each second one fails."""
    intervals, kept = Intervals(), []
    for second in range(6 * 3600):
        if fails_every and second % (fails_every + 1) == fails_every:
            intervals.broken()
        else:
            intervals.add(float(second), Reading({"own_user_s": float(second)}))
        kept.append(len(intervals.values))
        assert len(intervals.at_s) == len(intervals.width_s) == len(intervals.processors) == kept[-1]
    assert max(kept) < MOST_INTERVALS and MOST_INTERVALS * EVERY_S <= 600.0
    assert fails_every or sum(intervals.width_s) == 6 * 3600 - 1
