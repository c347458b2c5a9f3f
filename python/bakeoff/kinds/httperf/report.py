"""What reports know of httperf's work: its lines for each contender, side by side."""

from __future__ import annotations

from statistics import fmean

from bakeoff.kinds.httperf.compare import ConnectionsRule, OtherReplies, OtherStatuses, RepliesRule
from bakeoff.kinds.httperf.figures import HttperfFigures
from bakeoff.kinds.httperf.lines import Line, lines_of
from bakeoff.kinds.httperf.story import narrative
from bakeoff.load.load_step import LoadStep
from bakeoff.report.blocks.tree import Block, Column, Section, Table, Text
from bakeoff.report.kind import ReportPart
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.validity.audits import EXACT, ruled


@ruled.register
def _(rule: ConnectionsRule) -> tuple[str, str]:
    return (
        "starts = connections begun or sessions; requests = replies + failed and unanswered requests; replies = "
        "replies of all statuses",
        EXACT,
    )


@ruled.register
def _(rule: RepliesRule) -> tuple[str, str]:
    return (
        "statuses of replies, by class, and the size of their content agree with the baseline's at the same load step "
        f"and block (statuses to {wording.percent(rule.statuses)} of the replies; trials with fewer than "
        f"{rule.operations} are not compared)",
        wording.percent(rule.content),
    )


@sentence.register
def _(found: OtherStatuses) -> str:
    theirs = f"{found.other} {wording.percent(found.other_share)}"
    return f"{found.status}: {wording.percent(found.share)} of replies, {theirs}"


@sentence.register
def _(found: OtherReplies) -> str:
    return f"{found.content_bytes:,.0f} bytes of content per reply, {found.other} {found.other_bytes:,.0f}"


@report_section("httperf", after="numbers")
def section(context: Context) -> Section | None:
    """A table for each load step: the lines of httperf's report, means over the blocks with their range."""
    blocks: list[Block] = []
    for load_step in context.comparison.run.load_steps:
        table = _table(context, load_step)
        if table is not None:
            blocks.append(table)
    if not blocks:
        return None
    words = (
        "The numbers of httperf's report: means over blocks, and in brackets the least and the most of them. Times of "
        "calls count from when they were sent, as httperf's do, and replies of any status are replies. Verdicts at a "
        "rate go by times from when calls were due, with the wait for their connections, and a reply with a status of "
        "500 or more is an error there."
    )
    return Section("As httperf prints it", (Text(words), *blocks))


def _table(context: Context, load_step: LoadStep) -> Table | None:
    figures = {name: [t.figures(HttperfFigures) for t in context.at(name, load_step)] for name in context.names}
    first = next((f for found in figures.values() for f in found), None)
    if first is None:
        return None
    rows = tuple(
        (f"{line.title} [{line.unit}]" if line.unit else line.title, *(_cell(line, figures[n]) for n in context.names))
        for line in lines_of(first)
        if any(line.value(f) for found in figures.values() for f in found)
    )
    columns = (Column("Figure", numeric=False), *(Column(name) for name in context.names))
    return Table(f"At {load_step.words}", columns, rows, "Figures that are 0 everywhere are left out.")


def _cell(line: Line, figures: list[HttperfFigures]) -> str:
    values = [line.value(f) for f in figures]
    if not values:
        return wording.MISSING
    least, most = line.text(min(values)), line.text(max(values))
    return line.text(fmean(values)) + (f" ({least} – {most})" if least != most else "")


class Httperf(ReportPart):
    sections = (section,)
    figures_shown = frozenset(HttperfFigures.model_fields)

    def narrative(self, context: Context) -> tuple[str, ...]:
        return narrative(context)


PART = Httperf()
