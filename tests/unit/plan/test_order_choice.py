"""Which order of trials a plan has, and that it says why."""

from pathlib import Path

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.plan.campaign import read_campaign
from bakeoff.plan.design.order_choice import why
from bakeoff.plan.input.plan_input import plan_input_of
from bakeoff.plan.load import parse_contenders, resolve_plan, with_flags
from bakeoff.plan.model import Plan
from tests.unit.plan.test_load import flags

WEB = ("a=http://127.0.0.1:1", "b=http://127.0.0.1:2")
APP = ("a=127.0.0.1:1", "b=127.0.0.1:2")


def plan(suite: str, *words: str, reset: bool = False, order: str | None = None, capacity: bool = False) -> Plan:
    given = flags(suite, *words, plan={} if order is None else {"order": order})
    resets = {"b": "true"} if reset else {}
    return resolve_plan(with_flags(given, {}, {}, resets, {"objective": "p99<=50ms"} if capacity else None))


@pytest.mark.parametrize(
    ("found", "order", "reason"),
    [
        (plan("web-static", *WEB), "load_steps", "so that drift between trials hits all alike"),
        (plan("web-url", *WEB), "load_steps", "so that drift between trials hits all alike"),
        (plan("web-static", *WEB, reset=True), "contenders", "as b would be reset before each trial otherwise"),
        (plan("web-static", *WEB, reset=True, order="load_steps"), "load_steps", "as the plan says"),
        (plan("web-static", *WEB, order="contenders"), "contenders", "as the plan says"),
        (plan("web-static", WEB[0]), "contenders", "as there is one contender"),
        (plan("app", *APP), "contenders", "in turns others would drive them out"),
        (plan("app", *APP, order="load_steps"), "load_steps", "as the plan says"),
        (plan("web-static", *WEB, capacity=True), "contenders", "as a search goes on with one contender"),
    ],
)
def test_the_order_that_fits_or_the_one_that_is_asked_for(found: Plan, order: str, reason: str) -> None:
    assert found.order == order and reason in why(found)
    assert resolve_plan(plan_input_of(found, "x")).hash == found.hash, "a plan file of it means the same"


def test_mail_is_measured_in_one_piece(tmp_path: Path) -> None:
    users = tmp_path / "users.csv"
    users.write_text("".join(f"u{n},secret,example.org\n" for n in range(400)))
    given = flags("mail-pop", "a=127.0.0.1", "b=127.0.0.1:2525")
    found = resolve_plan(with_flags(given, {}, {"users": str(users), "mailboxes": 50, "clients": "1"}, {}))
    assert found.order == "contenders" and "queued" in why(found)


@pytest.mark.parametrize("suite", ["file-mix", "file-matrix", "file-blocks"])
def test_folders_are_measured_in_one_piece(suite: str, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    found = plan(suite, f"a={tmp_path}/a", f"b={tmp_path}/b")
    assert found.order == "contenders" and "caches" in why(found)


def test_a_search_cannot_go_on_with_several_contenders_in_turns() -> None:
    with pytest.raises(PlanError, match="order: a search goes on with one contender"):
        plan("web-static", *WEB, order="load_steps", capacity=True)


def test_a_suite_of_a_campaign_says_its_own_order(tmp_path: Path) -> None:
    contenders = "".join(
        f'[[contender]]\nname = "{c["name"]}"\nweb = "{c["address"]}"\n' for c in parse_contenders(WEB)
    )
    suites = '[[suite]]\nsuite = "web-url"\n[[suite]]\nsuite = "web-url"\nname = "again"\norder = "contenders"\n'
    path = tmp_path / "campaign.toml"
    path.write_text(contenders + suites)
    assert [suite_run.plan.order for suite_run in read_campaign(path).suite_runs] == ["load_steps", "contenders"]
