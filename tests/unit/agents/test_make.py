"""Which machines send the load of a plan."""

import sys

import pytest

from bakeoff.agents.make import make_agents
from bakeoff.core.errors import GeneratorError, PlanError
from bakeoff.plan.settings.fleet import FleetPlan
from tests.unit.run.fake import plan_for


def test_without_a_cluster_this_machine_does() -> None:
    assert [agent.name for agent in make_agents(plan_for("http://127.0.0.1:1"), None)] == ["local"]


def test_a_cluster_needs_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(GeneratorError, match=r"pip install 'bakeoff\[cluster\]'"):
        make_agents(plan_for("http://127.0.0.1:1"), "10.0.0.1:6379")


def test_several_machines_need_a_cluster_and_a_run_that_goes_on_needs_the_same() -> None:
    plan = plan_for("http://127.0.0.1:1").model_copy(update={"fleet": FleetPlan.model_validate({"agents": 3})})
    with pytest.raises(PlanError, match=r"with --cluster ADDRESS where they are, or give --agents 1$"):
        make_agents(plan, None)
    with pytest.raises(PlanError, match=r"with --cluster ADDRESS where they are$"):
        make_agents(plan, None, ["m1", "m2", "m3"])
