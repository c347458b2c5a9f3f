"""The objective of a search holds for messages, too: that they come, and that they come in time."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest

from bakeoff.core.errors import GeneratorError
from bakeoff.kinds.mail.message_answers import message_answers
from bakeoff.load.capacity.judge import Answers, judge
from bakeoff.load.capacity.objective import parse_objective

QUICK = Answers(1_000, 1_000, 0, 1_000, 1e6, lambda limit_ns: 1_000, lambda share: 1_000_000)


def timed(of: bytes) -> tuple[Callable[[int], int], Callable[[float], int | None]]:
    """Of so many ms each, separated by spaces."""
    times_ns = sorted(round(float(text) * 1e6) for text in of.split())
    return (
        lambda limit_ns: sum(time_ns <= limit_ns for time_ns in times_ns),
        lambda share: times_ns[min(len(times_ns) - 1, int(share * len(times_ns)))],
    )


def workload(after_ms: list[float], refused: int = 0, **counts: int) -> dict[str, Any]:
    text = " ".join(map(str, after_ms)).encode()
    mean_ns = 1e6 * sum(after_ms) / len(after_ms) if after_ms else None
    return {
        "ledger": {"counts": {"accepted": len(after_ms) + sum(counts.values()), **counts}},
        "visible": {
            "after": {"count": len(after_ms), "mean_ns": mean_ns},
            "after_histogram": base64.b64encode(text).decode(),
        },
        "done": {"messages": {"tried": len(after_ms) + refused, "failed": refused}},
    }


@pytest.mark.parametrize(
    ("objective", "expected", "met", "missed"),
    [
        ("p99<=50ms", workload([0.0] * 100), True, ""),
        ("p99<=50ms", workload([0.0] * 10 + [2_900.0] * 90), False, "visible p99<=50ms"),
        ("p99<=50ms", workload([0.0] * 97, lost=3), False, "visible p99<=50ms"),
        ("mean<=50ms,errors<=1%", workload([2_000.0] * 100), False, "visible mean<=50ms"),
        ("p50<=50ms,errors<=1%", workload([0.0] * 95, refused=5), False, "visible errors<=1%"),
        ("p50<=50ms,errors<=1%", workload([0.0] * 95, duplicate=5), False, "visible errors<=1%"),
        ("max<=1s", workload([0.0] * 99 + [1_500.0]), False, "visible max<=1s"),
        ("p99<=50ms", {"ledger": {"counts": {}}}, True, ""),
    ],
)
def test_answers_in_time_do_not_meet_an_objective_that_messages_miss(
    objective: str, expected: dict[str, Any], met: bool, missed: str
) -> None:
    found = judge(parse_objective(objective), QUICK, also=message_answers(expected, timed))
    assert found.met is met
    assert [term.term for term in found.terms if not term.met] == ([missed] if missed else [])


def test_times_that_cannot_be_read_are_an_error_and_not_a_met_objective() -> None:
    observed = workload([0.0] * 10)
    observed["visible"]["after_histogram"] = "no base64!"
    with pytest.raises(GeneratorError, match="times of messages"):
        message_answers(observed, timed)
