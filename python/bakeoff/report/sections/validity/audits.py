"""Audits: do the numbers add up?"""

from __future__ import annotations

from bakeoff.compare.model.comparison import Audit
from bakeoff.compare.validity.audit_model import LittleRule, SteadyRule
from bakeoff.compare.validity.audits import LITTLE_RED
from bakeoff.report.blocks.tree import Block, Bullets, Column, Section, SeverityText, Table
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.validity.audits import audit_title, ruled

SHOWN = 40


@report_section("audits", ReportPart.AUDITS, Detail.COMPARISON)
def section(context: Context) -> Section:
    """One line for each audit, and the trials that deviate."""
    audits = context.comparison.audits
    columns = (
        Column("Audit", numeric=False),
        Column("What must hold", numeric=False, spare=3),
        Column("Trials"),
        Column("Not applicable", spare=1),
        Column("Worst"),
        Column("Allowed", numeric=False, spare=2),
        Column("Result", numeric=False),
    )
    rows = tuple(
        (
            audit_title(a.name),
            what,
            f"{a.checked}",
            f"{a.not_applicable}",
            wording.percent(a.worst) if a.checked or not a.not_stated else wording.MISSING,
            allowed,
            _result(a),
        )
        for a in audits
        for what, allowed in [ruled(a.rule)]
    )
    detail = Detail.COMPARISON if any(audit.deviating or audit.not_stated for audit in audits) else Detail.DETAILS
    blocks: list[Block] = [Table("Audits of every usable trial", columns, rows, detail=detail)]
    if notes := context.kind.audit_notes(context):
        blocks.append(Bullets(notes))
    deviating = [(audit_title(audit.name), trial) for audit in audits for trial in audit.deviating]
    if deviating:
        heads = (
            Column("Audit", numeric=False),
            Column("Trial"),
            Column("Contender", numeric=False),
            Column(context.load_step_title),
            Column("Block"),
            Column("Deviation", numeric=False),
        )
        lines = tuple(
            (name, f"{t.trial_id}", t.contender, f"{t.load_step}", f"{t.block}", sentence(t))
            for name, t in deviating[:SHOWN]
        )
        rest = f"The first {SHOWN} of {len(deviating)}." if len(deviating) > SHOWN else ""
        blocks.append(Table("Trials that deviate", heads, lines, rest, folded=True))
    return Section("Audits", tuple(blocks))


def _result(audit: Audit) -> str:
    """Whether it holds, where that can be told."""
    cut = isinstance(audit.rule, LittleRule) and not audit.deviating and audit.worst > LITTLE_RED
    if cut or (not audit.checked and isinstance(audit.rule, SteadyRule)):
        return "too short to judge"
    if not audit.checked and audit.not_stated:
        return "not stated"
    rest = f", not stated of {audit.not_stated}" if audit.not_stated else ""
    return SeverityText(f"{len(audit.deviating)} deviate{rest}", "bad") if audit.deviating else f"holds{rest}"
