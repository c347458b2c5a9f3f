"""How a report was asked for: with it and the run file the same report can be made again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from bakeoff.core.redact import hidden
from bakeoff.report.embed.packing import script_of, text_of

Extent = Literal["full", "standard", "brief"]
KEY = "options"
MARK = "bakeoff-options"
"""Begins the last line of a report in Markdown or text."""
HYPHENS = r"-\u002d"
"""Two of them, as JSON: they would end a comment, and stand inside of texts alone."""
_LINE = re.compile(rf"(?:<!-- )?{MARK} (application/\S{{1,20}}) (.*?)(?: -->)?")


class ReportOptions(BaseModel):
    """The flags of `bakeoff report`, as they are embedded in what it writes."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    baseline: str | None = None
    delta: float | None = None
    surfaces: bool = False
    extent: Extent = "full"
    pairs: tuple[str, ...] = ()
    """As given: `b,c`, or `all`."""
    paper: dict[str, Any] | None = None
    """The tables of a paper file, without secrets."""
    notes: tuple[tuple[str, str], ...] = ()
    """Dated notes: day and text."""
    failed: tuple[str, ...] = ()
    """Of several run files those that another repeats, by path, name or letter."""
    noise: dict[str, dict[str, Any]] | None = None
    """What A/A runs have shown of the set-up: for a run under `run`, for suites of a campaign under their names."""


def options_line(embedded: Mapping[str, Any]) -> str:
    """The edition as a line of text, which may stand in a comment of HTML; empty where none is known."""
    if KEY not in embedded:
        return ""
    given = {name: value for name, value in hidden(embedded[KEY]).items() if _is_given(value)}
    type_, content = script_of(given)
    return f"{MARK} {type_} {content.replace('--', HYPHENS)}"


def _is_given(value: Any) -> bool:
    return value not in (None, (), []) and value is not False


def options_text(report: str) -> str:
    """The JSON of the edition in the last line of a report in Markdown or text; empty where there is none. Raises
    GeneratorError where it is damaged.
    """
    found = _LINE.fullmatch(report.rstrip().rpartition("\n")[2])
    return text_of(found[1], found[2]) if found else ""
