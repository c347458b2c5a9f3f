"""What each size costs, and that `medium` is what it says."""

import pytest

from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.plan.design.durations import ExpectedDuration, expected_duration_of
from bakeoff.plan.design.size_costs import CONTENDERS, cost, rounded
from bakeoff.plan.kind import plan_part
from bakeoff.plan.settings.shared import CommonSettings
from bakeoff.plan.suites import BLOCKS, EVERYWHERE, SizeName, load_suite, suite_names

# The duration of a size of `replay` is the log's.
COUNTED = [name for name in suite_names() if name != "replay"]
# A window of this many seconds has 1,000 operations, of which p99 leaves 10, at 70 a second.
WINDOW_S = 14.0


def settings(name: str, size: SizeName) -> CommonSettings:
    suite = load_suite(name)
    kind = plan_part(suite.suite.kind)
    return kind.settings.model_validate({**suite.defaults(size), **kind.example[0]})


def lasts(name: str, size: SizeName) -> ExpectedDuration:
    return expected_duration_of(settings(name, size), CONTENDERS, BLOCKS[size])


def test_every_suite_has_every_size() -> None:
    assert EVERYWHERE == ("quick", "medium", "long", "full")
    for name in suite_names():
        assert load_suite(name).sizes[: len(EVERYWHERE)] == EVERYWHERE


@pytest.mark.parametrize("name", COUNTED)
def test_medium_takes_15_to_20_minutes_and_gives_a_verdict(name: str) -> None:
    assert 15 * 60 <= lasts(name, "medium").run_s <= 20 * 60
    assert BLOCKS["medium"] >= MINIMUM_BLOCKS


@pytest.mark.parametrize("name", COUNTED)
def test_each_size_takes_longer_than_the_one_before(name: str) -> None:
    durations_s = [lasts(name, size).run_s for size in EVERYWHERE]
    assert durations_s == sorted(set(durations_s))


@pytest.mark.parametrize("name", [name for name in COUNTED if not settings(name, "medium").ends_with_its_work])
def test_windows_of_medium_are_long_enough_for_percentiles_over_a_curve(name: str) -> None:
    medium = settings(name, "medium")
    assert len(medium.load_steps) >= 4
    assert max(load_step.clients for load_step in medium.load_steps) >= 16
    assert medium.window_s >= WINDOW_S


def test_costs_say_on_what_they_rest() -> None:
    words = {name: cost(load_suite(name), "medium") for name in suite_names()}
    assert words["web-static"] == "17 min"
    assert words["file-matrix"].endswith(" min at 1 Gbit/s")
    assert words["httperf"] == "16 min at 100 starts/s"
    assert words["replay"] == "12 × the log"
    assert cost(load_suite("file-blocks"), "full") == "12.1 h"  # 90 cells of 30 s, 16 trials; its region is laid twice


def test_durations_are_rounded_for_tables() -> None:
    assert [rounded(s) for s in (42.4, 60.0, 1026.0, 5990.0, 6010.0, 36000.0)] == [
        "42 s", "1 min", "17 min", "100 min", "1.7 h", "10 h",
    ]  # fmt: skip


def test_work_of_a_matrix_is_counted_as_the_engine_does_it() -> None:
    suite = load_suite("file-matrix")
    given = {"file_sizes": "1MiB", "record_sizes": "64KiB", "tests": "write,read", "clients": "1,3", "virtual_users": 2}
    matrix = plan_part("file-matrix").settings.model_validate({**suite.defaults("quick"), **given})
    one, three = (matrix.work(load_step) for load_step in matrix.load_steps)
    assert one is not None and three is not None
    assert (one.cells, one.bytes, one.calls) == (2, 2 * 2 << 20, 2 * 2 * 16)
    assert (three.cells, three.bytes, three.calls) == (2, 3 * one.bytes, 3 * one.calls)
