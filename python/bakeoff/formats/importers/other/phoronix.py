"""Phoronix Test Suite's composite.xml: each test is a part of the work, each system a contender, each run a sample."""

from __future__ import annotations

from collections.abc import Mapping

from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign.making import value_of
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import Better, ForeignRow, ForeignTable
from bakeoff.formats.foreign.units import Unit, unit_of
from bakeoff.formats.foreign.xml import Handlers, parse_xml
from bakeoff.formats.importers.base import Options

MOST_ROWS = 50_000
MISSING = ("how many operations failed", "how long each sample took")
RESULT_ELEMENTS = ("Title", "Description", "Scale", "Proportion", "Arguments", "AppVersion")
ENTRY_ELEMENTS = ("Identifier", "Value", "RawString")


class _Reader:
    """Rows so far."""

    def __init__(self) -> None:
        self.rows: list[ForeignRow] = []
        self.better: dict[str, Better] = {}
        self.stated: dict[str, str] = {}
        self._path: list[str] = []
        self._text: list[str] = []
        self._result: dict[str, str] = {}
        self._entry: dict[str, str] = {}

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        self._path.append(name)
        self._text = []
        if name == "Result":
            self._result = {}
        elif name == "Entry":
            self._entry = {}

    def text(self, text: str) -> None:
        if len(self._text) < 1000:
            self._text.append(text)

    def end(self, name: str) -> None:
        text = "".join(self._text).strip()[:2000]
        self._text = []
        self._path.pop()
        above = self._path[-1] if self._path else ""
        if above == "Result" and name in RESULT_ELEMENTS:
            self._result[name] = text
        elif above == "Entry" and name in ENTRY_ELEMENTS:
            self._entry[name] = text
        elif above == "System" and name in ("Hardware", "Software", "Identifier") and text:
            self.stated[f"{name} {len(self.stated) + 1}"] = text[:500]
        elif name == "Entry":
            self._add()

    def _add(self) -> None:
        scale, title = self._result.get("Scale", ""), self._result.get("Title", "")
        part = " – ".join(filter(None, (title, self._result.get("Description", ""))))[:200]
        unit = unit_of(scale) or Unit(scale[:40], "none")
        metric = f"result in {scale}"[:100] if scale else "result"
        self.better[metric] = "lower" if self._result.get("Proportion") == "LIB" else "higher"
        raw = [text for text in self._entry.get("RawString", "").split(":") if text.strip()]
        for text in raw or [self._entry.get("Value", "")]:
            if not text or len(self.rows) >= MOST_ROWS:
                continue
            value = value_of(text, unit, 1, part)
            self.rows.append(ForeignRow(self._entry.get("Identifier", "")[:200], {}, {metric: value}, 1, part))


def sniff(source: Source) -> bool:
    return "<PhoronixTestSuite" in source.head


def read(source: Source, options: Options) -> ForeignTable:
    reader = _Reader()
    parse_xml([source.data()], Handlers(reader.begin, reader.end, reader.text))
    if not reader.rows:
        raise PlanError("it has no Entry with a Value: give composite.xml of a finished result")
    rows, tool = tuple(reader.rows), "Phoronix Test Suite"
    return ForeignTable("phoronix", tool, rows, stated=reader.stated, better=reader.better, missing=MISSING)
