"""An audit as a report: the findings, what was checked, and every table with its suspicious cells marked."""

from __future__ import annotations

from collections.abc import Iterator

from bakeoff.audit.audit import Audit
from bakeoff.report.audit.lines import summary
from bakeoff.report.audit.tables import checks_table, claims_table, findings_table, printed_tables
from bakeoff.report.blocks.tree import Report, Section, Severity
from bakeoff.report.narrate import wording


def compose(audit: Audit) -> Report:
    """The page of an audit."""
    verdict = "Impossible" if audit.impossible else "Off" if audit.off else "Consistent"
    names = [file.path for file in audit.files]
    severity = severity_of(audit)
    return Report(
        title="Audit",
        subtitle=wording.names(names) if len(names) < 4 else f"{names[0]} and {len(names) - 1} more files",
        verdict=verdict if audit.checked else "Nothing checked",
        severity=severity,
        headline=(summary(audit),),
        severities=(severity,),
        sections=tuple(_sections(audit)),
        facts=(("Numbers", f"{audit.numbers:,}"), ("Files", wording.names(names))),
    )


def severity_of(audit: Audit) -> Severity:
    """How bad it is. Where nothing could be checked nothing is good."""
    if audit.impossible:
        return "bad"
    return "warning" if audit.off or not audit.checked else "good"


def _sections(audit: Audit) -> Iterator[Section]:
    if (findings := findings_table(audit)) is not None:
        yield Section("What does not fit", (findings,), "findings")
    yield Section("What was checked", (checks_table(audit),), "checks")
    if (claims := claims_table(audit)) is not None:
        yield Section("Claims", (claims,), "claims")
    for at, (file, table) in enumerate(zip(audit.files, printed_tables(audit), strict=False)):
        yield Section(file.path or file.tool, (table,), f"file-{at + 1}")
