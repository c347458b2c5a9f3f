"""Samples in the text format of Prometheus, and OpenMetrics: name, labels, value. What is no sample is passed over.

It comes from another machine: lines, their length and their number are bounded, and nothing is made of a value that is
no number. Format: prometheus.io/docs/instrumenting/exposition_formats.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

MOST_LINES, MOST_LINE = 100_000, 4_096
_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]{0,199}")
_LABEL = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(,|$)')
_UNESCAPED = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}
Sample = tuple[str, dict[str, str], float]


def samples(text: str) -> Iterator[Sample]:
    """Every sample whose value is a finite number."""
    for place, line in enumerate(text.split("\n")):
        if place >= MOST_LINES:
            return
        if len(line) <= MOST_LINE and (found := _sample(line.strip())) is not None:
            yield found


def parts_of(line: str) -> tuple[str, dict[str, str] | None, str] | None:
    """The name of a sample, its labels, and what follows them; None for a line without a name. Labels are None where
    they are not NAME="VALUE" in braces.
    """
    name = _NAME.match(line)
    if name is None:
        return None
    rest = line[name.end() :].lstrip()
    if not rest.startswith("{"):
        return name[0], {}, rest
    inner, rest = _braced(rest)
    return name[0], None if inner is None else _labels(inner), rest


def _sample(line: str) -> Sample | None:
    name, labels, rest = parts_of(line) or ("", None, "")
    if labels is None:
        return None
    words = rest.split()
    try:
        value = float(words[0]) if words else math.nan
    except ValueError:
        return None
    return (name, labels, value) if math.isfinite(value) else None


def _braced(text: str) -> tuple[str | None, str]:
    """What stands in the braces, in whose quoted values there may be others, and what follows them."""
    quoted = escaped = False
    for place, letter in enumerate(text):
        if escaped:
            escaped = False
        elif letter == "\\" and quoted:
            escaped = True
        elif letter == '"':
            quoted = not quoted
        elif letter == "}" and not quoted:
            return text[1:place], text[place + 1 :]
    return None, ""


def _labels(text: str) -> dict[str, str] | None:
    labels, at = dict[str, str](), 0
    while at < len(text):
        found = _LABEL.match(text, at)
        if found is None:
            return labels if not text[at:].strip() else None
        labels[found[1]] = re.sub(r"\\.", lambda part: _UNESCAPED.get(part[0], part[0]), found[2])
        at = found.end()
    return labels
