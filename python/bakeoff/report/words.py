"""What a report says, word by word, whatever its form: to hold two of them against each other."""

from __future__ import annotations

import difflib
import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

from bakeoff.errors import LabError
from bakeoff.report.edition import KEY, Edition

AROUND = 6
"""Words on either side of a difference that show where it is."""
NUMBER = re.compile(r"\d")
ADVICE = "reading a PDF needs pypdfium2: pip install 'bakeoff[pdf]'"


@dataclass(frozen=True)
class Difference:
    """Where a report says something else than the run: the words of both, and some that stand before them."""

    after: str
    here: str
    there: str


@dataclass(frozen=True)
class Said:
    """The words of a report in their order; of paper also what its pages look like."""

    words: tuple[str, ...]
    pages: tuple[bytes, ...] = ()
    edition: Edition | None = None

    @property
    def numbers(self) -> int:
        """How many of the words hold a number."""
        return sum(NUMBER.search(word) is not None for word in self.words)


class _Page(HTMLParser):
    """All text of a page, and all that its drawings and its data are made of."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self.edition = ""
        self._within = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self._within = f"script {known.get('id')}" if tag == "script" else tag
        for name, value in attrs:
            self.words += [f"{tag}.{name}={word}" for word in (value or "").split()]

    def handle_endtag(self, tag: str) -> None:
        self._within = ""

    def handle_data(self, data: str) -> None:
        if self._within == f"script bakeoff-{KEY}":
            self.edition += data
        # Data is one long line: cut where its members begin, a difference is small.
        self.words += (data.replace(",", " , ") if self._within.startswith("script") else data).split()


def said(form: str, content: bytes) -> Said:
    """What a report of this form says. Raises LabError where it cannot be read."""
    if form == "html":
        page = _Page()
        page.feed(content.decode("utf-8", "replace"))
        page.close()
        return Said(tuple(page.words), (), _edition(page.edition))
    if form == "pdf":
        return _said_on_paper(content)
    return Said(tuple(content.decode("utf-8", "replace").split()))


def _said_on_paper(content: bytes) -> Said:
    try:
        import pypdfium2
    except ImportError:
        raise LabError(ADVICE) from None
    try:
        document = pypdfium2.PdfDocument(io.BytesIO(content))
        words = [word for page in document for word in page.get_textpage().get_text_bounded().split()]
        pages = tuple(bytes(page.render(scale=1).to_numpy().tobytes()) for page in document)
        attached = [document.get_attachment(number) for number in range(document.count_attachments())]
        data = next((bytes(one.get_data()) for one in attached if one.get_name() == "data.json"), b"{}")
    except pypdfium2.PdfiumError as error:
        raise LabError(f"this is no PDF that can be read ({error}): write the report again") from None
    found = json.loads(data)
    return Said((*words, *data.decode().replace(",", " , ").split()), pages, _edition(json.dumps(found.get(KEY))))


def _edition(text: str) -> Edition | None:
    try:
        found: Any = json.loads(text)
    except ValueError:
        return None
    return Edition.model_validate(found) if isinstance(found, dict) else None


def differences(here: Said, there: Said) -> list[Difference]:
    """What `here` says otherwise than `there`; of paper with the same words, which pages look different."""
    found = [] if here.words == there.words else _of_words(here.words, there.words)
    if not found and here.pages != there.pages:
        pairs = zip(here.pages, there.pages, strict=False)
        changed = [str(number) for number, (one, other) in enumerate(pairs, 1) if one != other]
        found.append(Difference("", f"pages {', '.join(changed)}", "drawings that look different"))
    return found


def _of_words(here: Sequence[str], there: Sequence[str]) -> list[Difference]:
    found = []
    matcher = difflib.SequenceMatcher(None, here, there)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            before = " ".join(here[max(0, a - AROUND) : a])
            found.append(Difference(before, " ".join(here[a:b]), " ".join(there[c:d])))
    return found
