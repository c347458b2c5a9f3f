"""The laws that an audit holds tables to, in words, and what a table shows of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bakeoff.audit.facts import CacheEnd, FitsConstant, FitsMemory, ImpliedPause
from bakeoff.core.units import format_binary
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence


@dataclass(frozen=True)
class LawWords:
    """The `title` of a check, which figures it `needs` and what it `finds`; its law as a `sentence`, and what the
    constant of its rows is called.
    """

    title: str
    needs: str
    finds: str
    sentence: str = ""
    ratio: str = "a ratio"


LAWS: Mapping[str, LawWords] = {
    "throughput": LawWords(
        "throughput = rate × size",
        "both, and the size of a block",
        "a wrong number; the unit that fits the table: 10⁶, 2²⁰, 10³ · 2¹⁰ bytes, bits, an odd one",
        "Throughput is rate × size.",
        "bytes for each printed unit",
    ),
    "operations": LawWords(
        "operations = rate × duration",
        "all three",
        "a wrong number, another window",
        "Operations are rate × duration.",
        "operations ÷ (rate × duration)",
    ),
    "bytes": LawWords(
        "bytes = throughput × duration",
        "all three",
        "a wrong number, another unit",
        "Bytes are throughput × duration.",
        "bytes ÷ (throughput × duration)",
    ),
    "bytes-of-operations": LawWords(
        "bytes = operations × size",
        "all three",
        "a wrong number",
        "Bytes are operations × size.",
        "bytes ÷ (operations × size)",
    ),
    "requests": LawWords(
        "requests = operations + errors",
        "all three",
        "errors that are not stated",
        "Requests are those answered and those failed.",
    ),
    "errors-in-rate": LawWords("rate without errors", "the same, rate and duration", "errors that count as work"),
    "load-law": LawWords(
        "clients = rate × (response time + pause)",
        "clients, rate, response time",
        "the pause that a table implies, and the row with another one; more requests at once than clients",
    ),
    "order": LawWords("minimum ≤ percentiles ≤ maximum", "two of them", "a wrong number"),
    "mean": LawWords("mean within percentiles", "mean and percentiles", "a wrong number, a mean of other operations"),
    "deviation": LawWords(
        "deviation that is possible",
        "deviation, and minimum, maximum, mean or count",
        "a wrong number (Popoviciu; Bhatia and Davis; Samuelson)",
    ),
    "percentile-of-few": LawWords(
        "operations enough for percentiles", "percentiles and count", "a p99.9 of 200 operations"
    ),
    "speed": LawWords(
        "within link, bus and memory", "the speed, from you", "what only a cache explains, and where the cache ends"
    ),
    "memory": LawWords(
        "files that memory holds", "memory, from you, and file sizes", "reads that need not meet a disk"
    ),
    "command": LawWords(
        "output fits its command line",
        "output of a tool",
        "fewer connections than asked for, a duration that the rate forbids",
    ),
    "copies": LawWords("no copies", "three rows", "copied rows, columns, contenders and files"),
    "curve": LawWords("curve over the loads", "eight loads or more", "a number beside its neighbours"),
    "parts": LawWords(
        "parts add up to the whole",
        "parts and a total",
        "a part or the total that was altered; a mean beyond its parts",
        "The whole is the sum of its parts.",
    ),
    "shares": LawWords(
        "shares add up to 100 %", "shares of all parts", "a share that was altered", "Shares of all parts are 100 %."
    ),
    "totals": LawWords(
        "totals of rows",
        "a row `Total`, `Sum`, `Overall`",
        "a total, or a row of it, that was altered",
        "The total is the sum of its rows.",
    ),
    "averages": LawWords(
        "means of rows",
        "a row `Average`, `Mean`",
        "a mean beyond its rows, or that is none of them",
        "It is no arithmetic, geometric or harmonic mean of its rows.",
    ),
    "changes": LawWords(
        "changes calculated again",
        "a column such as `diff %`, `overhead`, `speedup`",
        "a change of other numbers, another base, rows exchanged",
    ),
    "outputs": LawWords(
        "a table as its outputs", "a table, and outputs in files of its names", "a number that was typed otherwise"
    ),
    "claims": LawWords("claims calculated again", "two contenders, and a text", "percentages that no reading gives"),
}


def title(check: str) -> str:
    """The name of a check for people."""
    return LAWS[check].title if check in LAWS else check


def unit_name(name: str, constant: float) -> str:
    """ "10⁶ bytes", "1.0995 · 10⁶ bytes"."""
    powers = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    if not name:
        return f"{constant:,.6g} bytes"
    words = name.replace(" bit", " bits").replace(" B", " bytes") if name != "B" else "1 byte"
    raised = ""
    for part in words.split("^"):
        digits = len(part) - len(part.lstrip("0123456789"))
        raised += part[:digits].translate(powers) + part[digits:] if raised else part
    return f"{raised} ({constant / 1e6:.5g} · 10⁶)" if "÷" in name else raised


@sentence.register
def _(fact: FitsConstant) -> str:
    rows = f"{fact.fit} of {wording.plural(fact.rows, 'row')}"
    if fact.law == "throughput":
        unit = unit_name(fact.name, fact.constant)
        about = f", within {wording.percent(fact.spread)}" if fact.spread else ""
        return f"{rows} fit a unit of {unit}{about}"
    if fact.name in ("1", "1 s"):
        return f"{rows} fit"
    spread = f", within {wording.percent(fact.spread)}" if fact.spread else ""
    return f"{rows} fit with a factor of {fact.constant:.6g}{spread}"


@sentence.register
def _(fact: ImpliedPause) -> str:
    each = "" if fact.per_client == 1 else f", {fact.per_client} requests of each client at once"
    if fact.pause_s == 0:
        return f"{fact.fit} of {wording.plural(fact.rows, 'row')} imply no pause{each}"
    pause = f"{fact.pause_s * 1e3:.4g} ms" if fact.pause_s < 1 else f"{fact.pause_s:.4g} s"
    return f"{fact.fit} of {wording.plural(fact.rows, 'row')} imply a pause of {pause} between requests{each}"


@sentence.register
def _(fact: CacheEnd) -> str:
    text = f"only a cache explains {fact.rows} of {wording.plural(fact.of, 'number')}"
    if fact.largest_bytes is None:
        return text
    end = f"; it holds files of {format_binary(fact.largest_bytes)}"
    return text + end + ("" if fact.next_bytes is None else f", and none of {format_binary(fact.next_bytes)}")


@sentence.register
def _(fact: FitsMemory) -> str:
    rows, memory = f"{fact.rows} of {wording.plural(fact.of, 'row')}", format_binary(fact.memory_bytes)
    return f"{rows} are of files that {memory} of memory hold: reads need not have met a disk"
