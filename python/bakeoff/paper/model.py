"""The tables of a paper file. Text is Markdown of a safe subset (see bakeoff.report.prose)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from bakeoff.paper.disclosure import CONTENDER, TESTBED
from bakeoff.plan.messages import did_you_mean

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
    features: str = Field("", description="A CSV file with the table of features, beside this one.")


Money = Annotated[float, Field(ge=0, le=1e15, strict=False, allow_inf_nan=False)]


class PriceRules(Part):
    """`[price]`: what all prices are in, and over how many years they are added up."""

    currency: Annotated[str, Field(min_length=1, max_length=10)] = Field("EUR", description="Of all prices: EUR.")
    years: Annotated[float, Field(gt=0, le=100, strict=False)] = Field(3, description="Years of use that are counted.")


class Price(Part):
    """What a contender costs: once, and in each year."""

    cost: Money = Field(description="Paid once.")
    per_year: Money = Field(0.0, description="Paid in each year.")
    availability: str = Field("", max_length=100, description="Since or from when it can be bought.")

    def total(self, years: float) -> float:
        """Over so many years."""
        return self.cost + years * self.per_year


def _known(fields: Mapping[str, str]) -> Callable[[dict[str, str]], dict[str, str]]:
    """Refuses keys that are none of `fields`."""

    def check(given: dict[str, str]) -> dict[str, str]:
        for key in given:
            if key not in fields:
                raise ValueError(f"unknown key {key!r}: {did_you_mean(key, fields)}")
        return given

    return check


class TestBed(Part):
    """`[testbed]`, as one value."""

    testbed: Annotated[dict[str, Text], AfterValidator(_known(TESTBED))] = Field(default_factory=dict, description="")


class About(Part):
    """`[contenders.NAME]`."""

    price: Price | None = Field(None, description='{ cost = 1200, per_year = 100, availability = "2026-11" }')
    pros: tuple[Line, ...] = Field((), max_length=50, strict=False, description="What speaks for it.")
    disclosure: Annotated[dict[str, Text], AfterValidator(_known(CONTENDER))] = Field(
        default_factory=dict, description="See `bakeoff disclose --template`."
    )
    cons: tuple[Line, ...] = Field((), max_length=50, strict=False, description="What speaks against it.")


class Answer(Part):
    """Whether a contender has a feature, with what shows it."""

    answer: Literal["yes", "no", "partly", "unknown"] = Field(description="yes, no, partly or unknown.")
    evidence: str = Field("", max_length=500, description="Where that is to be seen, or how it was tried.")
    note: str = Field("", max_length=500, description="A footnote.")


def _answer(value: Any) -> Any:
    """`yes` is short for a table with nothing else."""
    return {"answer": value} if isinstance(value, str) else value


class Feature(Part):
    """`[[features]]`: a row of the table of features."""

    feature: Line = Field(description="What is asked.")
    group: str = Field("", max_length=100, description="What it belongs to.")
    answers: dict[str, Annotated[Answer, BeforeValidator(_answer)]] = Field(
        description='{ NAME = "yes", OTHER = { answer = "partly", evidence = "…", note = "…" } }'
    )


class Task(Part):
    """`[[administration]]`: something that an administrator did."""

    task: Line = Field(description="What was done.")
    times: dict[str, Line] = Field(description='How long it took: { NAME = "6 min", OTHER = "20 s" }.')
    note: str = Field("", max_length=1000, description="What was noticed.")


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
    testbed: Mapping[str, str]
