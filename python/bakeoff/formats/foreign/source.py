"""A foreign file, read within bounds: its first part to tell its format by, its lines one by one, or all of it."""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from bakeoff.core.errors import PlanError

MIB = 1 << 20
# By these many bytes a format is known.
HEAD_BYTES = 64 << 10
# What is held in memory as a whole: no tool prints as much of one run.
MOST_BYTES = 32 * MIB
MOST_LINE_BYTES = MIB
MOST_SHORT = 4_000
# Values of JSON: each takes a hundred bytes, whatever its text.
MOST_JSON_PARTS = 3_000_000
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def refused(line: int, what: str) -> PlanError:
    """The error for a line (from 1) that cannot be read."""
    return PlanError(f"line {line}: {what}")


@dataclass(frozen=True)
class Source:
    """A file that is there. Raises PlanError wherever it cannot be read, or holds more than any result."""

    path: Path

    @cached_property
    def head(self) -> str:
        """Its first part as text, without what a cut may have left of the last character."""
        return self.raw_head.decode(self.encoding, "replace").removeprefix("\ufeff")

    @cached_property
    def raw_head(self) -> bytes:
        """Its first part."""
        with self.open() as file:
            return file.read(HEAD_BYTES)

    @cached_property
    def encoding(self) -> str:
        """UTF-8 unless a mark at its begin or its bytes say otherwise: those of old Windows tools are cp1252."""
        for mark, name in MARKS:
            if self.raw_head.startswith(mark):
                return name
        try:
            codecs.getincrementaldecoder("utf-8")().decode(self.raw_head)
        except UnicodeDecodeError:
            return "cp1252"
        return "utf-8"

    @cached_property
    def is_text(self) -> bool:
        """Whether it holds no zero byte at its begin, which no text has."""
        return self.encoding.startswith("utf-16") or b"\0" not in self.raw_head

    @property
    def is_small(self) -> bool:
        """Whether it may be held in memory as a whole."""
        with self.open() as file:
            return file.seek(0, io.SEEK_END) <= MOST_BYTES

    def data(self, most: int = MOST_BYTES) -> bytes:
        """All of it."""
        with self.open() as file:
            found = file.read(most + 1)
        if len(found) > most:
            raise PlanError(f"it is larger than {most // MIB} MiB: is it the result of one run?")
        return found

    def text(self) -> str:
        """All of it as text."""
        if not self.is_text:
            raise PlanError("it is no text: give the file that the tool has written as text")
        return self.data().decode(self.encoding, "replace").removeprefix("\ufeff")

    def lines(self) -> Iterator[tuple[int, str]]:
        """Its lines with their numbers, from 1, one in memory at a time."""
        if not self.is_text:
            raise PlanError("it is no text: give the file that the tool has written as text")
        if self.encoding.startswith("utf-16"):
            yield from enumerate(self.text().splitlines(), 1)
            return
        with self.open() as file:
            number = 0
            while line := file.readline(MOST_LINE_BYTES + 1):
                number += 1
                if len(line) > MOST_LINE_BYTES:
                    raise refused(number, "it is longer than 1 MiB: no tool prints such a line")
                text = line.decode(self.encoding, "replace").rstrip("\r\n")
                yield number, text.removeprefix("\ufeff") if number == 1 else text

    def short_lines(self) -> Iterator[tuple[int, str]]:
        """The same, cut to what tools print for people: patterns take far longer on long lines."""
        for number, line in self.lines():
            yield number, line[:MOST_SHORT]

    def json(self) -> Any:
        """All of it as JSON."""
        return parsed_json(self.text())

    def open(self) -> BinaryIO:
        """The file, to be closed. Raises PlanError."""
        try:
            return self.path.open("rb")
        except ValueError:  # a name with a zero byte
            raise PlanError("it cannot be read (no such file): check the path") from None
        except OSError as error:
            raise PlanError(f"it cannot be read ({error.strerror}): check the path") from None


@dataclass(frozen=True)
class SourceInMemory(Source):
    """A file whose content is at hand: `path` is what it was called."""

    content: bytes

    def open(self) -> BinaryIO:
        """Its content as a file."""
        return io.BytesIO(self.content)


def parsed_json(text: str, line: int = 1) -> Any:
    """The value of a JSON text that begins on a line of a file. Raises PlanError with the line at fault, also for more
    parts than any result has.
    """
    if text.count(",") + text.count("[") + text.count("{") > MOST_JSON_PARTS:
        raise PlanError(f"it has more than {MOST_JSON_PARTS:,} values: is it the result of one run?")
    try:
        return json.loads(text, parse_int=_whole, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        cut = " (it ends there: is all of it there?)" if error.pos >= len(text.rstrip()) else ""
        raise refused(line + error.lineno - 1, f"it is not JSON: {error.msg}{cut}") from None
    except RecursionError:
        raise PlanError("its JSON is nested too deep: it is the result of no tool") from None


def _whole(text: str) -> int | float:
    """A whole number; one with hundreds of digits as a float, which takes no time."""
    return int(text) if len(text) < 40 else float(text)


def _no_number(text: str) -> float:
    """NaN and infinity, which some tools write, as what they are."""
    return float(text.replace("Infinity", "inf"))
