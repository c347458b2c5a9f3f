"""Kinds of workload: each is a folder here, with one part for each layer that asks for one, and its line in `KINDS`.

    spec.py     what the engine is told                          the Pydantic twin of the engine's serde type
    plan.py     settings, addresses, the trial specification     `bakeoff.plan.kind.PlanPart`
    run.py      what must be true before timing, and in a trial  `bakeoff.run.kind.RunPart`
    figures.py  what its trials tell beside the usual counts     `bakeoff.store.figures.Figures`
    compare.py  words, endpoints, gates                          `bakeoff.compare.kind.ComparePart`
    report.py   sections and sentences of its own                `bakeoff.report.kind.ReportPart`
    story.py    what its clients do, in prose                    called by `report.py`

A part may import what its layer may, and is imported when that layer asks for it: a report never loads what runs
trials. Outside of its folder no module names a kind. Compare, report and the store have parts for kinds
that have none, and for run files of kinds that this version does not know.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from bakeoff.errors import PlanError

if TYPE_CHECKING:
    from bakeoff.compare.kind import ComparePart
    from bakeoff.kinds.spec import Workload
    from bakeoff.plan.kind import PlanPart
    from bakeoff.report.kind import ReportPart
    from bakeoff.run.kind import RunPart
    from bakeoff.store.figures import Figures

KINDS = ("web", "mail", "app", "httperf", "file-matrix", "file-blocks", "file-mix", "replay", "web-session")


def spec_part(name: str) -> "type[Workload]":
    """What the engine is told of a kind. Raises PlanError when there is no such kind, or when it lacks this part."""
    part: type[Workload] = _needed(name, "spec")
    return part


def plan_part(name: str) -> "PlanPart":
    """What plans know of a kind. Raises PlanError when there is no such kind, or when it lacks this part."""
    part: PlanPart = _needed(name, "plan")
    return part


def run_part(name: str) -> "RunPart":
    """What runs know of a kind. Raises PlanError when there is no such kind, or when it lacks this part."""
    part: RunPart = _needed(name, "run")
    return part


def figures_of(name: str) -> "type[Figures]":
    """The model of the figures of a kind's trials; the one of any kind for a kind without one, known or not."""
    module = _module(name, "figures") if name in KINDS else None
    model: type[Figures] = import_module(module or "bakeoff.store.figures").MODEL
    return model


def compare_part(name: str) -> "ComparePart":
    """What comparisons know of a kind; the default part for a kind without one, known or not."""
    part: ComparePart = _wanted(name, "compare")
    return part


def report_part(name: str) -> "ReportPart":
    """What reports know of a kind; the default part for a kind without one, known or not."""
    part: ReportPart = _wanted(name, "report")
    return part


def _needed(name: str, layer: str) -> Any:
    if name not in KINDS:
        raise PlanError(f"there is no kind of suite {name!r}: the kinds are {', '.join(KINDS)}")
    module = _module(name, layer)
    if module is None:
        raise PlanError(
            f"the kind {name} has no part for `{layer}`: write kinds/{_folder(name)}/{layer}.py with its PART"
        )
    return import_module(module).PART


def _wanted(name: str, layer: str) -> Any:
    module = _module(name, layer) if name in KINDS else None
    return import_module(f"bakeoff.{layer}.kind").DEFAULT if module is None else import_module(module).PART


def _module(name: str, layer: str) -> str | None:
    """Name of the module with a kind's part, if it is there."""
    package = f"{__name__}.{_folder(name)}"
    module = f"{package}.{layer}"
    return module if find_spec(package) is not None and find_spec(module) is not None else None


def _folder(name: str) -> str:
    return name.replace("-", "_")
