"""The run's own figures, held to the arithmetic that `bakeoff audit` holds published results to."""

from __future__ import annotations

from dataclasses import replace

from bakeoff.audit.audit import audit
from bakeoff.audit.of_run import table_of
from bakeoff.report.audit.lines import counted
from bakeoff.report.audit.page import severity_of
from bakeoff.report.audit.tables import findings_table
from bakeoff.report.blocks.tree import Block, Section, Text
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording


@report_section("arithmetic", ReportPart.AUDITS)
def section(context: Context) -> Section | None:
    """How many comparisons hold, and the figures that do not."""
    found = audit([table_of(context.whole, "")])
    if not found.checked:
        return None
    numbers = wording.plural(found.numbers, "figure")
    text = f"`bakeoff audit` holds {numbers} of the trials to the laws for results of others. {counted(found)}."
    severity = severity_of(found)
    blocks: list[Block] = [Text(text, "plain" if severity == "good" else severity)]
    if (findings := findings_table(found)) is not None:
        blocks.append(replace(findings, verbatim=False))  # its contenders are those of the report
    return Section("Arithmetic", tuple(blocks))
