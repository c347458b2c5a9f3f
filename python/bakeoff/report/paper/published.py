"""The chapter on results of others: their tables, held to the arithmetic that every result must obey."""

from __future__ import annotations

from bakeoff.audit.audit import Audit, audit
from bakeoff.audit.claims.files import read_claims
from bakeoff.audit.given import read_given
from bakeoff.core.errors import PlanError
from bakeoff.disclosure.paper.audited import Audited
from bakeoff.disclosure.paper.model import Paper
from bakeoff.formats.importers import read_table
from bakeoff.formats.importers.base import Options
from bakeoff.report.audit.lines import summary
from bakeoff.report.audit.page import severity_of
from bakeoff.report.audit.tables import checks_table, claims_table, findings_table, printed_tables
from bakeoff.report.blocks.tree import Section, Text
from bakeoff.report.layout.chapters import PUBLISHED
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.parts import ReportPart

BY = "The author names these files. Bakeoff asks whether their numbers can be true together, not whether they were \
measured well."


def published(paper: Paper) -> list[Section]:
    """The audit of the files that the paper names, where it names any. Raises PlanError."""
    if paper.audited is None:
        return []
    try:
        found = _audit(paper.audited)
    except PlanError as error:
        raise PlanError(f"{paper.origin} [audit]: {error}") from None
    result = Text(summary(found), severity_of(found), detail=Detail.SUMMARY)
    every = (findings_table(found), *printed_tables(found), claims_table(found), checks_table(found))
    tables = tuple(table for table in every if table is not None)
    return [Section(PUBLISHED.title, (result, Text(BY), *tables), PUBLISHED.ids[0], ReportPart.AUTHOR)]


def _audit(audited: Audited) -> Audit:
    options = Options(
        rows=audited.rows,
        columns=audited.columns,
        unit=audited.unit,
        better=audited.better,
        decimal=audited.decimal,
    )
    given = read_given(lambda name: getattr(audited, name), str)
    tables = [read_table(audited.source(name), audited.format, options) for name in audited.files]
    listed, text = (audited.source(name) if name else None for name in (audited.claims, audited.text))
    return audit(tables, given, lambda names: read_claims(listed, text, names))
