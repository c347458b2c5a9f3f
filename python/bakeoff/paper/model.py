"""The tables of a paper file. Text is Markdown of a safe subset (see bakeoff.report.prose)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

LONGEST = 50_000
"""Signs of a text: more is a book of its own."""


Text = Annotated[str, Field(max_length=LONGEST)]
Line = Annotated[str, Field(min_length=1, max_length=300)]
Day = Annotated[str, Field(min_length=1, max_length=40)]


class Part(BaseModel):
    """A table of which every key is known."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Note(Part):
    """A note with the day on which it was written."""

    date: Day = Field(description="Day of the note: 2026-11-22.")
    text: Text = Field(description="What was noted (Markdown).")


class Words(Part):
    """`[paper]`: the author's own words."""

    title: str = Field("", max_length=300, description="Title of the paper.")
    author: str = Field("", max_length=300, description="Who wrote it.")
    commissioner: str = Field("", max_length=300, description="Who asked for it, and paid.")
    date: Annotated[str, Field(max_length=40)] = Field("", description="Day: 2026-11-22.")
    summary: Text = Field("", description="Summary (Markdown).")
    findings: Text = Field("", description="Key findings (Markdown).")
    conclusion: Text = Field("", description="Conclusion (Markdown).")
    notes: tuple[Note, ...] = Field((), max_length=200, description="Dated notes.", strict=False)
    disclaimer: Text = Field("", description="Disclaimer (Markdown).")


@dataclass(frozen=True)
class Paper:
    """A paper file as written: `origin` names it, `tables` are as they were read, with days as text."""

    origin: str
    words: Words
    tables: dict[str, Any]
