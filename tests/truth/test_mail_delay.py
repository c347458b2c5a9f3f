"""Known answer: a mail target with a programmed delay must be reported as it behaves."""

import statistics
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Target, run_trial

MakeTarget = Callable[..., Target]

STEPS = ("smtp-ehlo", "smtp-mail", "smtp-rcpt", "smtp-data", "smtp-body", "pop3-stat", "pop3-retr", "pop3-quit")


def workload(address: str) -> dict[str, Any]:
    smtp, _, pop3 = address.partition(",")
    names = [f"u{number}@bakeoff.test" for number in range(2)]
    return {
        "kind": "mail",
        "smtp": {"addresses": [smtp.removeprefix("smtp=")]},
        "pop3": {"addresses": [pop3.removeprefix("pop3=")]},
        "mailboxes": [{"address": name, "user": name, "password": "x"} for name in names],
        "mailboxes_per_client": 1,
        "sending_share": 0.5,
        "sizes": [[1024, 1]],
        "run": "00112233445566aa",
        "initialise": False,
    }


def medians_ms(address: str) -> dict[str, float]:
    """The median of each step, each of them seen often enough to have one."""
    result = run_trial(workload(address), clients=2, length_s=1.5, ramp_up_s=0.1)
    seen = {row["name"]: row for row in result["per_operation"]}
    assert all(seen[name]["operations"] >= 10 for name in STEPS), seen
    assert all(seen[name]["service"]["min_ns"] / 1e6 >= 4.99 for name in STEPS), "no reply can be faster than the delay"
    return {name: seen[name]["service"]["p50_ns"] / 1e6 for name in STEPS}


def test_a_delay_of_5_ms_is_reported_as_5_ms(target: MakeTarget, prompt: None) -> None:
    """Each step's p50 within 0.2 ms. A busy machine can only add time: of twelve short runs one must be undisturbed,
    and the median of their medians must be right in any case.
    """
    server = target(kind="mail", delay_s=0.005)
    seen = []
    for _ in range(12):
        seen.append(medians_ms(server.address))
        if len(seen) >= 3 and any(all(value == pytest.approx(5.0, abs=0.2) for value in run.values()) for run in seen):
            break
    else:
        pytest.fail(f"no run within 0.2 ms of 5 ms in every step: {seen}")
    for name in STEPS:
        assert statistics.median(run[name] for run in seen) == pytest.approx(5.0, abs=0.2), name
