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
    """The `title` of a check, its law as a `sentence`, and what the constant of its rows is called."""

    title: str
    sentence: str = ""
    ratio: str = "a ratio"


LAWS: Mapping[str, LawWords] = {
    "throughput": LawWords("throughput = rate × size", "Throughput is rate × size.", "bytes for each printed unit"),
    "operations": LawWords(
        "operations = rate × duration", "Operations are rate × duration.", "operations ÷ (rate × duration)"
    ),
    "bytes": LawWords(
        "bytes = throughput × duration", "Bytes are throughput × duration.", "bytes ÷ (throughput × duration)"
    ),
    "bytes-of-operations": LawWords(
        "bytes = operations × size", "Bytes are operations × size.", "bytes ÷ (operations × size)"
    ),
    "requests": LawWords("requests = operations + errors", "Requests are those answered and those failed."),
    "errors-in-rate": LawWords("rate without errors"),
    "load-law": LawWords("clients = rate × (response time + pause)"),
    "order": LawWords("minimum ≤ percentiles ≤ maximum"),
    "mean": LawWords("mean within percentiles"),
    "deviation": LawWords("deviation that is possible"),
    "percentile-of-few": LawWords("operations enough for percentiles"),
    "speed": LawWords("within link, bus and memory"),
    "memory": LawWords("files that memory holds"),
    "command": LawWords("output fits its command line"),
    "copies": LawWords("no copies"),
    "curve": LawWords("curve over the loads"),
    "parts": LawWords("parts add up to the whole", "The whole is the sum of its parts."),
    "shares": LawWords("shares add up to 100 %", "Shares of all parts are 100 %."),
}


def title(check: str) -> str:
    """The name of a check for people."""
    return LAWS[check].title


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
