"""All checks of all tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import numpy as np

from bakeoff.audit.checks import CROSS_FILE_CHECKS, FILE_CHECKS, TABLE_CHECKS, copies, outputs
from bakeoff.audit.claims.check import check_claims
from bakeoff.audit.claims.claim import Claim
from bakeoff.audit.claims.reading import MOST_TABLES
from bakeoff.audit.finding import Finding, Outcome
from bakeoff.audit.given import NOTHING, Given
from bakeoff.audit.table import Table, tables_of
from bakeoff.formats.foreign.bulk.figures import Codes
from bakeoff.formats.foreign.bulk.rows import count_numbers
from bakeoff.formats.foreign.table import ForeignTable

# Files that people typed, whose columns nobody calculated from each other.
TYPED = ("table", "csv", "tsv", "markdown", "xlsx", "excel", "plain")


@dataclass(frozen=True)
class AuditedFile:
    """A file after its own checks, and what tells whether another file may contradict it: names of `outputs` and of
    `typed` tables, and the keys of stretches of its columns, of which `columns` are compared.
    """

    path: str
    format: str
    tool: str
    rows: int
    numbers: int
    contenders: tuple[str, ...]
    by_table: tuple[Outcome, ...]
    by_file: tuple[tuple[Outcome, ...], ...]
    outputs: set[str]
    typed: set[str]
    columns: int
    keys: tuple[Codes, ...]


@dataclass(frozen=True)
class Audit:
    """What all checks say of some files. `numbers` is how many were read; `content` gives a file by its place."""

    files: tuple[AuditedFile, ...]
    outcomes: tuple[Outcome, ...]
    content: Callable[[int], ForeignTable]

    @property
    def numbers(self) -> int:
        return sum(file.numbers for file in self.files)

    @cached_property
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
    return together([audited(file, given) for file in files], lambda at: files[at], given, claims, own)


def audited(file: ForeignTable, given: Given = NOTHING) -> AuditedFile:
    """A file by itself."""
    tables = _tables(file)
    with np.errstate(all="ignore"):  # what is not stated is NaN, and nothing is said of it
        by_table = tuple(outcome for table in tables for check in TABLE_CHECKS for outcome in check(table, given))
        by_file = tuple(tuple(check(tables, given)) for check in FILE_CHECKS)
        columns = [column for _, column in copies.compared_columns(tables)]
    return AuditedFile(
        file.path,
        file.format,
        file.tool,
        len(file.rows),
        sum(map(count_numbers, (file.rows, file.summaries, file.changes))),
        tuple(dict.fromkeys(table.contender for table in tables)),
        by_table,
        by_file,
        *outputs.names(tables),
        len(columns),
        tuple(map(copies.keys, columns)),
    )


def together(
    files: Iterable[AuditedFile],
    content: Callable[[int], ForeignTable],
    given: Given = NOTHING,
    claims: Callable[[Sequence[str]], Sequence[Claim]] = lambda names: (),
    own: Sequence[Outcome] = (),
) -> Audit:
    """The audit of files that were each audited. `content` reads one again by its place: what others may contradict is
    looked at once more, and all else need not be in memory.
    """
    done, keys, left = list[AuditedFile](), list[Sequence[Codes]](), copies.MOST_COMPARED
    for file in files:
        keys.append(file.keys[:left])
        left -= len(keys[-1])
        done.append(replace(file, keys=()))
    again = copies.files_alike(keys) | _named_alike(done)
    del keys
    tables = [table for at in sorted(again) for table in _tables(content(at))]
    with np.errstate(all="ignore"):
        across = [tuple(check(tables, given)) for check in CROSS_FILE_CHECKS]
        found = [outcome for file in done for outcome in file.by_table]
        found += [outcome for at in range(len(FILE_CHECKS)) for file in done for outcome in file.by_file[at]]
        found += [*across[0], *_copies(done, again, across[1])]
        stated = claims(list(dict.fromkeys(name for file in done for name in file.contenders)))
        readable = (table for at in range(len(done) if stated else 0) for table in _tables(content(at)))
        outcomes = (
            *_without_repetition(found),
            *own,
            *check_claims(stated, list(islice(readable, MOST_TABLES))),
        )
    return Audit(tuple(done), outcomes, content)


def _tables(file: ForeignTable) -> list[Table]:
    return list(tables_of(file, file.format not in TYPED))


def _named_alike(files: Sequence[AuditedFile]) -> set[int]:
    """The typed tables and the outputs of one name."""
    both = {name for file in files for name in file.outputs} & {name for file in files for name in file.typed}
    return {at for at, file in enumerate(files) if both & (file.outputs | file.typed)}


def _copies(files: Sequence[AuditedFile], again: set[int], found: Sequence[Outcome]) -> Iterator[Outcome]:
    """What is said of copies in each file; of those that were not looked at again how many columns it has."""
    by_path = {outcome.table: outcome for outcome in found}
    for path in dict.fromkeys(file.path for file in files):
        number = sum(file.columns for file in files if file.path == path) if path not in by_path else 0
        yield by_path.get(path) or Outcome(copies.KEY, path, number)


def _without_repetition(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
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
