"""From a run and its comparison to the report."""

from __future__ import annotations

from typing import Any

from bakeoff.compare import wording
from bakeoff.compare.capacity import view_of
from bakeoff.compare.model import Comparison
from bakeoff.report.blocks import Report, Tone
from bakeoff.report.context import Context
from bakeoff.report.depth import Depth, depth_of
from bakeoff.report.sections import builders
from bakeoff.report.tones import TONES
from bakeoff.store.records import RunRecord

# More rows of cells than this are not in the data of a page.
MOST_LEVELS = 400

VERDICTS: dict[str, tuple[str, Tone]] = {
    "better": ("A winner", "good"),
    "equivalent": ("Equivalent", "good"),
    "near_margin": ("A small lead", "plain"),
    "inconclusive": ("Inconclusive", "warning"),
    "withheld": ("Verdict withheld", "bad"),
    "disqualified": ("Disqualified", "bad"),
    "too_few": ("Numbers without a verdict", "warning"),
}


def compose(run: RunRecord, comparison: Comparison, surfaces: bool = False, depth: Depth = Depth.PAGE) -> Report:
    """All sections that have something to say about `run` to a reader at `depth`; of cells also `surfaces`,
    when wanted.
    """
    context = Context(view_of(run), comparison, surfaces, run)
    wanted = [build for build in builders(context) if depth_of(build) <= depth]
    sections = tuple(section for build in wanted if (section := build(context)) is not None)
    verdict, tone = _verdict(comparison)
    info = comparison.run
    return Report(
        title=_title(context.names),
        subtitle=f"{info.suite}: {run.plan.get('title', info.name)}",
        verdict=verdict,
        tone=tone,
        headline=comparison.headline,
        tones=tuple(TONES.get(kind, "plain") for kind in comparison.headline_kinds),
        sections=sections,
        facts=_facts(context),
        embedded={"comparison": _embedded(comparison), "plan": run.plan} if depth == Depth.PAGE else {},
        contenders=context.names,
    )


def _title(names: tuple[str, ...]) -> str:
    return " against ".join(names) if len(names) == 2 else wording.names(list(names))


def _verdict(comparison: Comparison) -> tuple[str, Tone]:
    if "loss" in comparison.headline_kinds:
        return "Wrong results", "bad"
    if comparison.ranking and comparison.winner is None:
        return "No single winner", "plain"
    if comparison.winner is not None:
        return VERDICTS["better"]
    kinds = {pair.primary.verdict.kind for pair in comparison.pairs if pair.baseline == comparison.run.baseline}
    if not kinds:
        return "One contender", "plain"
    return VERDICTS[kinds.pop()]


def _facts(context: Context) -> tuple[tuple[str, str], ...]:
    info = context.comparison.run
    done = info.trials.get("ok", 0)
    return (
        ("Run", info.name),
        ("File", info.file),
        ("Started", context.moment(info.created_at)),
        ("Blocks", _blocks(context.comparison)),
        ("Trials", f"{done} of {info.trials_planned} ok"),
        ("Imported from", tool) if (tool := context.run.imported_from) else ("Plan", _short(info.plan_hash)),
        ("Bakeoff", context.run.tool.get("version", "unknown version")),
    )


def _blocks(comparison: Comparison) -> str:
    """How many were measured, and how many of these count in the verdict, where it is fewer."""
    info = comparison.run
    text = f"{info.blocks_measured} of {info.blocks_planned} measured"
    if info.look is not None and info.look.added:
        text += f", {sum(info.look.added)} of them added after a look"
    if info.look is not None and info.look.ended_early:
        text += f" ({info.look.planned[-1]} planned, ended at a planned look)"
    usable = min((pair.primary.blocks for pair in comparison.pairs), default=info.blocks_measured)
    if usable >= info.blocks_measured:
        return text
    of = " in some pair" if len(comparison.pairs) > 1 else ""
    return f"{text}, {usable} usable{of}: in the others a trial has no figure"


def _short(plan_hash: str) -> str:
    return plan_hash.removeprefix("sha256:")[:12]


def _embedded(comparison: Comparison) -> dict[str, Any]:
    """The comparison as it is in the page. Cells and curves of pairs without the baseline, and what each contender
    reached in very many cells, are left to `bakeoff compare --json`: the page does not show them all.
    """
    plain = comparison.to_dict()
    if comparison.cells:
        if len(comparison.cells.measured) > MOST_LEVELS:
            plain["matrix"]["measured"]["rows"] = []
        for pair in plain["matrix"]["pairs"]:
            if pair["baseline"] != comparison.run.baseline:
                pair["cells"] = {**pair["cells"], "rows": []}
                pair["curves"] = []
    return plain
