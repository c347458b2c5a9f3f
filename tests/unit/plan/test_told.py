"""Plans of runs that are told of: whatever is stored, hidden or altered, there is one with all its attributes."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import pytest

from bakeoff.core.redact import hidden
from bakeoff.kinds import KINDS
from bakeoff.kinds.mail.plan import mail_settings
from bakeoff.kinds.web.plan import web_settings
from bakeoff.kinds.web_session.plan import session_settings
from bakeoff.plan.kind import plan_part
from bakeoff.plan.load import resolve_plan
from bakeoff.plan.reported import lenient_plan
from bakeoff.plan.settings.shared import CommonSettings
from tests.shop import STEPS, session_file
from tests.unit.plan.test_load import flags
from tests.unit.store.test_figures import HOSTILE, places


def stored(**settings: Any) -> dict[str, Any]:
    return resolve_plan(flags(**settings)).to_dict()


def test_a_plan_as_it_was_stored_is_that_plan() -> None:
    plan = resolve_plan(flags(length="9s", ramp_up="1s", ramp_down="2s"))
    assert lenient_plan(plan.to_dict(), "web") == plan


def test_what_a_report_hides_takes_nothing_else_away(tmp_path: Path) -> None:
    path = str(session_file(tmp_path))
    plan = resolve_plan(flags("web-session", "a=http://h/", session=path, cookie="sid=word", basic_auth="me:word"))
    planned = lenient_plan(hidden(plan.to_dict()), "web-session")
    settings, was = session_settings(planned.settings), session_settings(plan.settings)
    assert settings.session is not None and was.session is not None
    assert [step.name for step in settings.session.steps] == list(STEPS)
    assert settings.session.steps[0] == was.session.steps[0]
    assert (settings.cookie, settings.basic_auth) == (("(hidden)",), "(hidden)")
    assert (settings.length_s, settings.http, planned.contenders) == (was.length_s, was.http, plan.contenders)


def test_one_value_that_does_not_fit_costs_that_value_alone() -> None:
    plan = stored(length="9s", ramp_up="1s", ramp_down="2s")
    plan["settings"] |= {"virtual_users": "many", "receive_buffer_bytes": -1}
    plan |= {"blocks": None, "interim_analyses": [True, 6], "capacity": {"by": "rate"}}
    plan["contenders"][0] |= {"levels": 3, "watch": "nothing that could be"}
    planned = lenient_plan(plan, "web")
    settings = web_settings(planned.settings)
    assert (settings.virtual_users, settings.receive_buffer_bytes, settings.length_s) == (1, None, 9.0)
    assert (settings.clock.ramp_up_s, settings.window_s, planned.title) == (1.0, 6.0, plan["title"])
    assert (planned.blocks, planned.interim_analyses) == (0, None)
    assert planned.capacity is not None and planned.capacity.by == "rate", "a search it is, whatever it lacks"
    assert [(one.name, one.levels) for one in planned.contenders] == [("a", {}), ("b", {})]


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_without_a_plan_has_settings_of_its_kind(kind: str) -> None:
    planned = lenient_plan({}, kind)
    assert isinstance(planned.settings, plan_part(kind).settings)
    assert (planned.contenders, planned.factors, planned.classes, planned.capacity, planned.title) == (
        (),
        (),
        (),
        None,
        "",
    )
    assert (planned.settings.sessions_per_client, planned.settings.think_s, planned.goal) == (1, 0.0, None)


def test_a_kind_that_nobody_knows_has_the_settings_of_all() -> None:
    planned = lenient_plan(stored(length="9s"), "unheard-of")
    assert (
        type(planned.settings) is CommonSettings and planned.settings.length_s == 9.0 and planned.kind == "unheard-of"
    )


def test_a_plan_of_another_kind_is_read_as_that_of_the_run() -> None:
    assert mail_settings(lenient_plan(stored(length="9s"), "mail").settings).length_s == 9.0


@pytest.mark.parametrize("kind", ["web", "mail", "file-matrix", "unheard-of"])
def test_hostile_plans_are_told_or_left_out_and_never_refused(kind: str) -> None:
    plan = {**stored(), "kind": kind}
    for seed in range(60):
        spoiled, chance = copy.deepcopy(plan), random.Random(f"{kind} {seed}")
        for _ in range(3):
            container, key = chance.choice(list(places(spoiled)))
            container[key] = copy.deepcopy(chance.choice(HOSTILE))
        planned = lenient_plan(spoiled, kind)
        assert isinstance(planned.settings.virtual_users, int) and isinstance(planned.settings.clock.ramp_up_s, float)
        assert all(isinstance(one.name, str) and isinstance(one.levels, dict) for one in planned.contenders)
        assert isinstance(planned.title, str) and isinstance(planned.differences, tuple)
