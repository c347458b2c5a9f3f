"""Sessions of several requests against a shop that hands out tokens and takes no others: its counts equal ours."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bakeoff.kinds.web_session.plan import workload
from bakeoff.plan.load import PlanInput, parse_contenders, resolve_plan, with_flags
from tests.conftest import run_trial
from tests.control import PATIENCE_S
from tests.forks import COMMAND
from tests.shop import SESSION, STEPS, Shop, session_file, shop

SESSIONS = 120


def trial(server: Shop, folder: Path, text: str = SESSION, **spec: Any) -> dict[str, Any]:
    """So many sessions of four clients."""
    given = PlanInput("test", {"suite": "web-session"}, {}, parse_contenders([f"a={server.url}"]))
    settings = {"session": str(session_file(folder, text))}
    plan = resolve_plan(with_flags(given, {}, settings, {}))
    observed = workload(plan, plan.contenders[0], [server.url.removeprefix("http://")])
    return run_trial(observed.model_dump(), **{"clients": 4, "max_operations": SESSIONS, **spec})


def counts_of(result: dict[str, Any]) -> dict[str, int]:
    steps = {step["name"].removeprefix("session/"): step["summary"]["count"] for step in result["steps"]}
    return {name: steps.get(name, 0) for name in STEPS}


@pytest.mark.parametrize("keep_alive", [True, False])
def test_tokens_cookies_and_numbers_arrive_as_they_were_handed_out(keep_alive: bool, tmp_path: Path) -> None:
    with shop() as server:
        given = PlanInput("test", {"suite": "web-session"}, {}, parse_contenders([f"a={server.url}"]))
        settings = {"session": str(session_file(tmp_path)), "keep_alive": keep_alive}
        plan = resolve_plan(with_flags(given, {}, settings, {}))
        observed = workload(plan, plan.contenders[0], [server.url.removeprefix("http://")])
        result = run_trial(observed.model_dump(), clients=4, max_operations=SESSIONS)
        assert server.asked == dict.fromkeys(STEPS, SESSIONS) and not server.refused
        assert server.users == {"u1", "u2", "u3", "u4"}
    assert (result["operations"], result["errors_total"]) == (SESSIONS, 0)
    assert counts_of(result) == dict.fromkeys(STEPS, SESSIONS)
    assert result["workload"]["failed"] == {"requests": {}, "others": 0}
    connections = 4 if keep_alive else SESSIONS * len(STEPS)
    assert result["connections"]["opened"] == connections
    # No part of a session is longer than all of it.
    whole = result["service"]["mean_ns"]
    parts = sum(step["summary"]["mean_ns"] for step in result["steps"] if step["name"].startswith("session/"))
    assert parts <= whole * 1.001


@pytest.mark.parametrize(
    ("fault", "step", "how", "error"),
    [
        ("no_token", "login page", "value not found: csrf", "wrong_content"),
        ("busy", "log in", "503", "wrong_status"),
        ("login_again", "home", "text not found", "wrong_content"),
    ],
)
def test_a_broken_step_ends_its_session_and_is_counted_by_name(
    fault: str, step: str, how: str, error: str, tmp_path: Path
) -> None:
    with shop(**{fault: 5}) as server:
        result = trial(server, tmp_path)
        broken = server.faulty[fault]
        before, after = STEPS[: STEPS.index(step)], STEPS[STEPS.index(step) + 1 :]
        assert [server.asked[name] for name in before] == [SESSIONS] * len(before)
        assert [server.asked[name] for name in after] == [SESSIONS - broken] * len(after)
        assert not server.refused, "no step was asked without its value"
    assert broken == SESSIONS // 5
    assert (result["operations"], result["errors"]) == (SESSIONS - broken, {error: broken})
    assert result["workload"]["failed"] == {"requests": {step: {how: broken}}, "others": 0}
    answered = counts_of(result)
    assert [answered[name] for name in before] == [SESSIONS] * len(before)
    assert [answered[name] for name in after] == [SESSIONS - broken] * len(after)


def test_pauses_lengthen_sessions_and_no_step(tmp_path: Path) -> None:
    text = SESSION.replace('path = "/login"\nexpect', 'path = "/login"\nthink = "50ms"\nexpect')
    with shop() as server:
        result = trial(server, tmp_path, text, max_operations=8)
        assert server.asked == dict.fromkeys(STEPS, 8)
    parts = {step["name"]: step["summary"]["mean_ns"] for step in result["steps"] if "/" in step["name"]}
    # The server's own clock is the machine's: a pause is never shorter than it was asked for.
    assert result["service"]["min_ns"] >= 50e6
    assert result["service"]["mean_ns"] - sum(parts.values()) >= 49.9e6


def test_at_a_rate_each_start_is_a_session(tmp_path: Path) -> None:
    with shop() as server:
        load = {"rate": {"per_s": 40, "arrivals": {"shape": "constant"}, "most_connections": 20}}
        result = trial(server, tmp_path, load=load, max_operations=None, length_s=3.0)
        asked = server.asked["login page"]
    starts, ended = result["starts"], result["operations"] + result["outside"]["operations"]
    assert starts["offered"] == 120 and result["errors_total"] == 0
    assert ended + result["unfinished"]["operations"] == starts["started"] and ended <= asked <= starts["started"]
    # One for each that ended, and for each that was not over.
    assert result["response"]["count"] == result["operations"] + starts["queue"][-1] and result["operations"] > 0


def bakeoff(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def test_a_session_that_cannot_come_to_its_end_is_refused_before_timing(tmp_path: Path) -> None:
    with shop(no_token=1) as server:
        done = bakeoff("run", "web-session", f"a={server.url}", "--session", str(session_file(tmp_path)))
        assert done.returncode == 2 and "value not found: csrf in step login page" in done.stderr
        assert server.asked == {"login page": 1}


def test_a_server_that_breaks_sessions_is_not_the_better_one(tmp_path: Path) -> None:
    run_file = tmp_path / "run.bakeoff"
    timing = ["--clients", "2", "--operations", "30", "--blocks", "6"]
    with shop() as good, shop(login_again=3) as hasty:
        session = ["--session", str(session_file(tmp_path))]
        done = bakeoff(
            "run", "web-session", f"good={good.url}", f"hasty={hasty.url}", *session, *timing, "-o", str(run_file)
        )
    assert done.returncode in (0, 3, 4), done.stderr
    assert "two sessions are made with each contender" in done.stdout + done.stderr
    trials = json.loads(bakeoff("show", str(run_file), "--json").stdout)["trials"]
    assert all(
        t["workload"]["failed"]["requests"]["home"]["text not found"] for t in trials if t["contender"] == "hasty"
    )
    result = bakeoff("compare", str(run_file)).stdout
    assert "hasty is better" not in result and "hasty is disqualified" in result.replace("\n", " "), result
    assert "sessions/s" in result and "text not found" in result and "Steps at 2 clients" in result
    summary = json.loads(bakeoff("compare", str(run_file), "--json").stdout)["sessions"]["tables"]
    broken = {table["contender"]: table["broken"] for table in summary}
    assert broken["good"] == 0 < broken["hasty"]
