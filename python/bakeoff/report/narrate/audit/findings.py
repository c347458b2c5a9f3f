"""A finding in words: what stands there, what was expected, why that may be."""

from __future__ import annotations

from collections.abc import Mapping

from bakeoff.audit.facts import (
    AboveSpeed,
    Asked,
    Bound,
    Carrier,
    Copied,
    Copy,
    DeviationBeyond,
    ErrorsCounted,
    Exchanged,
    Expected,
    FitsNone,
    MeanBeyond,
    NoBase,
    NotAsPrinted,
    OffCurve,
    OtherChange,
    OtherUnit,
    OutOfBounds,
    TooManyInFlight,
    TooShort,
    WrongBase,
    WrongChange,
    WrongOrder,
    WrongPause,
    WrongProduct,
    WrongSum,
)
from bakeoff.audit.finding import Finding, Sure
from bakeoff.audit.repairs import Repair, Slip
from bakeoff.audit.table import Place
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.audit.laws import LAWS, unit_name
from bakeoff.report.narrate.sentences import sentence

SLIPS: Mapping[Slip, str] = {
    "exchanged": "two digits are exchanged",
    "doubled": "a digit is there twice",
    "point": "the decimal point has moved",
    "unit": "it is in another unit",
    "lost": "a digit is lost",
    "digit": "a digit is another one",
}
CARRIERS: Mapping[Carrier, str] = {"link": "link", "bus": "bus", "memory": "memory"}
BOUNDS: Mapping[Bound, str] = {
    "bhatia-davis": "minimum, mean and maximum allow no more (Bhatia and Davis: numbers between two ends vary so much)",
    "popoviciu": "minimum and maximum allow no more (Popoviciu: half of their distance)",
    "samuelson": "an extreme is so far from the mean of so many operations (Samuelson)",
    "mean-median": "mean and median are so far apart",
}
COPIES: Mapping[Copied, str] = {
    "row": "The row",
    "column": "The column",
    "file": "The column",
    "stretch": "A stretch of the column",
}
# What as many digits would mend tells nothing.
MOST_REPAIRS = 8
SURE: Mapping[Sure, str] = {
    "certain": "Certain: no value of the printed digits fits.",
    "likely": "Likely: one number explains it.",
    "possible": "Possible: chance may do the same.",
}


def where(place: Place) -> str:
    """ "paper.csv, line 7, nginx, 16 clients, p99 [ms]"."""
    line = f"line {place.line}" if place.line else ""
    return ", ".join(filter(None, (place.file, line, place.row, place.heading)))


def finding_text(finding: Finding) -> str:
    """All that is known of a finding but its place."""
    return " ".join(filter(None, (sentence(finding.fact), reason(finding.repairs))))


def reason(repairs: tuple[Repair, ...]) -> str:
    """The slip that would explain it; empty where none or too many do."""
    if not repairs:
        return ""
    slip = SLIPS[repairs[0].slip]
    if repairs[0].slip == "unit":
        factor = repairs[0].factor
        much = f"{factor:,.0f} times too large" if factor >= 1 else f"{1 / factor:,.0f} times too small"
        return f"It fits when it is {much}: {slip}."
    texts = [repair.text for repair in repairs]
    if len(texts) > MOST_REPAIRS:
        return ""
    others = f" and {len(texts) - 1} others" if len(texts) > 1 else ""
    return f"It fits as {texts[0]}{others}: {slip}."


def expectation(expected: Expected, words: tuple[str, str] = ("from", "to")) -> str:
    """ "238.57 MB/s" or "from 238.4 to 238.7 MB/s"."""
    low, high = (f"{end:,.{expected.decimals}f}" for end in (expected.low, expected.high))
    if low != high and expected.decimals < 3 and expected.high < 10:
        low, high = wording.figures(expected.low), wording.figures(expected.high)
    unit = f" {expected.unit}" if expected.unit else ""
    return f"{low}{unit}" if low == high else f"{words[0]} {low} {words[1]} {high}{unit}"


@sentence.register
def _(fact: WrongProduct) -> str:
    made = expectation(fact.expected, ("between", "and"))
    return f"{LAWS[fact.law].sentence} {wording.names(fact.from_numbers)} make {made}."


@sentence.register
def _(fact: FitsNone) -> str:
    law = LAWS[fact.law]
    return f"{law.sentence} No unit makes it so: the rows have {law.ratio} from {_span(fact.low, fact.high)}."


@sentence.register
def _(fact: OtherUnit) -> str:
    named, real = f"{wording.count(fact.named)} bytes", unit_name(fact.name, fact.constant)
    return (
        f"The heading says {fact.unit}, which is {named} a second. "
        f"{fact.fit} of {wording.plural(fact.rows, 'row')} fit {real} a second instead."
    )


@sentence.register
def _(fact: WrongSum) -> str:
    missing = f"{abs(fact.missing):,.{fact.expected.decimals}f}"
    less = "missing" if fact.missing > 0 else "too many"
    unit = f" {fact.expected.unit}" if fact.expected.unit else ""
    return f"{LAWS[fact.law].sentence} Expected is {expectation(fact.expected)}: {missing}{unit} are {less}."


@sentence.register
def _(fact: OutOfBounds) -> str:
    return f"It lies beyond all {fact.parts} parts, which allow {_span(fact.low, fact.high)}."


@sentence.register
def _(fact: TooManyInFlight) -> str:
    return (
        f"Rate × response time is {wording.figures(fact.in_flight)} requests at once, "
        f"and there are {wording.figures(fact.stated)}."
    )


@sentence.register
def _(fact: WrongPause) -> str:
    if fact.clients > fact.stated * 1.02:
        return (
            f"Rate × response time is {wording.figures(fact.clients)} requests at once, and there are "
            f"{wording.figures(fact.stated)}. Expected is {expectation(fact.expected)}."
        )
    others = f"{_time(fact.others_s)}" if fact.others_s else "none"
    return (
        f"The row implies a pause of {_time(fact.pause_s)} between requests; the others imply {others}. "
        f"Expected is {expectation(fact.expected)}."
    )


@sentence.register
def _(fact: WrongOrder) -> str:
    unit = f" {fact.unit}" if fact.unit else ""
    lower, upper = f"{fact.lower_value:.6g}{unit}", f"{fact.upper_value:.6g}{unit}"
    return f"It is out of order: {fact.lower}, {lower}, must not be more than {fact.upper}, {upper}."


@sentence.register
def _(fact: MeanBeyond) -> str:
    return f"The percentiles allow a mean {_range(fact.low, fact.high, fact.unit)}."


@sentence.register
def _(fact: DeviationBeyond) -> str:
    unit = f" {fact.unit}" if fact.unit else ""
    if fact.high == float("inf"):
        return f"At least {wording.figures(fact.low)}{unit} is necessary: {BOUNDS[fact.bound]}."
    return f"At most {wording.figures(fact.high)}{unit} is possible: {BOUNDS[fact.bound]}."


@sentence.register
def _(fact: AboveSpeed) -> str:
    of = CARRIERS[fact.carrier]
    return (
        f"{_speed(fact.bytes_per_s)} are more than the {of} carries, {_speed(fact.limit_bytes_per_s)}: "
        "only a cache explains them."
    )


@sentence.register
def _(fact: Copy) -> str:
    numbers = f"{wording.plural(fact.numbers, 'number')} of {fact.digits} digits"
    return f"{COPIES[fact.what]} equals that of {fact.of} to the digit: {numbers}. One of them is a copy."


@sentence.register
def _(fact: OffCurve) -> str:
    usual = wording.percent(fact.usual - 1)
    return (
        f"It is {wording.ratio(fact.times)} what its neighbours let expect, {expectation(fact.expected)}. "
        f"The others are off by at most {usual}."
    )


@sentence.register
def _(fact: Asked) -> str:
    unit = f" {fact.unit}" if fact.unit else ""
    asked, printed = f"{wording.figures(fact.asked, 6)}{unit}", f"{wording.figures(fact.printed, 6)}{unit}"
    if fact.what == "least duration":
        return f"The command line allows no less than {asked}: its number of connections at its rate takes as long."
    return f"The command line asks for {fact.what} {asked}, and the output has {printed}."


@sentence.register
def _(fact: TooShort) -> str:
    return (
        f"A p{fact.quantile * 100:.10g} needs {wording.count(fact.needed)} operations or more. "
        f"Of {wording.count(fact.operations)} it is the largest."
    )


@sentence.register
def _(fact: ErrorsCounted) -> str:
    return (
        f"The rate counts {wording.count(fact.errors)} failed of {wording.count(fact.of)} requests as work. "
        f"Without them it is {wording.figures(fact.rate)}/s."
    )


@sentence.register
def _(fact: WrongChange) -> str:
    low, high = wording.figures(fact.low, 4), wording.figures(fact.high, 4)
    made = f"{low} {fact.unit}" if low == high else f"{low} to {high} {fact.unit}"
    return f"{wording.names(fact.from_numbers)} make {made}, as the other rows are made."


@sentence.register
def _(fact: OtherChange) -> str:
    low, high = wording.figures(fact.low, 4), wording.figures(fact.high, 4)
    right = f"{low} %" if low == high else f"{low} to {high} %"
    much = "Nothing falls by more than 100 %: it" if fact.beyond else "It"
    return f"{much} is in percent of the row's own number. In percent of the row that has no change it is {right}."


@sentence.register
def _(fact: WrongBase) -> str:
    return f"The changes of the other rows are all of {expectation(fact.expected, ('a number from', 'to'))}."


@sentence.register
def _(fact: NoBase) -> str:
    bases = f"{_span(fact.low, fact.high)} {fact.unit}".strip()
    return f"The {fact.rows} changes are of no number that is the same for all: they imply {bases}."


@sentence.register
def _(fact: Exchanged) -> str:
    return f"Its row is exchanged with that of {fact.other}: then all {wording.plural(fact.fit, 'change')} fit."


@sentence.register
def _(fact: NotAsPrinted) -> str:
    stands = f"{fact.stands} {fact.unit}".strip()
    return f"{fact.file} has {stands}, and {wording.plural(fact.equal, 'other number')} of it stand here as printed."


def _range(low: float, high: float, unit: str) -> str:
    """ "of 3.1 ms or more", "of at most 4 ms", "from 3 to 4 ms"."""
    of = f" {unit}" if unit else ""
    if high == float("inf"):
        return f"of {wording.figures(low)}{of} or more"
    if low <= 0:
        return f"of at most {wording.figures(high)}{of}"
    return f"from {wording.figures(low)} to {wording.figures(high)}{of}"


def _span(low: float, high: float) -> str:
    return f"{wording.figures(low)} to {wording.figures(high)}"


def _time(seconds: float) -> str:
    return f"{wording.figures(seconds)} s" if abs(seconds) >= 1 else f"{wording.figures(seconds * 1e3, 3)} ms"


def _speed(bytes_per_s: float) -> str:
    for unit, scale in (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)):
        if bytes_per_s >= scale:
            return f"{wording.figures(bytes_per_s / scale)} {unit}"
    return f"{wording.figures(bytes_per_s)} B/s"
