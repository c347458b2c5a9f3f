"""Kinds of workload: each is a folder here, with one part for each layer that asks for one, and its line in `KINDS`.

    spec.py     what the engine is told                          `kinds.spec.Workload`, twin of the engine's serde type
    plan.py     settings, addresses, the trial specification     `bakeoff.plan.kind.PlanPart`
    run.py      what must be true before timing, and in a trial  `bakeoff.run.kind.RunPart`
    figures.py  what its trials tell beside the usual counts     `bakeoff.store.records.figures.Figures`
    compare.py  endpoints, gates                                 `bakeoff.compare.kind.ComparePart`
    words.py    words for what comparisons tell by name          `bakeoff.report.narrate.kind.WordsPart`
    report.py   sections and sentences of its own                `bakeoff.report.kind.ReportPart`
    story.py    what its clients do, in prose                    called by `report.py`

A part may import what its layer may, and is imported when that layer asks for it: a report never loads what runs
trials. Beside its contract each layer has the function that gives a kind's part as that (`plan_part`, …). Outside of
its folder no module names a kind. Compare, report and the store have parts for kinds that have none, and for run files
of kinds that this version does not know.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from bakeoff.core.errors import PlanError

KINDS = ("web", "mail", "app", "httperf", "file-matrix", "file-blocks", "file-mix", "replay", "web-session")


def load(name: str, layer: str, default: Any = None) -> Any:
    """The part of a kind for a layer, which types it; `default` for a kind without one, known or not.

    Raises PlanError where there is no default.
    """
    folder = name.replace("-", "_")
    module = f"{__name__}.{folder}.{layer}"
    if name in KINDS and find_spec(f"{__name__}.{folder}") is not None and find_spec(module) is not None:
        return import_module(module).PART
    if default is not None:
        return default
    if name not in KINDS:
        raise PlanError(f"there is no kind of suite {name!r}: the kinds are {', '.join(KINDS)}")
    raise PlanError(f"the kind {name} has no part for `{layer}`: write kinds/{folder}/{layer}.py with its PART")
