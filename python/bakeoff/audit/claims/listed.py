"""Claims in a CSV file: a sentence each in column `claim`; `contender`, `baseline` and `metric` where it has none."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bakeoff.audit.claims.claim import Claim
from bakeoff.audit.claims.text import COMPARES, claims_in
from bakeoff.core.errors import PlanError

COLUMNS = ("claim", "contender", "baseline", "metric")
MOST_ROWS = 1000


def claims_of(text: str, file: str, names: Sequence[str]) -> Iterator[Claim]:
    """The claims of each row. Raises PlanError for a file that is none, and for a row without a percentage."""
    try:
        rows = csv.DictReader(io.StringIO(text))
        if not rows.fieldnames or "claim" not in rows.fieldnames:
            raise PlanError(f"{file}: its first line names no column claim: write {','.join(COLUMNS)}")
        if unknown := [name for name in rows.fieldnames if name not in COLUMNS]:
            raise PlanError(f"{file}: column {unknown[0]!r} is not known: the columns are {', '.join(COLUMNS)}")
        for number, row in enumerate(rows):
            if number >= MOST_ROWS:
                raise PlanError(f"{file}: it has more than {MOST_ROWS:,} claims: give one paper's claims")
            yield from _claims(row, file, rows.line_num, names)
    except csv.Error as error:
        raise PlanError(f"{file}: it is not CSV: {error}") from None


def _claims(row: dict[str, str], file: str, line: int, names: Sequence[str]) -> Iterator[Claim]:
    sentence = (row.get("claim") or "").strip()
    found = list(claims_in(sentence + " better" * (not COMPARES.search(sentence)), file, names))
    if not found:
        raise PlanError(f"{file}, line {line}: the claim has no percentage: write one such as '7 % better'")
    given = tuple(filter(None, ((row.get(name) or "").strip() for name in ("contender", "baseline"))))
    for name in given:
        if name not in names:
            raise PlanError(f"{file}, line {line}: no table has {name!r}: it is one of {', '.join(names) or 'none'}")
    metric = (row.get("metric") or "").strip()
    for claim in found:
        yield replace(
            claim, text=sentence, line=line, names=given or claim.names, metric=metric.lower() or claim.metric
        )
