"""What stored runs come to, as values by their places; as a program, it writes the expectation again and tells what
became different.

    python -m tests.stored_runs.expect [CASE…]

Numbers, kinds and keys are held; sentences are not: they are for readers.
"""

import csv
import io
import json
import lzma
import math
import re
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.core.errors import PlanError
from bakeoff.formats.exporters import EXPORTERS
from bakeoff.formats.exporters.base import Exporter
from bakeoff.formats.exporters.tables import TABLES
from bakeoff.report.embed.redacted_rows import HiddenRows
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.sqlite.read import read_run
from tests.stored_runs.files import RUNS, cases, run_files, unpack

SHOWN = 30
NOISE, DIGITS = 1e-9, 12
# Keys whose values are names, with or without a space in them.
NAMES = frozenset({"name", "kind", "code"})
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
SENTENCE = "…"
# That of a file is another one with each column that its tables have.
SEAL = ".seal"
# Of a table of CSV: JSON has all, of the same figures.
MOST_ROWS = 12
# Parquet has the rows of CSV.
TEXTS = {name: exporter for name, exporter in EXPORTERS.items() if name != "parquet"}
Values = dict[str, Any]


def values_of(case: str, folder: Path) -> Values:
    """All that is told of a case, whose files come into this empty folder."""
    given = unpack(case, folder)
    found = dict(_held("compare", json.loads(_asked("compare", "--json", *given))))
    for path in run_files(folder):
        run = HiddenRows().run(read_run(path))
        for name, exporter in TEXTS.items():
            for table in TABLES if exporter.tables else [""]:
                found |= _exported(f"{path.relative_to(folder)} {name} {table}".rstrip(), exporter, run, table or None)
    return {place: value for place, value in found.items() if str(folder) not in str(value)}


def _asked(*words: object) -> str:
    """What the command prints."""
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def _exported(place: str, exporter: Exporter, run: RunRecord, table: str | None) -> Values:
    """The values of a format, none where a run has nothing of it."""
    try:
        texts = list(exporter.files(run).values()) if exporter.several else [exporter.content(run, table)]
    except PlanError:
        return {}
    text = "\n".join(text for text in texts if isinstance(text, str))
    return (
        dict(_held(place, json.loads(text)))
        if exporter.name == "json"
        else (_rows if exporter.tables else _lines)(place, text)
    )


def _held(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The numbers, names, kinds and keys of JSON, by their places."""
    if isinstance(value, dict) and value:
        for name, one in value.items():
            held = f"{place}.{name}"
            yield from [(held, one)] if name in NAMES and isinstance(one, str) else _held(held, one)
    elif isinstance(value, list) and value:
        for number, one in enumerate(value):
            if not _is_sentence(one):
                yield from _held(f"{place}[{number}]", one)
    else:
        yield place, SENTENCE if _is_sentence(value) else value


def _is_sentence(value: Any) -> bool:
    return isinstance(value, str) and " " in value.strip()


def _rows(place: str, text: str) -> Values:
    """The names of the columns of a table, and the cells of its first rows in which there is something."""
    rows = csv.DictReader(io.StringIO(text))
    found: Values = {f"{place} columns": list(rows.fieldnames or ())}
    for number, row in enumerate(islice(rows, MOST_ROWS)):
        found |= _held(f"{place}[{number}]", {name: _cell(cell) for name, cell in row.items() if cell})
    return found


def _cell(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _lines(place: str, text: str) -> Values:
    """The numbers of each line that has some."""
    found = {f"{place}:{i}": _numbers(line) for i, line in enumerate(text.splitlines(), 1) if line[:1] != "#"}
    return {name: numbers for name, numbers in found.items() if numbers}


def _numbers(line: str) -> list[float]:
    return [float(one.replace(",", "")) for one in NUMBER.findall(line)]


def expected(case: str) -> Values:
    """What was written of a case."""
    text = lzma.decompress(_path(case).read_bytes()).decode()
    pairs = (line.split("\t", 1) for line in text.splitlines())
    return {place: json.loads(value) for place, value in pairs}


def differences(old: Values, new: Values) -> list[str]:
    """Where they are not the same, a line each."""
    old, new = ({place: value for place, value in each.items() if not place.endswith(SEAL)} for each in (old, new))
    found = [f"- {place} = {json.dumps(old[place])}" for place in old.keys() - new.keys()]
    found += [f"+ {place} = {json.dumps(new[place])}" for place in new.keys() - old.keys()]
    both = (place for place in old if place in new and not _same(old[place], new[place]))
    found += [f"! {place} = {json.dumps(old[place])} -> {json.dumps(new[place])}" for place in both]
    return sorted(found, key=lambda line: (line[2:], line[0]))


def _same(old: Any, new: Any) -> bool:
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_same, old, new))
    if isinstance(old, bool) or isinstance(new, bool) or not _are_numbers(old, new):
        return type(old) is type(new) and bool(old == new)
    return math.isclose(old, new, rel_tol=NOISE, abs_tol=NOISE)


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(value, int | float) for value in values)


def write(case: str, values: Values) -> None:
    """Expect this of the case from now on."""
    text = "".join(f"{place}\t{json.dumps(_short(value))}\n" for place, value in sorted(values.items()))
    _path(case).write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def _short(value: Any) -> Any:
    """Without the digits that are noise."""
    if isinstance(value, list):
        return [_short(one) for one in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def _path(case: str) -> Path:
    return RUNS / f"{case}.txt.xz"


def main(names: list[str]) -> None:
    """Write what these cases, or all, come to now, and tell what was otherwise before."""
    for case in names or cases():
        with tempfile.TemporaryDirectory() as folder:
            new = values_of(case, Path(folder))
        old = expected(case) if _path(case).exists() else {}
        if changed := differences(old, new):
            write(case, new)
        said = changed[:SHOWN] if old else []
        sys.stdout.write("\n".join([f"{case}: {len(new):,} values, {len(changed):,} of them otherwise", *said, ""]))


if __name__ == "__main__":
    main(sys.argv[1:])
