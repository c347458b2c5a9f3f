"""Every kind has all its parts, and one that lacks something is told what, before anybody is asked anything."""

import inspect
import re
from pathlib import Path

import pytest

import bakeoff.kinds
from bakeoff.agents.spec import TrialSpec
from bakeoff.compare.kind import compare_part
from bakeoff.core.errors import GeneratorError, PlanError
from bakeoff.kinds import KINDS
from bakeoff.kinds.files.plan import FolderPlanPart
from bakeoff.kinds.spec import Workload, spec_part
from bakeoff.kinds.web.spec import WebWorkload
from bakeoff.plan.kind import PlanPart, plan_part
from bakeoff.plan.settings.shared import CommonSettings
from bakeoff.plan.suites import load_suite, suite_names
from bakeoff.report.kind import report_part
from bakeoff.run.checks.specs import trial_spec
from bakeoff.run.kind import Check, RunPart, run_part
from tests.unit.run.fake import FakeAgent, plan_for

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "python/bakeoff/kinds"


def lacks(kind: str) -> list[str]:
    """What a kind still needs, each as the file to write or to mend."""
    folder = f"python/bakeoff/kinds/{kind.replace('-', '_')}"
    missing = []
    for part, name, right in (
        (spec_part, "spec", lambda part: issubclass(part, Workload) and part.model_fields["kind"].default == kind),
        (plan_part, "plan", lambda part: isinstance(part, PlanPart) and issubclass(part.settings, CommonSettings)),
        (run_part, "run", lambda part: isinstance(part, RunPart) and not inspect.isabstract(part.check)),
    ):
        try:
            if not right(part(kind)):
                missing.append(f"{folder}/{name}.py: its PART is not whole")
        except (PlanError, AttributeError):
            missing.append(f"{folder}/{name}.py")
    suites = [name for name in suite_names() if load_suite(name).suite.kind == kind]
    if not suites:
        missing.append(f'python/bakeoff/plan/suites/*.toml with kind = "{kind}"')
    plans = "".join(path.read_text() for path in (ROOT / "plans").glob("*.toml"))
    pages = "".join(path.read_text() for path in (ROOT / "docs").rglob("*.md"))
    missing += [f'plans/*.toml with suite = "{name}"' for name in suites if f'suite = "{name}"' not in plans]
    missing += [f"docs/**/*.md that tells of {name}" for name in suites if not re.search(rf"\b{name}\b", pages)]
    needs_target = f"{folder}/plan.py" not in missing and not isinstance(plan_part(kind), FolderPlanPart)
    if needs_target:
        target = f"crates/targets/src/{plan_part(kind).target or kind.replace('-', '_')}/mod.rs"
        missing += [] if (ROOT / target).is_file() else [target]
    return missing


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_lacks_nothing(kind: str) -> None:
    assert lacks(kind) == []


def test_folders_are_those_of_the_registry() -> None:
    shared = {"files"}
    found = {path.parent.name for path in FOLDER.glob("*/__init__.py")}
    assert found - shared == {kind.replace("-", "_") for kind in KINDS}


def test_what_a_kind_lacks_is_named_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bakeoff.kinds, "KINDS", (*KINDS, "news"))
    assert lacks("news") == [
        "python/bakeoff/kinds/news/spec.py",
        "python/bakeoff/kinds/news/plan.py",
        "python/bakeoff/kinds/news/run.py",
        'python/bakeoff/plan/suites/*.toml with kind = "news"',
    ]
    with pytest.raises(PlanError, match=r"^the kind news has no part for `run`: write kinds/news/run\.py "):
        run_part("news")


def test_an_unknown_kind_is_refused_in_one_sentence_where_it_must_be_known() -> None:
    for part in (spec_part, plan_part, run_part):
        with pytest.raises(PlanError, match=r"^there is no kind of suite 'news': the kinds are web, "):
            part("news")
    with pytest.raises(PlanError, match="there is no kind of suite 'news'"):
        TrialSpec.model_validate({"workload": {"kind": "news"}, "load": {"clients": 1}, "length_s": 1})


def test_an_unknown_kind_is_compared_and_reported_by_the_parts_that_do_for_any() -> None:
    assert compare_part("news") is compare_part("null") and report_part("news") is report_part("null")


def test_a_check_says_itself_what_it_does_not_need() -> None:
    assert {name for name, value in vars(Check).items() if getattr(value, "__isabstractmethod__", False)} == {
        "answers",
        "addresses",
        "workload",
    }


def test_what_lacks_a_piece_ends_in_a_sentence_before_any_server_is_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plan = plan_for("http://127.0.0.1:1", suite="web-url")

    class Engine:
        workloads = staticmethod(lambda: ["null"])

    with monkeypatch.context() as without:
        without.setattr("bakeoff.run.kind.load_engine", Engine)
        with pytest.raises(
            GeneratorError, match=r"has no workload 'web': add its line to crates/bridge/src/registry\.rs"
        ):
            run_part("web").check(plan)
    check = run_part("web").check(plan)
    monkeypatch.setattr(check, "workload", lambda contender, addresses: WebWorkload.model_validate({"kind": "web"}))
    with pytest.raises(PlanError, match=r"^the kind web does not fill in its own specification \(scheme: "):
        trial_spec(check, plan.contenders[0], [], FakeAgent().facts())
