"""What an importer of a format has, and what a user may tell it.

What a tool does not state is left out, never made up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign.source import Source, refused
from bakeoff.formats.foreign.table import Better, ForeignTable

__all__ = ["Importer", "Options", "refuse"]
refuse = refused


@dataclass(frozen=True)
class Options:
    """What a user says of a file that the file does not: see `bakeoff import`. `contender` is whose figures it has;
    None where nobody says.
    """

    contender: str | None = None
    rows: str | None = None
    columns: str | None = None
    unit: str | None = None
    better: Better | None = None
    decimal: Literal["point", "comma"] | None = None


class Importer(Protocol):
    """What the module of an importer has."""

    def sniff(self, source: Source) -> bool:
        """Whether a file is of this format, by its first part. Raises nothing but for a file that cannot be read."""

    def read(self, source: Source, options: Options) -> ForeignTable:
        """A file's content. Raises PlanError that names the line at fault; never believes what it cannot tell."""


def whole_number(text: str) -> int | None:
    """A count as it is printed, with or without commas between thousands; None for anything else."""
    plain = text.strip().replace(",", "")
    return int(plain) if plain.isascii() and plain.isdigit() and len(plain) < 19 else None


def not_a_number(line: int, what: str, error: ValueError) -> PlanError:
    """The error for a value of a line that is none."""
    return refused(line, f"{what}: {error}")
