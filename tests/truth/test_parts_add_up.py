"""The parts of an operation's time that a report prints add up to the operation's time, for every kind of work."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app_parts import assert_parts_fill_the_whole
from tests.conftest import Target, app_workload, run_trial, web_workload
from tests.files.test_matrix import measure
from tests.http2_server import Http2Server
from tests.truth.test_mail_delay import workload as mail_workload

MakeTarget = Callable[..., Target]
OPERATIONS = 1_500
# Histograms have three digits, each of the parts and the whole.
NEAR = 0.004
# The wait for a close is part of no operation.
ASIDE = ("close",)


def times_ns(result: dict[str, Any]) -> Iterator[tuple[str, float]]:
    for step in result["steps"]:
        yield step["name"], (step["summary"]["mean_ns"] or 0.0) * step["summary"]["count"]


def whole_ns(result: dict[str, Any]) -> float:
    return float(result["service"]["mean_ns"] * result["service"]["count"])


def assert_all_add_up(result: dict[str, Any]) -> None:
    """Of all operations together."""
    assert result["operations"] > 0 and result["errors_total"] == 0
    parts = {name: time_ns for name, time_ns in times_ns(result) if "/" not in name and name not in ASIDE}
    assert sum(parts.values()) == pytest.approx(whole_ns(result), rel=NEAR), parts


@pytest.mark.parametrize("keep_alive", [True, False])
@pytest.mark.parametrize("tls", [True, False])
def test_of_web(target: MakeTarget, keep_alive: bool, tls: bool) -> None:
    server = target(**({"tls": {}} if tls else {}))
    settings: dict[str, Any] = {"scheme": "https", "tls": {"verify": False}} if tls else {}
    work = web_workload(server.address, keep_alive=keep_alive, **settings)
    assert_all_add_up(run_trial(work, clients=4, length_s=600, max_operations=OPERATIONS))


def test_of_streams_that_wait_for_their_connection() -> None:
    with Http2Server() as server:
        work = web_workload(server.address, http="2")
        assert_all_add_up(run_trial(work, clients=2, streams=4, length_s=600, max_operations=OPERATIONS))


@pytest.mark.parametrize("security", ["none", "starttls", "tls"])
def test_of_mail_step_by_step(target: MakeTarget, security: str) -> None:
    """The handshake of STARTTLS was told as itself, and again as the rest of its step."""
    tls = {} if security == "none" else {"tls": {}, "implicit_tls": security == "tls"}
    work = mail_workload(target(kind="mail", **tls).address)
    for side in ("smtp", "pop3"):
        work[side] |= {} if security == "none" else {"security": security, "tls": {"verify": False}}
    result = run_trial(work, clients=8, length_s=600, max_operations=OPERATIONS)
    wholes = {row["name"]: row["service"] for row in result["per_operation"] if row["service"]["count"]}
    parts: dict[str, float] = {}
    for name, time_ns in times_ns(result):
        step = name.partition("/")[0]
        parts[step] = parts.get(step, 0.0) + (time_ns if "/" in name else 0.0)
    divided = {step: time_ns for step, time_ns in parts.items() if time_ns > 0.0}
    expected = {"smtp-connect", "smtp-body", "pop3-connect", "pop3-retr"}
    assert set(divided) == expected | ({"smtp-starttls", "pop3-stls"} if security == "starttls" else set())
    for step, time_ns in divided.items():
        assert time_ns == pytest.approx(wholes[step]["mean_ns"] * wholes[step]["count"], rel=NEAR), step


def test_of_app(target: MakeTarget) -> None:
    work = app_workload(target(kind="app").address)
    assert_parts_fill_the_whole(run_trial(work, clients=4, length_s=600, max_operations=OPERATIONS))


def test_of_files_there_are_no_parts_to_print(tmp_path: Path) -> None:
    """A file call is one step: what is not divided is told as a whole."""
    result = measure(tmp_path)
    assert result.operations > 0 and result.steps == ()
