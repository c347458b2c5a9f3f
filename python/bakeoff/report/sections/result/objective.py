"""Who meets the objective of the plan, load by load."""

from __future__ import annotations

from bakeoff.compare.limits.objective_model import KINDS, ObjectiveAtStep, ObjectiveOutcome
from bakeoff.report.blocks.severity import SEVERITIES
from bakeoff.report.blocks.tree import Column, Section, SeverityText, Table
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate.figures.capacity import term_value
from bakeoff.report.narrate.sentences import sentence

WORDS = {"met": "met", "missed": "missed", "undecided": "not decided"}


@report_section("objective", ReportPart.FRONT, Detail.COMPARISON)
def section(context: Context) -> Section | None:
    """Nothing of a run without an objective."""
    found = context.comparison.objective
    if found is None:
        return None
    terms = list(dict.fromkeys(term.term for c in found.contenders for load in c.loads for term in load.worst))
    columns = (
        Column("Contender", numeric=False),
        Column("Load", numeric=False),
        Column("Objective", numeric=False),
        Column("Met", spare=1),
        Column("Missed", spare=1),
        Column("Not decided", spare=2),
        *(Column(term) for term in terms),
    )
    rows = [(c.name, load.load_step.words, *_cells(load, terms)) for c in found.contenders for load in c.loads]
    table = Table("Objective by load", columns, tuple(rows), _note(context, found), detail=Detail.COMPARISON)
    return Section(f"Objective: {found.objective}", (table,))


def _cells(load: ObjectiveAtStep, terms: list[str]) -> tuple[str, ...]:
    worst = {term.term: term_value(term) for term in load.worst}
    verdict = SeverityText(WORDS[load.verdict], SEVERITIES[KINDS[load.verdict]])
    counts = (f"{load.met}", f"{load.missed}", f"{load.undecided}")
    return (verdict, *counts, *(worst.get(term, "–") for term in terms))


def _note(context: Context, found: ObjectiveOutcome) -> str:
    of_rate, of_loop = "response times, from the planned start", "service times, as clients wait for replies"
    times = of_rate if context.is_open_loop else of_loop
    reasons = "; ".join(f"{c.name}: {sentence(c.why)}" for c in found.contenders if c.why)
    return (
        f"Trials, and the worst of them in each term: {times}. A failed operation is slower than any limit. A load is "
        "met when every usable trial meets it, and missed when one misses it. It is not decided when fewer than half "
        "of its trials can be used, or they have too few operations." + (f" {reasons}." if reasons else "")
    )
