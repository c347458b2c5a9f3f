"""Sessions are told with the requests that they are made of: before a run, while it goes on, and in its report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.compare.metrics.units import unit_of
from bakeoff.load.arrivals import Constant
from bakeoff.load.load_step import Clients, Rate
from bakeoff.plan.design.unit import OPERATIONS, LoadUnit
from bakeoff.plan.kind import plan_part
from bakeoff.plan.load import PlanInput, parse_contenders, resolve_plan
from bakeoff.run.observe.observer import trial_line
from tests.unit.compare.synthetic import run
from tests.unit.store.builders import trial

SESSIONS = LoadUnit("sessions", "sessions", "requests", 3.0)
AT_67 = Rate(67.0, Constant(), 1000)


def test_a_load_and_what_was_counted_have_both_units() -> None:
    assert SESSIONS.load(AT_67) == "67 sessions/s = 201 requests/s"
    assert SESSIONS.offered(AT_67) == "67 sessions/s = 201 requests/s offered"
    assert SESSIONS.rate(66.5) == "66.5 sessions/s = 200 requests/s"
    assert SESSIONS.sentence([67.0]) == "67 sessions/s are 201 requests/s: a session has 3 requests."
    assert SESSIONS.sentence([20.0, 40.0, 67.0]).startswith("20 to 67 sessions/s are 60 to 201 requests/s: ")


def test_clients_and_single_operations_are_told_as_before() -> None:
    assert SESSIONS.load(Clients(8)) == SESSIONS.offered(Clients(8)) == "8 clients"
    assert OPERATIONS.load(AT_67) == "67 operations/s" and OPERATIONS.offered(AT_67) == "67/s offered"
    assert OPERATIONS.rate(1234.0) == "1,234 operations/s" and OPERATIONS.sentence([67.0]) == ""


def test_what_is_not_counted_in_sessions_is_not_multiplied() -> None:
    """httperf counts connections, calls and sessions together: only what it offers is of sessions."""
    unit = LoadUnit(starts="sessions", parts="requests", each=4.0)
    assert unit.rate(80.0) == "80 operations/s" and unit.load(AT_67) == "67 sessions/s = 268 requests/s"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"wsess": "100,5,1"}, "67 sessions/s = 335 requests/s"),
        ({"num_calls": "2", "num_conns": "100"}, "67 connections/s = 134 requests/s"),
        ({"num_conns": "100"}, "67 operations/s"),
        ({"wsesspage": "100,5,1"}, "67 sessions/s"),
    ],
)
def test_what_httperf_starts_is_known_from_the_plan(settings: dict[str, str], said: str) -> None:
    contenders = parse_contenders(["a=http://127.0.0.1:1/"])
    plan = resolve_plan(PlanInput("x", {"suite": "httperf"}, {"rate": "67", **settings}, contenders))
    (load_step,) = plan.load_steps
    assert plan_part(plan.kind).unit(plan.settings).load(load_step) == said


def test_a_line_of_progress_has_both(tmp_path: Path) -> None:
    done = replace(trial(marks=(), operations_per_s=67.0), load_step=AT_67)
    assert trial_line(done, SESSIONS).startswith(
        "block 1, a, 67 sessions/s = 201 requests/s: 67 sessions/s = 201 requests/s, p99"
    )


SESSION = """
[[step]]
path = "/login"
[[step]]
path = "/cart"
[[step]]
path = "/logout"
"""


def test_plan_and_report_of_sessions_have_both(tmp_path: Path) -> None:
    (tmp_path / "session.toml").write_text(SESSION)
    words = ["web-session", "a=http://127.0.0.1:1/", "b=http://127.0.0.1:2/"]
    flags = ["--session", str(tmp_path / "session.toml"), "--rate", "67"]
    printed = CliRunner().invoke(app, ["plan", *words, *flags], catch_exceptions=False).output
    assert "67 sessions/s are 201 requests/s: a session has 3 requests" in " ".join(printed.split())
    given = PlanInput("x", {"suite": "web-session"}, {"session": flags[1], "rate": "67"}, parse_contenders(words[1:]))
    record = replace(run(), kind="web-session", suite="web-session", plan=resolve_plan(given).to_dict())
    assert unit_of(record).sentence([67.0]) == "67 sessions/s are 201 requests/s: a session has 3 requests."
    assert unit_of(record).sentence([]) == unit_of(replace(record, plan={})).sentence([67.0]) == ""
