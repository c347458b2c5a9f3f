"""An audit as a report: the findings, what was checked, and every table with its suspicious cells marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bakeoff.audit.audit import Audit
from bakeoff.audit.claims.check import NotInTables, Reproduced
from bakeoff.audit.finding import Finding, Grade
from bakeoff.formats.foreign.table import ForeignRow, ForeignTable, ForeignValue
from bakeoff.report.audit.lines import by_check, shown, summary
from bakeoff.report.blocks.tree import Block, Bullets, Column, Report, Section, Severity, SeverityText, Table, Text
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.audit.findings import SURE, finding_text, where
from bakeoff.report.narrate.audit.laws import title
from bakeoff.report.narrate.sentences import sentence

SEVERITIES: dict[Grade, Severity] = {"impossible": "bad", "off": "warning"}
# Larger tables are cut: the rows with findings stay.
MOST_ROWS, MOST_FILES, MOST_FINDINGS = 200, 50, 500
ABSENT = "–"


def compose(audit: Audit) -> Report:
    """The page of an audit."""
    severity: Severity = "bad" if audit.impossible else "warning" if audit.off else "good"
    verdict = "Impossible" if audit.impossible else "Off" if audit.off else "Consistent"
    names = [file.path for file in audit.files]
    return Report(
        title="Audit",
        subtitle=wording.names(names) if len(names) < 4 else f"{names[0]} and {len(names) - 1} more files",
        verdict=verdict if audit.checked else "Nothing checked",
        severity=severity if audit.checked else "warning",
        headline=(summary(audit),),
        severities=(severity,),
        sections=tuple(_sections(audit)),
        facts=(("Numbers", f"{audit.numbers:,}"), ("Files", wording.names(names))),
    )


def _sections(audit: Audit) -> Iterator[Section]:
    if audit.findings:
        yield Section("What does not fit", tuple(_findings(audit.findings)), "findings")
    yield Section("What was checked", (_checks(audit),), "checks")
    claims = tuple(_claims(audit))
    if claims:
        yield Section("Claims", (Bullets(claims),), "claims")
    for at, file in enumerate(audit.files[:MOST_FILES]):
        found = {_key(file.path, finding): finding for finding in reversed(audit.findings)}
        yield Section(file.path or file.tool, tuple(_tables(file, found)), f"file-{at + 1}")


def _claims(audit: Audit) -> Iterator[str]:
    for outcome in audit.outcomes:
        for fact in outcome.shows:
            if isinstance(fact, Reproduced | NotInTables):
                yield f"{fact.file}, line {fact.line}: {sentence(fact)}"


def _findings(findings: Sequence[Finding]) -> Iterator[Block]:
    columns = tuple(Column(name, False) for name in ("Where", "Stands there", "Grade", "Why", "Sure"))
    rows = tuple(
        (
            where(finding.places[0]),
            finding.places[0].text[:60],
            SeverityText(finding.grade, SEVERITIES[finding.grade]),
            finding_text(finding),
            SURE[finding.sure],
        )
        for finding in findings[:MOST_FINDINGS]
    )
    yield Table("Findings", columns, rows)
    if len(findings) > MOST_FINDINGS:
        yield Text(f"{len(findings) - MOST_FINDINGS:,} more are in --json.", "plain")


def _checks(audit: Audit) -> Table:
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
    return Table("Checks", columns, tuple(rows), note)


def _count(number: int, severity: Severity) -> str:
    return SeverityText(f"{number:,}", severity) if number else ABSENT


def _key(path: str, finding: Finding) -> tuple[int, str, str] | None:
    """Where the suspected number of a finding stands in a file."""
    place = finding.places[0]
    return (place.line, place.heading, place.text) if place.file == path else None


def _tables(file: ForeignTable, found: dict[tuple[int, str, str] | None, Finding]) -> Iterator[Block]:
    loads = tuple(dict.fromkeys(name for row in file.rows for name in row.load))
    metrics = file.metrics()
    words = [name for name in ("contender", "part") if any(getattr(row, name) for row in file.rows)]
    columns = (
        Column("Line"),
        *(Column(name.capitalize(), False) for name in words),
        *(Column(_heading(file, name)) for name in (*loads, *metrics)),
    )
    rows = []
    lines = {key[0] for key in found if key is not None}
    for number, row in enumerate(file.rows):
        if number < MOST_ROWS or row.line in lines:
            cells = [_cell(row.load.get(name) or row.values.get(name), found) for name in (*loads, *metrics)]
            rows.append((str(row.line), *(getattr(row, name) or ABSENT for name in words), *cells))
    left = len(file.rows) - len(rows)
    note = f"{left:,} more rows without a finding are left out." if left else ""
    yield Table(f"{file.tool}: as it is printed", columns, tuple(rows), note)


def _heading(file: ForeignTable, name: str) -> str:
    value = next(_values(file.rows, name), None)
    if value is None or not value.unit.name or value.unit.name in name:
        return name
    return f"{name}, {value.unit.name}"


def _values(rows: Sequence[ForeignRow], name: str) -> Iterator[ForeignValue]:
    return (value for row in rows if (value := row.load.get(name) or row.values.get(name)) is not None)


def _cell(value: ForeignValue | None, found: dict[tuple[int, str, str] | None, Finding]) -> str:
    if value is None:
        return ABSENT
    text = value.number.text or f"{value.number.value:.10g}"
    finding = found.get((value.line, value.heading, value.number.text))
    return text if finding is None else SeverityText(text, SEVERITIES[finding.grade])
