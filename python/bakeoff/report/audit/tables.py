"""The tables of an audit: findings, files with the numbers of findings in them, claims and checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bakeoff.audit.audit import Audit
from bakeoff.audit.claims.check import NotInTables, Reproduced
from bakeoff.audit.finding import Finding, Grade
from bakeoff.formats.foreign.table import ForeignRow, ForeignTable, ForeignValue
from bakeoff.report.audit.lines import by_check, shown
from bakeoff.report.blocks.tree import Column, Severity, SeverityText, Table
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.audit.findings import SURE, reason, where
from bakeoff.report.narrate.audit.laws import title
from bakeoff.report.narrate.sentences import sentence

SEVERITIES: dict[Grade, Severity] = {"impossible": "bad", "off": "warning"}
# Larger tables are cut: the rows with findings stay.
MOST_ROWS, MOST_FILES, MOST_FINDINGS = 200, 50, 500
MARKED = "A number in brackets is that of a finding."
# Headings of what is in words. A column "Contender" has contenders of the report itself.
WORDS = {"contender": "Figures of", "part": "Part"}
# Findings with their numbers, by the file, line, heading and digits that they suspect.
_Marks = dict[tuple[str, int, str, str], list[tuple[int, Finding]]]


def findings_table(audit: Audit) -> Table | None:
    """Each finding: where it is, what is printed and what is expected there, which slip explains it, how sure it is."""
    if not audit.findings:
        return None
    titles = ("Where", "Printed", "Grade", "Expected", "Likely reason", "How sure")
    columns = (Column("No."), *(Column(name, False) for name in titles))
    rows = tuple(
        (
            f"[{number}]",
            where(finding.places[0]),
            finding.places[0].text[:60] or wording.MISSING,
            SeverityText(finding.grade, SEVERITIES[finding.grade]),
            sentence(finding.fact),
            reason(finding.repairs) or wording.MISSING,
            finding.sure,
        )
        for number, finding in enumerate(audit.findings[:MOST_FINDINGS], 1)
    )
    left = len(audit.findings) - len(rows)
    notes = [SURE[sure] for sure in SURE if any(finding.sure == sure for finding in audit.findings)]
    notes += [f"{left:,} more are in `bakeoff audit --json`."] if left else []
    return Table("Findings", columns, rows, " ".join(filter(None, notes)), verbatim=True)


def checks_table(audit: Audit) -> Table:
    """Each check: how many comparisons, how many that cannot be, and what the numbers have in common."""
    columns = (
        Column("Check", False),
        Column("Comparisons"),
        Column("Impossible"),
        Column("Off"),
        Column("What the numbers show", False),
    )
    rows = []
    for check, outcomes in by_check(audit):
        grades = [finding.grade for outcome in outcomes for finding in outcome.findings]
        counts = [_count(grades.count(grade), SEVERITIES[grade]) for grade in SEVERITIES]
        number = f"{sum(outcome.checked for outcome in outcomes):,}"
        rows.append((title(check), number, *counts, shown(outcomes, 10)))
    note = (
        "Every printed number stands for all values that round to it. Numbers that fit for one of these values are "
        "consistent. Numbers that fit for no such value are impossible. Numbers that may be, and seldom are, are off."
    )
    return Table("Checks", columns, tuple(rows), note, verbatim=True)


def _count(number: int, severity: Severity) -> str:
    return SeverityText(f"{number:,}", severity) if number else wording.MISSING


def claims_table(audit: Audit) -> Table | None:
    """The claims that the tables give, and those of which they say nothing; the others are findings."""
    facts = (fact for outcome in audit.outcomes for fact in outcome.shows)
    rows = tuple(
        (
            f"{fact.file}, line {fact.line}",
            SeverityText("consistent", "good") if isinstance(fact, Reproduced) else "unknown",
            sentence(fact),
        )
        for fact in facts
        if isinstance(fact, Reproduced | NotInTables)
    )
    columns = tuple(Column(name, False) for name in ("Where", "Grade", "What the tables give"))
    return Table("Claims", columns, rows, verbatim=True) if rows else None


def printed_tables(audit: Audit) -> Iterator[Table]:
    """Each file as it is printed, with the numbers that findings suspect marked."""
    marks: _Marks = {}
    for number, finding in enumerate(audit.findings, 1):
        place = finding.places[0]
        marks.setdefault((place.file, place.line, place.heading, place.text), []).append((number, finding))
    for at in range(min(MOST_FILES, len(audit.files))):
        yield _printed(audit.content(at), marks)


def _printed(file: ForeignTable, marks: _Marks) -> Table:
    changes = {row.line: row.values for row in file.changes}
    measured = (replace(row, values={**row.values, **changes.get(row.line, {})}) for row in file.rows)
    every = sorted((*measured, *file.summaries), key=lambda row: row.line)
    loads = tuple(dict.fromkeys(name for row in every for name in row.load))
    metrics = tuple(dict.fromkeys(name for row in every for name in row.values))
    words = [name for name in WORDS if any(getattr(row, name) for row in every)]
    columns = (
        Column("Line"),
        *(Column(WORDS[name], False) for name in words),
        *(Column(_heading(every, name)) for name in (*loads, *metrics)),
    )
    rows = []
    marked = {line for name, line, *_ in marks if name == file.path}
    for number, row in enumerate(every):
        if number < MOST_ROWS or row.line in marked:
            values = [row.load.get(name) or row.values.get(name) for name in (*loads, *metrics)]
            cells = [_cell(file.path, value, marks) for value in values]
            rows.append((str(row.line), *(getattr(row, name) or wording.MISSING for name in words), *cells))
    left = len(every) - len(rows)
    notes = (MARKED if marked else "", f"{left:,} more rows without a finding are left out." if left else "")
    of = f"{file.path}, as it is printed" if file.path else "As it is printed"
    return Table(f"{of} ({file.tool})", columns, tuple(rows), " ".join(filter(None, notes)), verbatim=True)


def _heading(rows: Sequence[ForeignRow], name: str) -> str:
    value = next((value for row in rows if (value := row.load.get(name) or row.values.get(name)) is not None), None)
    if value is None or not value.unit.name or value.unit.name in name:
        return name
    return f"{name}, {value.unit.name}"


def _cell(path: str, value: ForeignValue | None, marks: _Marks) -> str:
    if value is None:
        return wording.MISSING
    text = value.number.text or f"{value.number.value:.10g}"
    found = marks.get((path, value.line, value.heading, value.number.text))
    if not found:
        return text
    numbers = ", ".join(str(number) for number, _ in found)
    return SeverityText(f"{text} [{numbers}]", SEVERITIES[found[0][1].grade])
