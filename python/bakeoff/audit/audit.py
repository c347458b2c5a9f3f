"""All checks of all tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bakeoff.audit.checks import CROSS_TABLE_CHECKS, TABLE_CHECKS
from bakeoff.audit.claims.check import check_claims
from bakeoff.audit.claims.claim import Claim
from bakeoff.audit.finding import Finding, Outcome
from bakeoff.audit.given import NOTHING, Given
from bakeoff.audit.table import Table, tables_of
from bakeoff.formats.foreign.bulk.rows import count_numbers
from bakeoff.formats.foreign.table import ForeignTable

# Files that people typed, whose columns nobody calculated from each other.
TYPED = ("table", "csv", "tsv", "markdown", "xlsx", "excel", "plain")


@dataclass(frozen=True)
class Audit:
    """What all checks say of some files. `numbers` is how many were read."""

    files: tuple[ForeignTable, ...]
    outcomes: tuple[Outcome, ...]
    numbers: int

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Of all checks: what is impossible first."""
        found = (finding for outcome in self.outcomes for finding in outcome.findings)
        return tuple(sorted(found, key=lambda finding: (finding.grade != "impossible", finding.places[0].file)))

    @property
    def impossible(self) -> int:
        return sum(finding.grade == "impossible" for finding in self.findings)

    @property
    def off(self) -> int:
        return sum(finding.grade == "off" for finding in self.findings)

    @property
    def checked(self) -> int:
        """How many comparisons were made."""
        return sum(outcome.checked for outcome in self.outcomes)

    @property
    def consistent(self) -> int:
        """How many of them hold."""
        return sum(outcome.consistent for outcome in self.outcomes)


def audit(
    files: Sequence[ForeignTable],
    given: Given = NOTHING,
    claims: Callable[[Sequence[str]], Sequence[Claim]] = lambda names: (),
    own: Sequence[Outcome] = (),
) -> Audit:
    """The audit of these files, each by itself and all together. `claims` gives those about contenders of these
    names, `own` are audits that runs among the files have had already.
    """
    tables = [table for file in files for table in tables_of(file, file.format not in TYPED)]
    with np.errstate(all="ignore"):  # what is not stated is NaN, and nothing is said of it
        outcomes = tuple(_without_repetition(_all(tables, given)))
        names = list(dict.fromkeys(table.contender for table in tables))
        outcomes += (*own, *check_claims(claims(names), tables))
    numbers = sum(count_numbers(rows) for file in files for rows in (file.rows, file.summaries, file.changes))
    return Audit(tuple(files), outcomes, numbers)


def _all(tables: Sequence[Table], given: Given) -> Iterator[Outcome]:
    for table in tables:
        for check in TABLE_CHECKS:
            yield from check(table, given)
    for check_all in CROSS_TABLE_CHECKS:
        yield from check_all(tables, given)


def _without_repetition(outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
    """Without curves that a number spoils of which another check says more."""
    found = [outcome for outcome in outcomes if outcome.checked or outcome.findings or outcome.shows]
    better = {finding.places[0] for outcome in found for finding in outcome.findings if outcome.check != "curve"}
    for outcome in found:
        if outcome.check != "curve":
            yield outcome
            continue
        kept = tuple(finding for finding in outcome.findings if finding.places[0] not in better)
        dropped = len(outcome.findings) - len(kept)
        yield Outcome(outcome.check, outcome.table, outcome.checked - dropped, kept, outcome.shows)
