"""What a command of the user tells of a machine: TOML, JSON, or lines of `key = value`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from bakeoff.core.system.bounded_read import loads_toml
from bakeoff.disclosure.collect.answer import LONGEST_LINE, clean, text_of
from bakeoff.disclosure.paper.collected import LONGEST, LONGEST_WORD, MOST
from bakeoff.disclosure.paper.disclosure import CONTENDER
from bakeoff.plan.input.messages import did_you_mean

TABLES = ("sysctls", "packages")
_LINE = re.compile(r"\s{0,20}([A-Za-z0-9_.-]{1,100})\s{0,20}[=:]\s{0,20}(.{0,4000})")
NAMED = 5


@dataclass
class Own:
    """What was told; `unknown` are keys that no field has, with the nearest that there is."""

    facts: dict[str, str] = field(default_factory=dict)
    sysctls: dict[str, str] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)


def own_of(data: bytes) -> Own:
    """What a command wrote, in whichever of the three forms it is. Never raises."""
    text = text_of(data.removeprefix(b"\xef\xbb\xbf"))
    answer = Own()
    for name, value in _table(text).items():
        key = _name(name)
        if key in TABLES and isinstance(value, dict):
            pairs = [(_name(of), _text(inner)[:LONGEST_WORD]) for of, inner in list(value.items())[:MOST]]
            getattr(answer, key).update(pairs)
        elif key in CONTENDER:
            answer.facts[key] = _text(value)[:LONGEST]
        elif len(answer.unknown) < NAMED:
            answer.unknown.append(f"{key[:60]} ({did_you_mean(key, CONTENDER)})")
    return answer


def _table(text: str) -> dict[str, Any]:
    for read in (json.loads, loads_toml):
        try:
            table = read(text)
        except (ValueError, RecursionError):
            continue
        return table if isinstance(table, dict) else {}
    found = (_LINE.fullmatch(line[:LONGEST_LINE]) for line in text.splitlines())
    return {match[1]: match[2].strip().strip("\"'") for match in found if match}


def _name(key: str) -> str:
    """What a value is called, in one line."""
    return " ".join(clean(key.encode("utf-8", "replace")).split())[:LONGEST_WORD]


def _text(value: Any) -> str:
    """A value as lines: a list is one line for each."""
    if isinstance(value, str):
        return clean(value.encode("utf-8", "replace"))
    if isinstance(value, list):
        return "\n".join(_plain(item) for item in value)
    return _plain(value)


def _plain(value: Any) -> str:
    try:
        return clean((value if isinstance(value, str) else json.dumps(value, default=str)).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return "a value that cannot be shown"
