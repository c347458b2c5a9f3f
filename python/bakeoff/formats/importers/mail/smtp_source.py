"""A run of Postfix's smtp-source under `time`: the command with its messages and sessions, and what it took."""

from __future__ import annotations

import re

from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.making import RowMaker, value_of
from bakeoff.formats.foreign.printed import Printed
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignTable, ForeignValue
from bakeoff.formats.foreign.units import BYTES, COUNT, SECONDS, Unit
from bakeoff.formats.importers.base import Options, refuse

MISSING = ("times of single messages", "how many messages failed", "how busy its machine was")
_REAL = re.compile(r"real\s+(?:(\d{1,6})m)?(\d{1,9}(?:[.,]\d{1,9})?)s?\s*")
_ELAPSED = re.compile(r".*?\b(?:(\d{1,5}):)?(\d{1,5}):(\d{1,2}(?:\.\d{1,3})?)elapsed\b.*")


def sniff(source: Source) -> bool:
    return "smtp-source" in source.head and (
        re.search(r"^real\s", source.head, re.MULTILINE) is not None or "elapsed" in source.head
    )


def read(source: Source, options: Options) -> ForeignTable:
    row, stated = RowMaker(), dict[str, str]()
    for number, line in source.short_lines():
        if "smtp-source" in line and "command line" not in stated:
            stated["command line"] = line.strip()[:500]
            row.line = number
            sessions, messages, size = (_option(line, letter) for letter in "sml")
            row.under(table.CLIENTS, sessions or "1", COUNT, number)
            row.exactly(table.REQUESTS, messages or "1", COUNT, number)
            if size:
                row.exactly("message size", size, BYTES, number)
        elif found := _REAL.fullmatch(line):
            _took(row, number, 60 * int(found[1] or 0), found[2].replace(",", "."))
        elif found := _ELAPSED.fullmatch(line[:500]):
            _took(row, number, 3600 * int(found[1] or 0) + 60 * int(found[2]), found[3])
    asked, length = row.values.get(table.REQUESTS), row.values.get(table.DURATION)
    if asked is None:
        raise refuse(row.line, "the command smtp-source with its -s and -m was expected above what it took")
    if length is None or length.low <= 0.0:
        raise refuse(row.line, "what it took was expected below: run it under `time`, for longer than its last digit")
    rate = Printed("", asked.value / length.value, asked.low / length.high, asked.high / length.low)
    row.values[table.RATE] = ForeignValue(rate, Unit("messages/s", "operations/s"), row.line, 0, "messages by real")
    return ForeignTable("smtp-source", "smtp-source", (row.made(),), stated=stated, missing=MISSING)


def _option(line: str, letter: str) -> str:
    found = re.search(rf"\s-{letter}\s*(\d{{1,12}})(?:\s|$)", line)
    return found[1] if found else ""


def _took(row: RowMaker, number: int, whole_s: int, rest: str) -> None:
    """What it took, with the digits of its seconds."""
    part = value_of(rest, SECONDS, number, "real").number
    text = f"{whole_s + part.value:.10g}"
    exact = Printed(text, whole_s + part.value, whole_s + part.low, whole_s + part.high)
    row.values.setdefault(table.DURATION, ForeignValue(exact, SECONDS, number, 0, "real"))
