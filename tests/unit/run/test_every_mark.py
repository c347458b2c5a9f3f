"""Each mark of a trial by a result that brings about exactly this one."""

from typing import Any, get_args

import pytest

from bakeoff.run.checks.capacity_limit import GeneratorCapacity
from bakeoff.run.outcome.judge import marks
from bakeoff.store.records import run_records
from bakeoff.store.records.mark_docs import MARKS, STATES
from bakeoff.store.records.marks import Mark
from tests.unit.run.fake import EMPTY, MAIL, SOME, WEB, result

NOTHING = GeneratorCapacity(1e6)

LONG = {"window_s": 200.0, "elapsed_s": 200.0}


def disturbed(**changes: Any) -> dict[str, Any]:
    """A trial whose generator was disturbed."""
    return {"generator": {"disturbances": changes}}


def at_rate(**counts: int) -> dict[str, Any]:
    """A trial at a rate, which the server sustains."""
    starts = {"offered": 500, "started": 500, "never_started": 0, "answered": 500, "ran_out": 0, "connections_used": 3}
    return {"starts": starts | counts | {"late": EMPTY}, "response": SOME}


def course(rates: list[int]) -> list[dict[str, Any]]:
    """A window second by second, and the ramp after it; rates a little uneven, and of some hundred operations."""
    uneven = [100 * rate + (17 * at % 11) * 10 for at, rate in enumerate([*rates, 50])]
    phases = ["window"] * len(rates) + ["ramp_down"]
    return [
        {"second": at, "phase": phase, "operations": n, "errors": 0, "bytes_in": n, "service": SOME}
        for at, (phase, n) in enumerate(zip(phases, uneven, strict=True))
    ]


FULL_LINK = {
    "name": "eth0", "bits_per_s": 1_000_000_000, "unjudged": "", "span_s": 2.0, "bytes_in": 226_000_000,
    "bytes_out": 1_000, "packets_in": 150_000, "packets_out": 10,
}  # fmt: skip

# One row for each mark: what is changed in a good result, and the generator capacity.
ROWS: dict[Mark, tuple[dict[str, Any], GeneratorCapacity]] = {
    "ledger-unbalanced": ({"workload": {"ledger": {"balanced": False}}}, NOTHING),
    "beyond-link": ({"workload": {"beyond_link": True}}, NOTHING),
    "generator-limited": ({"generator": {"cpu_share": 0.91}}, NOTHING),
    "generator-waited": ({"generator": {"run_delay_share": 0.06}}, NOTHING),
    "other-load": ({"others": {"span_s": 2.0, "cores": 2, "taken": 0.21}}, NOTHING),
    "link-limited": ({"links": [FULL_LINK]}, NOTHING),
    "near-generator-capacity": ({}, GeneratorCapacity(300.0)),
    "few-operations": ({"operations": 367}, NOTHING),
    "starved-client": (
        {
            "per_client": [
                {"client": client, "operations": operations, "errors": 0, "bytes_in": 1, "busy_s": 1.0}
                for client, operations in enumerate((500, 0))
            ]
        },
        NOTHING,
    ),
    "stuck-operations": ({"unfinished": {"operations": 1, "oldest_s": 30.0}}, NOTHING),
    "generator-paused": (disturbed(stops=[{"at_s": 1.0, "length_s": 0.3, "window_s": 0.3}]) | LONG, NOTHING),
    "stolen-time": (disturbed(stolen_s=0.3, stolen_share=0.03), NOTHING),
    "behind-schedule": (
        at_rate() | {"generator": {"late_start": EMPTY | {"count": 1, "p99_ns": 1_100_000}}},
        NOTHING,
    ),
    "out-of-connections": (at_rate(ran_out=1), NOTHING),
    "control-busy": ({"control": {"cpu_s": 0.12, "span_s": 2.0, "longest_s": 0.04}}, NOTHING),
    "warming-up": ({"per_second": course([70] * 6 + [100] * 34)}, NOTHING),
    "changed-rate": ({"per_second": course([100] * 25 + [80] * 15)}, NOTHING),
    "drifting": ({"per_second": course([100 - at for at in range(40)])}, NOTHING),
    "late-start": ({"generator": {"late_start": EMPTY | {"count": 1, "p99_ns": 60_000_000}}}, NOTHING),
}


def test_every_mark_has_its_row() -> None:
    assert set(ROWS) == set(get_args(Mark))


def test_every_mark_and_state_is_explained() -> None:
    assert set(MARKS) == set(get_args(Mark)) and set(STATES) == set(run_records.STATES)


def test_a_generator_that_is_late_by_a_hundredth_of_the_response_time_is_not_named() -> None:
    late = {"generator": {"late_start": EMPTY | {"count": 1, "p99_ns": 2_000_000}}}
    slow = {"response": SOME | {"p99_ns": 200_000_000}}
    assert marks(result(**at_rate() | late | slow), NOTHING, WEB) == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"bytes_in": 220_000_000},  # 89.4 % with what surrounds each frame
        {"bits_per_s": None, "unjudged": "its speed is not stated"},
        {"span_s": 0.0},
    ],
)
def test_a_link_with_room_or_without_a_speed_is_no_limit(changes: dict[str, Any]) -> None:
    assert marks(result(links=[FULL_LINK | changes]), NOTHING, WEB) == ()


def test_a_good_result_has_no_mark() -> None:
    assert marks(result(), NOTHING, WEB) == ()


@pytest.mark.parametrize("name", ROWS)
def test_exactly_this_mark(name: Mark) -> None:
    changes, most = ROWS[name]
    assert marks(result(**changes), most, MAIL) == (name,)
