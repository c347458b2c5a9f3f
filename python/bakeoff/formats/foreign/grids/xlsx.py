"""The first sheet of an .xlsx file, as its stored values, with the decimals that its cells show.

Such a file is a ZIP of XML. Nothing in it is believed: what is unpacked is counted, entities and document types are
refused, cells are kept only where they hold something. Formulas are never calculated: their stored values are read.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Mapping

from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign.grids.grid import MOST_CELL, MOST_COLUMNS, Grid, GridMaker
from bakeoff.formats.foreign.grids.number_formats import Styles
from bakeoff.formats.foreign.source import MIB, Source, refused
from bakeoff.formats.foreign.xml import Handlers, parse_xml

MOST_UNPACKED = 64 * MIB
MOST_MEMBERS = 5_000
CHUNK = 64 << 10


def xlsx_grid(source: Source) -> Grid:
    """The cells of the first sheet. Raises PlanError that says what is wrong, with the cell."""
    source.data()  # within bounds
    try:
        with source.open() as file, zipfile.ZipFile(file) as archive:
            return _first_sheet(_Workbook(archive))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError) as error:
        raise PlanError(f"it is no whole .xlsx file ({error}): save it again, or as CSV") from None


class _Workbook:
    """The members of the ZIP; all that is unpacked counts against one bound."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._left = MOST_UNPACKED
        if len(archive.namelist()) > MOST_MEMBERS:
            raise PlanError(f"it holds more than {MOST_MEMBERS:,} files: it is no spreadsheet")

    def has(self, name: str) -> bool:
        return name in self._archive.namelist()

    def parse(self, name: str, handlers: Handlers) -> None:
        if not self.has(name):
            raise PlanError(f"it has no part {name!r}: it is no whole .xlsx file; save it again, or as CSV")
        with self._archive.open(name) as member:
            parse_xml(iter(lambda: self._counted(member.read(CHUNK)), b""), handlers)

    def _counted(self, data: bytes) -> bytes:
        self._left -= len(data)
        if self._left < 0:
            raise PlanError(f"it unpacks to more than {MOST_UNPACKED // MIB} MiB: it is no table of results")
        return data


def _first_sheet(book: _Workbook) -> Grid:
    names, ids, targets = list[str](), list[str](), dict[str, str]()

    def sheet(name: str, attributes: Mapping[str, str]) -> None:
        if name == "sheet":
            names.append(attributes.get("name", ""))
            ids.append(next((value for key, value in attributes.items() if key.endswith(":id")), ""))
        elif name == "Relationship":
            targets[attributes.get("Id", "")] = attributes.get("Target", "")

    book.parse("xl/workbook.xml", Handlers(sheet))
    book.parse("xl/_rels/workbook.xml.rels", Handlers(sheet))
    if not ids or ids[0] not in targets:
        raise PlanError("it has no sheet: save it again, or as CSV")
    shared = _Texts()
    if book.has("xl/sharedStrings.xml"):
        book.parse("xl/sharedStrings.xml", Handlers(shared.begin, shared.end, shared.text))
    styles = Styles()
    if book.has("xl/styles.xml"):
        book.parse("xl/styles.xml", Handlers(styles.begin, styles.end))
    target = targets[ids[0]]
    cells = _Cells(shared.texts, styles)
    book.parse(
        target.lstrip("/") if target.startswith("/") else f"xl/{target}", Handlers(cells.begin, cells.end, cells.text)
    )
    rest = f"only the first of its {len(names)} sheets, {names[0]!r}, is read"
    return Grid("spreadsheet", tuple(cells.made.rows), (rest,) if len(names) > 1 else ())


class _Texts:
    """Texts that cells share, by their numbers."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._parts: list[str] = []
        self._inside = self._phonetic = False

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "si":
            self._parts = []
        self._phonetic = self._phonetic or name == "rPh"
        self._inside = name == "t" and not self._phonetic

    def text(self, text: str) -> None:
        if self._inside and len(self._parts) < MOST_CELL:
            self._parts.append(text)

    def end(self, name: str) -> None:
        self._inside = False
        self._phonetic = self._phonetic and name != "rPh"
        if name == "si":
            self.texts.append("".join(self._parts)[: MOST_CELL + 1])


class _Cells:
    """The rows of a sheet."""

    def __init__(self, shared: list[str], styles: Styles) -> None:
        self.made = GridMaker()
        self._shared, self._styles = shared, styles
        self._row = 0
        self._cells: dict[int, str] = {}
        self._at, self._kind, self._style, self._formula = "", "", "", False
        self._parts: list[str] = []
        self._inside = False

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "row":
            number = attributes.get("r", "")
            self._row = int(number) if re.fullmatch(r"\d{1,7}", number) else self._row + 1
            self._cells = {}
        elif name == "c":
            self._at, self._kind = attributes.get("r", ""), attributes.get("t", "n")
            self._parts, self._style, self._formula = [], attributes.get("s", ""), False
        self._formula = self._formula or name == "f"
        self._inside = name in ("v", "t")

    def text(self, text: str) -> None:
        if self._inside and len(self._parts) < MOST_CELL:
            self._parts.append(text)

    def end(self, name: str) -> None:
        self._inside = False
        if name == "c":
            if value := self._value("".join(self._parts)):
                self._cells[self._column()] = value
        elif name == "row" and self._cells:
            self.made.add(self._row, [self._cells.get(column, "") for column in range(max(self._cells) + 1)])

    def _value(self, stored: str) -> str:
        if not stored:
            if self._formula:
                raise refused(self._row, f"cell {self._at[:20]} is a formula without a stored value: save its value")
            return ""
        if self._kind == "s":
            if not re.fullmatch(r"\d{1,9}", stored) or int(stored) >= len(self._shared):
                raise refused(self._row, f"cell {self._at[:20]} names a text that is not there")
            return self._shared[int(stored)]
        if self._kind != "n" or not re.fullmatch(r"[-+0-9.eE]{1,60}", stored):
            return stored
        # Stored numbers have all digits of their binary form; the shortest that mean the same are those typed in.
        number, shown = f"{float(stored):.15g}", self._styles.of(self._style)
        return shown.shown(number) if shown else number

    def _column(self) -> int:
        letters = re.match(r"[A-Z]{1,3}", self._at)
        if letters is None:
            return max(self._cells, default=-1) + 1
        column = 0
        for letter in letters[0]:
            column = column * 26 + ord(letter) - ord("A") + 1
        if column > MOST_COLUMNS:
            raise refused(self._row, f"it has more than {MOST_COLUMNS:,} columns: is it a table of results?")
        return column - 1
