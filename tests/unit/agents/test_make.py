"""Which machines send the load of a plan."""

import sys

import pytest

from bakeoff.agents.make import make_agents
from bakeoff.errors import LabError
from tests.unit.run.fake import plan_for


def test_without_a_cluster_this_machine_does() -> None:
    assert [agent.name for agent in make_agents(plan_for("http://127.0.0.1:1"), None)] == ["local"]


def test_a_cluster_needs_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(LabError, match=r"pip install 'bakeoff\[cluster\]'"):
        make_agents(plan_for("http://127.0.0.1:1"), "10.0.0.1:6379")
