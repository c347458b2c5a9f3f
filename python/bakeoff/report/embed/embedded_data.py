"""The data that a report holds for programs, read again. Whoever wrote it, it is believed to be nothing but data."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from itertools import chain
from typing import Any

from bakeoff.core.errors import PlanError
from bakeoff.core.units import format_size
from bakeoff.report.embed.packing import text_of
from bakeoff.report.embed.pdf_text import printed

PREFIX = "bakeoff-"
MOST_BYTES = 64 << 20
MOST_VALUES = 6_000_000
"""Of all data of a report: each takes a hundred bytes of memory, and a few packed bytes can make millions."""
DEEPEST, MOST_DIGITS = 60, 20
DOCTYPE = "<!DOCTYPE html>"
NONE = "has no data of Bakeoff in it: name a report as .html or .pdf that `bakeoff report` wrote, or the run file"


class Scripts(HTMLParser):
    """The text of each data script of a page, by its name."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.data: dict[str, str] = {}
        self.script: tuple[str, str] | None = None
        self._parts: list[str] = []
        self._left, self._values_left = MOST_BYTES, MOST_VALUES

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.script = (known.get("id") or "", known.get("type") or "") if tag == "script" else None
        self._parts.clear()

    def handle_endtag(self, tag: str) -> None:
        if self.script is not None:
            name, type_ = self.script
            text = text_of(type_, "".join(self._parts))
            self._left -= len(text)
            if self._left < 0:
                raise PlanError(f"the data in this page has more than {format_size(MOST_BYTES)}: it is not Bakeoff's")
            self._values_left -= values_in(text)
            if self._values_left < 0:
                raise PlanError(f"the data in this page has more than {MOST_VALUES:,} values: it is not Bakeoff's")
            if name.startswith(PREFIX):
                self.data.setdefault(name.removeprefix(PREFIX), text)
            self.handle_script(text)
        self.script = None

    def handle_data(self, data: str) -> None:
        if self.script is not None:
            self._parts.append(data)

    def read(self, content: bytes) -> None:
        """Read a page. Reports have no comments, one declaration, no instructions, and no tag without an end: of a page
        that is another, these are text, so that nothing is left out, and no parser goes over all of it once for each.
        """
        text = content.decode("utf-8", "replace")
        begin = len(DOCTYPE) if text.startswith(DOCTYPE) else 0
        self.feed(text[:begin] + text[begin:].replace("<!", "< !").replace("<?", "< ?"))
        self.handle_rest(self.rawdata)

    def handle_rest(self, text: str) -> None:
        """What has no end."""

    def handle_script(self, text: str) -> None:
        """The whole text of a script, unpacked."""


def data_of(form: str, content: bytes, named: str) -> Mapping[str, Any]:
    """The data that a report of this form holds, by name. Raises PlanError where it has none, or it is damaged."""
    if form == "html":
        page = Scripts()
        page.read(content)
        found = {name: parsed(text, named) for name, text in page.data.items()}
    elif form == "pdf":
        whole = parsed(printed(content, with_pages=False).data, named)
        found = whole if isinstance(whole, dict) else {}
    else:
        found = {}
    if not found:
        raise PlanError(f"{named} {NONE}")
    return found


def values_in(text: str) -> int:
    """How many values a text in JSON has at most, before it is read."""
    return 1 + sum(text.count(sign) for sign in ",[{")


def parsed(text: str, named: str) -> Any:
    """The value of a text in JSON. Raises PlanError where it is none that can be stored again."""
    if len(text) > MOST_BYTES:
        raise PlanError(f"the data in {named} has more than {format_size(MOST_BYTES)}: it is not one of Bakeoff's")
    if values_in(text) > MOST_VALUES:
        raise PlanError(f"the data in {named} has more than {MOST_VALUES:,} values: it is not one of Bakeoff's")
    try:
        found = json.loads(text, parse_constant=_refused, parse_float=_number, parse_int=_whole)
        _check(found)
    except (ValueError, RecursionError):
        raise PlanError(f"the data in {named} is damaged: get the report again from where it was made") from None
    return found


def _check(found: Any) -> None:
    """Raises ValueError for what is nested too deeply, or has text that is none."""
    open_: list[Iterator[Any]] = [iter((found,))]
    while open_:
        for value in open_[-1]:
            if isinstance(value, str):
                value.encode("utf-8")
            elif value and isinstance(value, dict | list):
                if len(open_) > DEEPEST:
                    raise ValueError
                open_.append(iter(value) if isinstance(value, list) else chain(value, value.values()))
                break
        else:
            open_.pop()


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError
    return int(text)


def _refused(constant: str) -> Any:
    raise ValueError(constant)
