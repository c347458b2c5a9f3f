"""Claims in sentences of English: a percentage beside a word that compares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bakeoff.audit.claims.claim import Claim, Direction, Quantity
from bakeoff.formats.foreign.table import BYTES, ERRORS, MEAN, RATE, THROUGHPUT

MOST_CLAIMS = 1000
LONGEST = 600
_NUMBER = r"(\d{1,6}(?:[.,]\d{1,4})?)"
_PERCENT = re.compile(
    rf"(?:{_NUMBER}\s*(?:%|percent|per cent)?\s*(?:–|-|to|and)\s*)?{_NUMBER}\s*(?:%|percent|per cent)"
)
_TIMES = re.compile(rf"{_NUMBER}\s*(?:times|x|×)\s*(?:as|the|faster|better|more|higher|lower|less|slower)")
_LESS = (
    r"less|lower|lowers|fewer|reduc\w+|decreas\w+|shorter|drops?|fell|falls?|cuts?|slower|worse|smaller|saves?|behind"
)
_MORE = (
    r"more|better|higher|faster|increas\w+|greater|gain\w*|improv\w+|rais\w+|rises?|rose|ahead|outperform\w*|"
    r"advantage|over"
)
COMPARES = re.compile(rf"\b(?:{_LESS}|{_MORE})\b", re.IGNORECASE)
_IS_LESS = re.compile(rf"\b(?:{_LESS})\b", re.IGNORECASE)
_LOAD = re.compile(
    r"\b(at|for|with|from|up to|below|above|beyond|over|under|until|through)\s+"
    r"(up to |at least |more than |fewer than |less than )?(\d{1,6})(?:\s*(?:to|–|-|and)\s*(\d{1,6}))?\s+(?:\w+\s+)?"
    r"(?:clients?|users?|connections?|threads?|processes|vus|sessions?)\b",
    re.IGNORECASE,
)
QUANTITIES: tuple[tuple[str, Quantity], ...] = (
    (r"up to|as much as|at most|no more than|maximum of|peaks? at", "at most"),
    (r"at least|no less than|minimum of|or more", "at least"),
    (r"average\w*|mean|overall|typical\w*|altogether", "mean"),
)
METRICS: tuple[tuple[str, str], ...] = (
    (r"throughput|bandwidth|transfer rate|mbps|mb/s|mbit/s", THROUGHPUT),
    (r"latenc\w+|response times?|delays?|waiting", MEAN),
    (r"requests?|iops|operations|transactions|rates?|tps|rps|replies", RATE),
    (r"errors?|failures?", ERRORS),
    (r"bytes|data moved", BYTES),
)


def claims_in(text: str, file: str, names: Sequence[str]) -> Iterator[Claim]:
    """The claims of a text, with the `names` of contenders that their sentences have; at most 1,000."""
    found = 0
    for line, sentence in _sentences(text):
        if not (COMPARES.search(sentence) or _TIMES.search(sentence)):
            continue
        for claim in _of_sentence(sentence, file, line, names):
            yield claim
            found += 1
            if found >= MOST_CLAIMS:
                return


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """Each sentence with its line; a blank line ends one, too."""
    for match in re.finditer(r"(?:[^.!?\n]|\n(?!\s*\n)|[.!?](?!\s|$)){1,2000}", text):
        sentence = match[0]
        begin = match.start() + len(sentence) - len(sentence.lstrip())
        yield text.count("\n", 0, begin) + 1, " ".join(sentence.split())[:LONGEST]


def _of_sentence(sentence: str, file: str, line: int, names: Sequence[str]) -> Iterator[Claim]:
    low, high = _loads(sentence)
    own = _names(sentence, names)
    for match in _PERCENT.finditer(sentence):
        before, after = sentence[: match.start()], sentence[match.end() :]
        ends: tuple[tuple[str | None, Quantity], ...] = ((match[2], _quantity(before, after)),)
        if match[1]:
            ends = ((match[1], "at least"), (match[2], "at most"))
        for number, quantity in ends:
            if number:
                yield Claim(
                    sentence, number.replace(",", "."), file, line, False, _direction(before, after), quantity, own,
                    _metric(before, after), low, high,
                )  # fmt: skip
    for match in _TIMES.finditer(sentence):
        before, after = sentence[: match.start()], sentence[match.end() :]
        quantity, metric = _quantity(before, after), _metric(before, after)
        number = match[1].replace(",", ".")
        yield Claim(sentence, number, file, line, True, "", quantity, own, metric, low, high)


def _direction(before: str, after: str) -> Direction:
    """The comparing word that stands next, first behind the number."""
    near = COMPARES.search(after[:60])
    words = near[0] if near else next(iter(reversed(COMPARES.findall(before[-60:]))), "")
    if not words:
        return ""
    return "less" if _IS_LESS.fullmatch(words) else "more"


def _quantity(before: str, after: str) -> Quantity:
    near = before[-40:] + " | " + after[:40]
    for pattern, quantity in QUANTITIES:
        if re.search(rf"\b(?:{pattern})\s*(?:of |by |about |some )?\|?$", before[-40:].strip() + "|", re.IGNORECASE):
            return quantity
    return "mean" if re.search(rf"\b(?:{QUANTITIES[2][0]})\b", near, re.IGNORECASE) else ""


def _metric(before: str, after: str) -> str:
    """The metric that stands nearest."""
    places = []
    for pattern, metric in METRICS:
        places += [(found.start(), metric) for found in re.finditer(rf"\b(?:{pattern})\b", after, re.IGNORECASE)]
        places += [
            (len(before) - found.end() + 10, metric)
            for found in re.finditer(rf"\b(?:{pattern})\b", before, re.IGNORECASE)
        ]
    return min(places, default=(0, ""))[1]


def _names(sentence: str, names: Sequence[str]) -> tuple[str, ...]:
    """Those of `names` that stand in the sentence, in its order; a longer one before one that it holds."""
    places: dict[str, int] = {}
    hidden = sentence.lower()
    for name in sorted(filter(None, names), key=len, reverse=True):
        at = re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", hidden)
        if at:
            places[name] = at.start()
            hidden = hidden[: at.start()] + " " * (at.end() - at.start()) + hidden[at.end() :]
    return tuple(sorted(places, key=places.__getitem__))


def _loads(sentence: str) -> tuple[float | None, float | None]:
    """From which load to which a sentence speaks."""
    found = _LOAD.search(sentence)
    if found is None:
        return None, None
    word, more, first, second = found[1].lower(), (found[2] or "").strip().lower(), float(found[3]), found[4]
    if second:
        return first, float(second)
    if word in ("up to", "below", "under", "until", "through") or more in ("up to", "fewer than", "less than"):
        return None, first
    if word in ("above", "beyond", "over", "from") or more in ("at least", "more than"):
        return first, None
    return first, first
