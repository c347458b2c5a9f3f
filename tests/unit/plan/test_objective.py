"""The objective of a plan that searches nothing, and the flag that says the same."""

from pathlib import Path
from typing import Any

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.plan.input.plan_file import plan_to_toml
from bakeoff.plan.load import PlanInput, parse_contenders, read_plan_file, resolve_plan
from bakeoff.plan.model import Plan


def resolved(objective: str | None, suite: str = "web-url", capacity: Any = None, **settings: Any) -> Plan:
    address = {"web-url": "http://127.0.0.1:1/", "file-blocks": "/tmp"}[suite]
    plan = {"suite": suite} if objective is None else {"suite": suite, "objective": objective}
    given = PlanInput("plan.toml", plan, settings, parse_contenders([f"a={address}"]), {}, capacity)
    return resolve_plan(given)


def test_it_is_stored_as_it_is_meant_and_read_back(tmp_path: Path) -> None:
    plan = resolved("p99 ≤ 50 ms, errors<=0.001", rate="200")
    assert plan.objective == "p99<=50ms,errors<=0.1%" and str(plan.goal) == plan.objective
    assert Plan.from_dict(plan.to_dict()) == plan
    path = tmp_path / "plan.toml"
    given = PlanInput("x", {"suite": "web-url", "objective": plan.objective}, {"rate": "200"}, [])
    given.contenders.extend(parse_contenders(["a=http://127.0.0.1:1/"]))
    path.write_text(plan_to_toml(given, plan))
    assert resolve_plan(read_plan_file(path)).hash == plan.hash


def test_a_plan_without_one_has_the_hash_it_had() -> None:
    plan = resolved(None)
    assert plan.goal is None and "objective" not in plan.to_dict()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"objective": "p99<50ms"}, "p99 is bounded by <="),
        ({"objective": "achieved>=99%"}, "add --rate"),
        ({"objective": "p99<=20s"}, "too long for so short a trial"),
        ({"objective": "p99<=9ms,errors<=20%"}, "raise --error-limit"),
        ({"objective": "p99<=9ms", "suite": "file-blocks"}, "leave it out"),
        ({"objective": "p99<=9ms", "capacity": {"objective": "p99<=9ms"}}, "move it there"),
    ],
)
def test_what_no_trial_could_tell_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(PlanError, match="objective") as error:
        resolved(**given)
    assert says in str(error.value)
