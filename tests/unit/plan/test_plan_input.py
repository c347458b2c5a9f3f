"""A resolved plan is written as a plan file that means the same, and its comments say what holds beside it."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.plan.input.plan_file import plan_to_toml
from bakeoff.plan.input.plan_input import plan_input_of
from bakeoff.plan.kind import plan_part
from bakeoff.plan.load import PlanInput, read_plan_file, resolve_plan
from bakeoff.plan.model import Plan
from bakeoff.plan.settings.plan_section import PLAN_FIELDS
from bakeoff.plan.suites import load_suite, suite_names

WEB = ["http://127.0.0.1:1/x", "https://[::1]:2/"]
PLAIN = [name for name in suite_names() if name not in ("mail-pop", "replay", "web-session")]


def given(suite: str, plan: dict[str, Any] | None = None, addresses: list[str] | None = None, **more: Any) -> PlanInput:
    places = addresses or list(plan_part(load_suite(suite).suite.kind).placeholders)
    contenders = [{"name": name, "address": place} for name, place in zip("ab", places, strict=True)]
    known = {key: more.pop(key) for key in ("capacity", "fleet", "agents") if key in more}
    return PlanInput("x", {"suite": suite, **(plan or {})}, more, contenders, {}, **known)


def as_stored(plan: Plan) -> Plan:
    return Plan.from_dict(plan.to_dict())


def through_a_file(plan: Plan, path: Path) -> Plan:
    written = plan_input_of(plan, "run.bakeoff")
    path.write_text(plan_to_toml(written, resolve_plan(written)))
    return resolve_plan(read_plan_file(path))


@pytest.mark.parametrize("size", ["quick", "medium", "full"])
@pytest.mark.parametrize("suite", PLAIN)
def test_every_suite_comes_back_by_its_hash(suite: str, size: str, tmp_path: Path) -> None:
    plan = as_stored(resolve_plan(given(suite, {"size": size})))
    assert through_a_file(plan, tmp_path / "p.toml").hash == plan.hash


SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("web-static", {"length": "90s", "weights": "223=50,404=0", "headers": ['X: "q" ü'], "pin": "0,1"}),
    ("web-static", {"source_addresses": "127.0.0.2,127.0.0.3", "receive_buffer": "64KiB", "operations": "100"}),
    ("web-url", {"rate": "100,250.5", "arrivals": "poisson", "most_connections": "77"}),
    ("web-dynamic", {"dynamic_share": "33.3%", "check_every": "7", "keep_alive": True}),
    ("app", {"weights": "upload=1,read=3", "working_set": "0.5", "clients": "2,3"}),
    ("file-matrix", {"file_max": "1MiB", "tests": "write,mixed", "clients": "2,4","link_speed": "1Gbit/s"}),
    ("file-matrix", {"regions": ["tiny=files<=64KiB", "big=files>=1MiB,records<=32KiB"], "cache": "cold"}),
    ("file-blocks", {"block_sizes": "4KiB,1MiB", "region": "1.5x", "server_memory": "1GiB", "cell_time": "1h2m3.25s"}),
    ("file-blocks", {"access": "File server,Database"}),
    ("file-mix", {"iteration_bytes": "2MB", "iteration_pause": "236ms", "workspace": "30MB"}),
    ("httperf", {"rate": "100,200", "num_conns": "1000", "wsess": "10,5,2"}),
]  # fmt: skip


@pytest.mark.parametrize(("suite", "settings"), SETTINGS, ids=[f"{s}-{'-'.join(v)[:30]}" for s, v in SETTINGS])
def test_what_was_given_comes_back_by_its_hash(suite: str, settings: dict[str, Any], tmp_path: Path) -> None:
    if suite == "httperf":
        settings = {key: value for key, value in settings.items() if key != "num_conns"}
    head = {"blocks": "7", "seed": "99", "delta": "3.3%", "error_limit": "1%", "name": 'my "run"'}
    plan = as_stored(resolve_plan(given(suite, head, **settings)))
    assert through_a_file(plan, tmp_path / "p.toml").hash == plan.hash


def test_searches_fleets_and_resets_come_back(tmp_path: Path) -> None:
    search = {"objective": "p99<=50ms,errors<=0.1%", "least": "100/s", "shares": "50%,105%"}
    plan = as_stored(resolve_plan(given("web-url", addresses=WEB, capacity=search)))
    assert through_a_file(plan, tmp_path / "p.toml").hash == plan.hash
    agents = {"loader-2": {"addresses": {"b": "http://10.0.0.1/"}}}
    fleet = given("web-url", addresses=WEB, fleet={"agents": "4", "least": "3", "start_spread": "2ms"}, agents=agents)
    fleet.contenders[0] |= {"reset": "systemctl restart 'a b'", "ready_timeout": "12.5s"}
    plan = as_stored(resolve_plan(fleet))
    assert through_a_file(plan, tmp_path / "p.toml").hash == plan.hash


def test_what_the_suite_fills_in_otherwise_today_is_written(tmp_path: Path) -> None:
    stored = resolve_plan(given("web-url")).to_dict()
    stored["settings"] |= {"length_s": 11.0, "ramp_up_s": 1.5}
    plan = Plan.from_dict(stored)
    again = through_a_file(plan, tmp_path / "p.toml")
    assert again.settings == plan.settings and again.changed == ("length", "ramp_up")


def test_what_was_read_from_a_file_is_not_made_up() -> None:
    icf = resolve_plan(given("file-blocks", access="File server")).to_dict()
    specs, icf["settings"]["access"] = icf["settings"]["access"], None
    icf["settings"]["icf"], icf["changed"] = specs, ["icf"]
    icf["settings"]["icf"][0]["name"] = "mine"
    with pytest.raises(PlanError, match=r"icf came from a file .*; `bakeoff run old\.bakeoff` repeats it"):
        plan_input_of(Plan.from_dict(icf), "old.bakeoff")


@pytest.mark.parametrize("suite", PLAIN)
def test_defaults_are_comments_that_say_the_same_when_they_are_given(suite: str, tmp_path: Path) -> None:
    words = given(suite, {"size": "medium"})
    plan = resolve_plan(words)
    text = plan_to_toml(words, plan)
    matches = re.findall(r"^#(\w+) = |^(\w+) = |^# \((\w+) is ", text, flags=re.MULTILINE)
    keys = {field.alias or name for name, field in type(plan.settings).model_fields.items()}
    assert keys | set(PLAN_FIELDS) <= {"".join(groups) for groups in matches}
    for description in (field.description or "" for field in type(plan.settings).model_fields.values()):
        assert " ".join(description.split()) in " ".join(text.replace("\n# ", " ").split())
    path = tmp_path / "p.toml"
    path.write_text(text)
    assert resolve_plan(read_plan_file(path)).hash == plan.hash
    lines = re.findall(r"^#(\w+ = .*)$", text, flags=re.MULTILINE)
    values = {key: value for line in lines for key, value in tomllib.loads(line).items()}
    assert (values["seed"], values["blocks"], values["name"]) == (1, plan.blocks, suite)
    assert values["clients"] == list(plan.settings.clients)
