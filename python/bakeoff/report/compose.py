"""From a run and its comparison to the report."""

from __future__ import annotations

from typing import Any

from bakeoff.compare.limits.objective_model import ObjectiveVerdict
from bakeoff.compare.model.comparison import Comparison
from bakeoff.compare.shapes import shape_of
from bakeoff.report.blocks.severity import SEVERITIES
from bakeoff.report.blocks.tree import Report, Section, Severity, in_order
from bakeoff.report.charts.palette import AS_PLANNED, Placed
from bakeoff.report.embed.provenance import MEASURED, measured
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.shown_pairs import BASELINE_AND_FEW, ShownPairs
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.collections.noise import BIAS, FLOOR, NONE
from bakeoff.report.narrate.document import to_dict
from bakeoff.report.narrate.validity.caveat import box
from bakeoff.report.narrate.verdict.headline import equals_sentences, headline
from bakeoff.report.narrate.verdict.interim import place
from bakeoff.report.sections import sections_for
from bakeoff.store.collections.challenged import challenged
from bakeoff.store.records.run_records import RunRecord

# More rows of cells than this are not in the data of a page.
MOST_LEVELS = 400

VERDICTS: dict[str, tuple[str, Severity]] = {
    "better": ("A winner", "good"),
    "equivalent": ("Equivalent", "good"),
    "near_margin": ("A small lead", "plain"),
    "inconclusive": ("Inconclusive", "warning"),
    "withheld": ("Verdict withheld", "bad"),
    "disqualified": ("Disqualified", "bad"),
    "too_few": ("Numbers without a verdict", "warning"),
}
# Of an A/A run, by the kind of its first sentence.
EQUALS: dict[str, tuple[str, Severity]] = {
    FLOOR: ("Noise floor", "plain"),
    BIAS: ("Equals differ", "warning"),
    NONE: ("No noise floor", "warning"),
}
# Of one contender that is held to an objective.
OBJECTIVE: dict[ObjectiveVerdict, tuple[str, Severity]] = {
    "met": ("Objective met", "good"),
    "missed": ("Objective missed", "bad"),
    "undecided": ("Objective not decided", "warning"),
}


def compose(
    run: RunRecord,
    comparison: Comparison,
    surfaces: bool = False,
    detail: Detail = Detail.PAGE,
    shown: ShownPairs = BASELINE_AND_FEW,
    among: Placed = AS_PLANNED,
) -> Report:
    """The report of `run` for a reader at `detail`, with the data of a page where it is one; `among` has its contenders
    in an order and colours that are not those of the plan.
    """
    context = Context(shape_of(run).view(run), comparison, surfaces, run, shown, among)
    verdict, severity = _verdict(comparison)
    sentences = headline(comparison)
    info = comparison.run
    return Report(
        title=_title(context.names),
        subtitle=f"{info.suite}: {run.planned.title or info.name}",
        verdict=verdict,
        severity=severity,
        headline=tuple(one.text for one in sentences),
        severities=tuple(SEVERITIES.get(one.kind, "plain") for one in sentences),
        sections=_sections(context, detail),
        facts=_facts(context),
        embedded=data_of_run(run, comparison, shown) if detail == Detail.PAGE else {},
        contenders=context.names,
        caveat=box(comparison.caveat),
    )


def chapter(
    run: RunRecord,
    comparison: Comparison,
    surfaces: bool = False,
    detail: Detail = Detail.PAGE,
    shown: ShownPairs = BASELINE_AND_FEW,
    among: Placed = AS_PLANNED,
    elsewhere: frozenset[str] = frozenset(),
) -> tuple[Section, ...]:
    """All sections that have something to say about `run` to a reader at `detail`; of cells also `surfaces`,
    when wanted, and drawings of the pairs that are `shown`; `among` are the contenders of the whole report, which
    tells notes and warnings with the texts `elsewhere`.
    """
    return _sections(Context(shape_of(run).view(run), comparison, surfaces, run, shown, among, elsewhere), detail)


def _sections(context: Context, detail: Detail) -> tuple[Section, ...]:
    wanted = [one for one in sections_for(context) if one.detail <= detail]
    return in_order(made for one in wanted if (made := one(context)) is not None)


def _plans(run: RunRecord) -> dict[str, Any]:
    """The plan, or that of each of several files."""
    return {"plans": {file.label: file.run.plan for file in run.joined}} if run.joined else {"plan": run.plan}


def _title(names: tuple[str, ...]) -> str:
    return " against ".join(names) if len(names) == 2 else wording.names(list(names))


def _verdict(comparison: Comparison) -> tuple[str, Severity]:
    if comparison.faults or comparison.changed:
        return "Wrong results", "bad"
    if equals := equals_sentences(comparison):
        return EQUALS[equals[0].kind]
    if comparison.ranking and comparison.winner is None:
        return "No single winner", "plain"
    if comparison.winner is not None:
        absent = () if comparison.challenge is None else comparison.challenge.absent
        return winner(len(comparison.contenders), len(comparison.contenders) + len(absent))
    kinds = {pair.primary.verdict.kind for pair in comparison.pairs if pair.baseline == comparison.run.baseline}
    if not kinds and comparison.joined is not None and len(comparison.contenders) > 1:
        return "Not known", "warning"
    if not kinds and comparison.objective is not None:
        return OBJECTIVE[comparison.objective.verdict]
    if not kinds:
        return "One contender", "plain"
    return VERDICTS[kinds.pop()]


def winner(measured: int, of: int) -> tuple[str, Severity]:
    """What a winner is called that was held against so many contenders, of so many that there are."""
    return VERDICTS["better"] if measured == of else (f"A winner of {measured} of {of} contenders", "plain")


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
    if comparison.joined is not None:
        parts = [f"{1 + f.last_block - f.first_block} in {f.label}" for f in comparison.joined.files if not f.failed]
        return f"{info.blocks_measured} measured of {', '.join(parts)}"
    text = f"{info.blocks_measured} of {info.blocks_planned} measured"
    if info.interim is not None and info.interim.added:
        text += f", {sum(info.interim.added)} of them added after an analysis"
    if info.interim is not None and info.interim.ended_early:
        text += f" ({info.interim.planned[-1]} planned, ended at {place(info.interim)})"
    usable = min((pair.primary.blocks for pair in comparison.pairs), default=info.blocks_measured)
    if usable >= info.blocks_measured:
        return text
    of = " in some pair" if len(comparison.pairs) > 1 else ""
    return f"{text}, {usable} usable{of}: in the others a trial has no figure"


def _short(plan_hash: str) -> str:
    return plan_hash.removeprefix("sha256:")[:12]


def data_of_run(run: RunRecord, comparison: Comparison, shown: ShownPairs = BASELINE_AND_FEW) -> dict[str, Any]:
    """What a page holds for programs: with it the run can be measured again, and its file be known."""
    read = challenged(run)
    other = {} if read is None else {"challenged": {"report": read.report, "sha256": read.sha256, **read.data}}
    return {"comparison": _embedded(comparison, shown), **_plans(run), MEASURED: measured(run), **other}


def _embedded(comparison: Comparison, shown: ShownPairs) -> dict[str, Any]:
    """The comparison as it is in the page. Cells and curves of pairs that are not in the open, and what each contender
    reached in very many cells, are left to `bakeoff compare --json`: the page does not show them all.
    """
    plain = to_dict(comparison)
    if comparison.cells:
        if len(comparison.cells.measured) > MOST_LEVELS:
            plain["matrix"]["measured"]["rows"] = []
        for pair, of in zip(plain["matrix"]["pairs"], comparison.cells.pairs, strict=True):
            if not shown.in_the_open(of, comparison.run.baseline):
                pair["cells"] = {**pair["cells"], "rows": []}
                pair["curves"] = []
    return plain
