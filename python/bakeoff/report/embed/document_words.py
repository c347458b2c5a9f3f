"""What a report says, word by word, whatever its form: to hold two of them against each other."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, zip_longest
from typing import Any

from pydantic import ValidationError

from bakeoff.report.embed.embedded_data import PREFIX, Scripts, parsed
from bakeoff.report.embed.embedded_runs import ABOUT, NONE, RUNS, Packed, digest
from bakeoff.report.embed.pdf_text import printed
from bakeoff.report.embed.report_options import KEY, ReportOptions, options_text

AROUND = 6
"""Words on either side of a difference that show where it is."""
NUMBER = re.compile(r"\d")
_TAG = re.compile(r"</?[a-z]")
MOST_STEPS = 5_000_000
"""So many pairs of equal words are looked at to find where two texts meet again; of what is left only that it differs
is told. Texts that were made for it would take hours.
"""


@dataclass(frozen=True)
class Difference:
    """Where a report says something else than the run: the words of both, and some that stand before them."""

    after: str
    here: str
    there: str


@dataclass(frozen=True)
class ReportContent:
    """The words of a report in their order; of paper also what its pages look like."""

    words: tuple[str, ...]
    pages: tuple[str, ...] = ()
    options: ReportOptions | None = None
    inside: Packed = NONE
    """The runs that it holds."""

    @property
    def numbers(self) -> int:
        """How many of the words hold a number."""
        return sum(NUMBER.search(word) is not None and not _TAG.match(word) for word in self.words)


class _Page(Scripts):
    """All of a page: text, tags, and what its drawings and its data are made of. Reports have no comments: what stands
    in one, or in a tag or under an attribute that was added, may be hidden from its readers.
    """

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_starttag(tag, attrs)
        self.words.append(f"<{tag}>")
        for name, value in attrs:
            self.words += [f"{tag}.{name}={word}" for word in (value or "").split() or [""]]

    def handle_endtag(self, tag: str) -> None:
        super().handle_endtag(tag)
        self.words.append(f"</{tag}>")

    def handle_comment(self, data: str) -> None:
        self.words += ["<!--", *data.split()]

    def handle_decl(self, decl: str) -> None:
        self.words += ["<!", *decl.split()]

    def handle_rest(self, text: str) -> None:
        self.words += text.split()

    def handle_data(self, data: str) -> None:
        super().handle_data(data)
        if self.script is None:
            self.words += data.split()

    def handle_script(self, text: str) -> None:
        of_runs = self.script is not None and self.script[0] == f"{PREFIX}{RUNS}"
        self.words += [_known_by(_parsed(text))] if of_runs else _of_data(text)


def _of_data(text: str) -> list[str]:
    """Data is one long line: cut where its members begin, a difference is small."""
    return text.replace(",", " , ").split()


def content_of(form: str, content: bytes) -> ReportContent:
    """What a report of this form says. Raises GeneratorError or PlanError where it cannot be read."""
    if form == "html":
        page = _Page()
        page.read(content)
        data = {name: _parsed(page.data.get(name, "")) for name in (KEY, RUNS, ABOUT)}
        return ReportContent(tuple(page.words), (), _options(data[KEY]), _inside(data))
    if form == "pdf":
        return _pdf_content(content)
    text = content.decode("utf-8", "replace")
    return ReportContent(tuple(text.split()), (), _options(_parsed(options_text(text))))


def _pdf_content(content: bytes) -> ReportContent:
    found = printed(content, with_pages=True)
    data = parsed(found.data, "this PDF")
    embedded = data if isinstance(data, dict) else {}
    rows = embedded.get(RUNS)
    text = found.data.replace(json.dumps(rows), json.dumps(_known_by(rows)), 1) if rows else found.data
    return ReportContent((*found.words, *_of_data(text)), found.pages, _options(embedded.get(KEY)), _inside(embedded))


def _known_by(rows: Any) -> str:
    """A word for the rows of runs: they are long, and packed otherwise by another version of the library."""
    return f"rows:{digest(rows)}" if isinstance(rows, str) else "rows:none"


def _inside(data: Mapping[str, Any]) -> Packed:
    rows, about = data.get(RUNS), data.get(ABOUT)
    return Packed(rows if isinstance(rows, str) else "", about if isinstance(about, dict) else {})


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _options(given: Any) -> ReportOptions | None:
    try:
        return ReportOptions.model_validate(given) if isinstance(given, dict) else None
    except (ValueError, RecursionError, ValidationError):
        return None


def differences(here: ReportContent, there: ReportContent) -> list[Difference]:
    """What `here` says otherwise than `there`; of paper with the same words, which pages look different."""
    found = [] if here.words == there.words else _of_words(here.words, there.words)
    if not found and here.pages != there.pages:
        pairs = zip_longest(here.pages, there.pages)
        changed = [str(number) for number, (one, other) in enumerate(pairs, 1) if one != other]
        found.append(Difference("", f"pages {', '.join(changed)}", "drawings that look different"))
    return found


def _of_words(here: Sequence[str], there: Sequence[str]) -> list[Difference]:
    """Where two texts part and meet again, without the words with which both begin and end."""
    least = min(len(here), len(there))
    begin = next((at for at in range(least) if here[at] != there[at]), least)
    end = next((at for at in range(least - begin) if here[-1 - at] != there[-1 - at]), least - begin)
    own, other = here[begin : len(here) - end], there[begin : len(there) - end]
    found = []
    for tag, a, b, c, d in _Matcher(own, other).get_opcodes():
        if tag != "equal":
            before = " ".join(here[max(0, begin + a - AROUND) : begin + a])
            found.append(Difference(before, " ".join(own[a:b]), " ".join(other[c:d])))
    return found


class _Matcher(difflib.SequenceMatcher[str]):
    """Of bounded work: what it has no time for matches nothing."""

    b2j: dict[str, list[int]]

    def __init__(self, own: Sequence[str], other: Sequence[str]) -> None:
        super().__init__(None, own, other)
        self._left = MOST_STEPS
        # Before each word, how many pairs of equal words there are.
        self._pairs = list(accumulate((1 + len(self.b2j.get(word, ())) for word in own), initial=0))

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> difflib.Match:
        end = len(self._pairs) - 1 if ahi is None else ahi
        self._left -= self._pairs[end] - self._pairs[alo]
        if self._left < 0:
            return difflib.Match(alo, blo, 0)
        return super().find_longest_match(alo, end, blo, bhi)
