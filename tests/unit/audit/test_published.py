"""Tables that were published with a number that is known to be wrong: the audit finds it, and the corrected table is
clean. What was wrong, and how that is known, is in tests/data/published/README.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bakeoff.audit.audit import Audit, audit
from bakeoff.audit.claims.listed import claims_of
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.importers import importer, sniffed
from bakeoff.formats.importers.base import Options
from bakeoff.report.narrate.audit.findings import finding_text

FOLDER = Path(__file__).parents[2] / "data/published"


@dataclass(frozen=True)
class Wrong:
    """What the audit says of a published table: the check, the line and the digits that stand there, and why."""

    check: str
    line: int
    stands: str
    says: str
    grade: str = "impossible"


WRONG = {
    "light-java": (
        Wrong("outputs", 2, "141.31", "has 147.31 MB/s, and 2 other numbers"),
        Wrong("outputs", 8, "650072.20", "It fits as 65072.20: a digit is there twice"),
    ),
    "php-versions": (
        Wrong("changes", 10, "-211.09", "In percent of the row that has no change it is -67.86 to -67.85 %"),
        Wrong("changes", 10, "-211.37", "Nothing falls by more than 100 %"),
    ),
    "retbleed": (Wrong("changes", 2, "38619.000", "Its row is exchanged with that of retbleed=ibpb"),),
    "actor-ts": tuple(
        Wrong("order", line, stands, "must not be more than p99")
        for line, stands in enumerate(("826", "1.85", "1.81", "3.60", "3.20", "3.53", "5.49", "3.53", "3.48"), 2)
    ),
    "muse-glimmer": (
        Wrong("claims", 2, "1.4×", "Beyond it is DFlash against Standard in batch 8: 0.162–0.168×"),
        Wrong("claims", 3, "4.2×", "none fits"),
    ),
    "mojo": (Wrong("changes", 3, "68000", "of no number that is the same for all", "off"),),
    "optimize-js": (Wrong("changes", 2, "86.29", "One of them is a copy", "off"),),
    "endpoints": (Wrong("errors-in-rate", 2, "166.28282020701252", "counts 60 failed of 60", "off"),),
    "easegress": (
        Wrong("order", 9, "0.0607", "p90 [s], 0.0614 s, must not be more than p95 [s]"),
        Wrong("order", 10, "0.011", "p99 [s], 0.0197 s, must not be more than maximum [s]"),
        Wrong("load-law", 15, "3130", "97.34 requests at once, and there are 50"),
        Wrong("load-law", 14, "8797", "99.41 requests at once, and there are 50", "off"),
        Wrong("load-law", 16, "8393", "99.04 requests at once, and there are 50", "off"),
    ),
}


def audited(name: str, table: str) -> Audit:
    """One of the two tables, with the outputs and the claims that stand beside it."""
    folder = FOLDER / name
    sources = [Source(path) for path in (folder / table, *sorted(folder.glob("*.txt")))]
    files = [replace(importer(sniffed(one)).read(one, Options()), path=one.path.name) for one in sources]
    claims = folder / "claims.csv"
    text = claims.read_text() if claims.exists() else ""
    return audit(files, claims=lambda names: list(claims_of(text, claims.name, names)) if text else [])


@pytest.mark.parametrize("name", WRONG)
def test_what_was_wrong_is_found_where_it_stands(name: str) -> None:
    found = audited(name, "published.csv").findings
    assert [(one.check, one.grade, one.places[0].line, one.places[0].text) for one in found] == [
        (one.check, one.grade, one.line, one.stands) for one in WRONG[name]
    ]
    assert all(wrong.says in finding_text(one) for wrong, one in zip(WRONG[name], found, strict=True))


@pytest.mark.parametrize("name", WRONG)
def test_the_corrected_table_is_clean(name: str) -> None:
    found = audited(name, "corrected.csv")
    assert not found.findings and found.checked


@pytest.mark.parametrize("path", sorted((FOLDER / "clean").iterdir()), ids=lambda path: path.name)
def test_published_tables_without_a_known_error_are_clean(path: Path) -> None:
    source = Source(path)
    found = audit([importer(sniffed(source)).read(source, Options())])
    assert not found.findings and found.checked


def test_each_published_table_has_its_source() -> None:
    listed = (FOLDER / "README.md").read_text()
    assert {path.name for path in FOLDER.iterdir() if path.is_dir()} == WRONG.keys() | {"clean"}
    assert all(f"| `{name}` |" in listed for name in WRONG)
