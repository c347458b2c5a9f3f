"""The tables of a paper file. Text is Markdown of a safe subset (see bakeoff.report.blocks.prose)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from bakeoff.disclosure.paper.audited import Audited
from bakeoff.disclosure.paper.collected import Collected
from bakeoff.disclosure.paper.disclosure import CONTENDER, TESTBED
from bakeoff.disclosure.paper.machines import Link, Machine
from bakeoff.disclosure.paper.part import StrictTable, known
from bakeoff.plan.input.messages import did_you_mean

LONGEST = 50_000
"""Signs of a text: more is a book of its own."""


Text = Annotated[str, Field(max_length=LONGEST)]
Line = Annotated[str, Field(min_length=1, max_length=300)]
Day = Annotated[str, Field(min_length=1, max_length=40)]


class Note(StrictTable):
    """A note with the day on which it was written."""

    date: Day = Field(description="Day of the note: 2026-11-22.")
    text: Text = Field(description="What was noted (Markdown).")


class Words(StrictTable):
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
    features: str = Field("", description="A CSV file with the table of features, in the same folder.")
    disclosure: str = Field("", description="A file that `bakeoff disclose` wrote, in the same folder.")
    appendix: Literal["all", "values", "none"] = Field(
        "all",
        description="Of what no [[chapter]] has: all of it, the values of its figures with configuration and method, "
        "or none.",
    )


class OwnChapter(StrictTable):
    """`[[chapter]]`: text with figures and tables between it, each on a line of its own."""

    title: Line = Field(description="Title of the chapter.")
    suite: str = Field("", max_length=200, description="The suite of its figures that do not say suite=NAME.")
    text: Text = Field(
        description="Markdown with `## Title` for a section, and lines such as {figure curve=rate}, "
        '{table name=ranking caption="…"}, {text name=result} and {section name=errors}.'
    )


Money = Annotated[float, Field(ge=0, le=1e15, strict=False, allow_inf_nan=False)]


class PriceRules(StrictTable):
    """`[price]`: what all prices are in, and over how many years they are added up."""

    currency: Annotated[str, Field(min_length=1, max_length=10)] = Field("EUR", description="Of all prices: EUR.")
    years: Annotated[float, Field(gt=0, le=100, strict=False)] = Field(3, description="Years of use that are counted.")


class Price(StrictTable):
    """What a contender costs: once, and in each year."""

    cost: Money = Field(description="Paid once.")
    per_year: Money = Field(0.0, description="Paid in each year.")
    availability: str = Field("", max_length=100, description="Since or from when it can be bought.")

    def total(self, years: float) -> float:
        """Over so many years."""
        return self.cost + years * self.per_year


class Disclosed(StrictTable):
    """`[contenders.NAME.disclosure]`: what a person says of a contender, by the fields of `paper/disclosure.py`, and
    by which way more may be collected.
    """

    collect: str = Field(default="", max_length=1000, description='"local", "ssh://user@host" or "command: …".')
    config: tuple[Line, ...] = Field(
        default=(), max_length=32, strict=False, description="Configuration files to be shown."
    )
    fields: dict[str, Text] = Field(default_factory=dict, description="")


def _without_fields(given: Any) -> Any:
    """Fields stand beside `collect` and `config` in a file."""
    if not isinstance(given, dict):
        return given
    own = {key: value for key, value in given.items() if key in ("collect", "config")}
    return {**own, "fields": {key: value for key, value in given.items() if key not in own}}


class Bed(StrictTable):
    """`[testbed]`, or one of several `[testbeds.NAME]`: what a person says of it, and the machines and links of its
    diagram. Of several each says what was `measured` on it: suites by name, run files by letter.
    """

    measured: Annotated[tuple[Line, ...], Field(max_length=100)] = Field(
        default=(), strict=False, description='Of several beds: ["web-static"], or run files by letter.'
    )
    machines: tuple[Machine, ...] = Field(default=(), max_length=200, strict=False, description="")
    links: tuple[Link, ...] = Field(default=(), max_length=400, strict=False, description="")
    fields: dict[str, Text] = Field(default_factory=dict, description="")


def _bed(given: Any) -> Any:
    own = {key: value for key, value in given.items() if key in BED_PARTS}
    return {**own, "fields": {key: value for key, value in given.items() if key not in own}}


BED_PARTS = ("machines", "links", "measured")


class OneBed(StrictTable):
    """`[testbed]`, as one value."""

    testbed: Annotated[Bed, BeforeValidator(_bed), BeforeValidator(known(TESTBED, *BED_PARTS))] = Field(
        default_factory=Bed, description=""
    )


class About(StrictTable):
    """`[contenders.NAME]`."""

    title: str = Field("", max_length=60, description="What it is called in text: Cobalt Qube 2.")
    short: str = Field("", max_length=30, description="What it is called in tables and drawings: Qube 2.")
    colour: str = Field("", pattern=r"^(#[0-9A-Fa-f]{6})?$", description="Its colour in charts: #0072b2.")
    order: int | None = Field(None, description="Its place among contenders: 1.")
    price: Price | None = Field(None, description='{ cost = 1200, per_year = 100, availability = "2026-11" }')
    pros: tuple[Line, ...] = Field((), max_length=50, strict=False, description="What speaks for it.")
    disclosure: Annotated[
        Disclosed, BeforeValidator(_without_fields), BeforeValidator(known(CONTENDER, "collect", "config"))
    ] = Field(default_factory=Disclosed, description="See `bakeoff disclose --template`.")
    collected: Collected | None = Field(None, description="What `bakeoff disclose --collect` wrote.")
    cons: tuple[Line, ...] = Field((), max_length=50, strict=False, description="What speaks against it.")


class Answer(StrictTable):
    """Whether a contender has a feature, with what shows it."""

    answer: Literal["yes", "no", "partly", "unknown"] = Field(description="yes, no, partly or unknown.")
    evidence: str = Field("", max_length=500, description="Where that is to be seen, or how it was tried.")
    note: str = Field("", max_length=500, description="A footnote.")


def _answer(value: Any) -> Any:
    """`yes` is short for a table with nothing else."""
    return {"answer": value} if isinstance(value, str) else value


class Feature(StrictTable):
    """`[[features]]`: a row of the table of features."""

    feature: Line = Field(description="What is asked.")
    group: str = Field("", max_length=100, description="What it belongs to.")
    answers: dict[str, Annotated[Answer, BeforeValidator(_answer)]] = Field(
        description='{ NAME = "yes", OTHER = { answer = "partly", evidence = "…", note = "…" } }'
    )


class Task(StrictTable):
    """`[[administration]]`: something that an administrator did."""

    task: Line = Field(description="What was done.")
    times: dict[str, Line] = Field(description='How long it took: { NAME = "6 min", OTHER = "20 s" }.')
    note: str = Field("", max_length=1000, description="What was noticed.")


class Cell(StrictTable):
    """A cell of a table of the author, with what shows it."""

    text: Line = Field(description="What stands in it: yes, no, partly, unknown, or a few words.")
    evidence: str = Field("", max_length=500, description="Where that is to be seen, or how it was tried.")
    note: str = Field("", max_length=500, description="A footnote.")


def _cell(value: Any) -> Any:
    """A text is short for a cell with nothing else."""
    return {"text": value} if isinstance(value, str) else value


class TableRow(StrictTable):
    """`[[tables.rows]]`: a row, with cells by the names of columns."""

    name: Line = Field(description="What the row is about.")
    cells: dict[str, Annotated[Cell, BeforeValidator(_cell)]] = Field(
        description='{ "OES Linux" = "yes", "NetWare 6.5" = { text = "partly", evidence = "…", note = "…" } }'
    )


class AuthorTable(StrictTable):
    """`[[tables]]`: a table with columns of its own, such as services by platforms: they need not be contenders."""

    title: Line = Field(description="What the table shows.")
    of: str = Field("", max_length=100, description="What its rows are: Service.")
    columns: Annotated[tuple[Line, ...], Field(min_length=1, max_length=20)] = Field(
        strict=False, description='["NetWare 6.5", "OES Linux"]'
    )
    rows: Annotated[tuple[TableRow, ...], Field(min_length=1, max_length=500)] = Field(
        strict=False, description="A [[tables.rows]] for each."
    )
    note: str = Field("", max_length=1000, description="What stands below it.")

    @model_validator(mode="after")
    def _columns_known(self) -> Self:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("columns: each stands there once")
        for row in self.rows:
            for name in row.cells:
                if name not in self.columns:
                    raise ValueError(f"rows: there is no column {name!r}: {did_you_mean(name, self.columns)}")
        return self


@dataclass(frozen=True)
class Paper:
    """A paper file as written: `origin` names it, `tables` are as they were read, with days as text."""

    origin: str
    words: Words
    tables: dict[str, Any]
    price: PriceRules
    contenders: Mapping[str, About]
    features: tuple[Feature, ...]
    administration: tuple[Task, ...]
    tables_of_author: tuple[AuthorTable, ...]
    testbed: Bed
    testbeds: Mapping[str, Bed]
    chapters: tuple[OwnChapter, ...] = ()
    audited: Audited | None = None
