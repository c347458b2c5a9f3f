"""The command line that stands in an output against what follows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bakeoff.audit.facts import Asked
from bakeoff.audit.finding import Finding, Outcome, Sure
from bakeoff.audit.given import Given
from bakeoff.audit.table import Column, Place, Table
from bakeoff.core.units import parse_duration
from bakeoff.formats.foreign.table import CLIENTS, DURATION, OPERATIONS, REQUESTS

KEY = "command"
Holds = Literal["equal", "at least", "at most"]
# What a clock and the last operation may add.
SLACK = 0.02
LONGEST = 4000


@dataclass(frozen=True)
class _Option:
    """An option of a tool, what it asks for, and how what is printed may differ."""

    pattern: str
    metrics: tuple[str, ...]
    holds: Holds


_NUMBER = r"[ =]?(\d{1,12}[kKmM]?|\d{1,9}(?:\.\d{1,9})?(?:ms|s|m|h)?)(?=\s|$)"
OPTIONS: dict[str, tuple[_Option, ...]] = {
    "httperf": (
        _Option(rf"--num-conns?{_NUMBER}", ("connections",), "equal"),
        _Option(r"--wsess[ =](\d{1,9}),", ("sessions",), "equal"),
    ),
    "ab": (
        _Option(rf"(?<=\s)-n{_NUMBER}", (REQUESTS, OPERATIONS), "at most"),
        _Option(rf"(?<=\s)-c{_NUMBER}", (CLIENTS,), "equal"),
    ),
    "wrk": (
        _Option(rf"(?<=\s)-d{_NUMBER}", (DURATION,), "at least"),
        _Option(rf"(?<=\s)-c{_NUMBER}", (CLIENTS,), "equal"),
    ),
    "h2load": (
        _Option(rf"(?<=\s)-n{_NUMBER}", (REQUESTS,), "equal"),
        _Option(rf"(?<=\s)-c{_NUMBER}", (CLIENTS,), "equal"),
    ),
    "hey": (_Option(rf"(?<=\s)-n{_NUMBER}", (REQUESTS, OPERATIONS), "at most"),),
}


def check(table: Table, given: Given) -> Iterator[Outcome]:
    """Each option that says how much is done, and a rate that forbids a duration."""
    command = next((text for name, text in table.stated.items() if "command" in name), "")[:LONGEST]
    if not command or table.part:
        return
    line = next((number for name, number in table.lines.items() if "command" in name), 0)
    stands = Place(table.file, line, "", "command line", command[:200])
    tool = re.split(r"[\s/]+", command.split(" ")[0].strip())[-1]
    checked, findings = 0, []
    for option in OPTIONS.get(tool, ()):
        found = re.search(option.pattern, " " + command)
        column = next((table.columns[name] for name in option.metrics if name in table.columns), None)
        if found is None or column is None or not column.known.any():
            continue
        checked += 1
        row = int(np.flatnonzero(column.known)[0])
        if not _holds(option.holds, asked := _value(found[1]), column, row):
            printed = float(column.base.middle[row])
            unit = "s" if column.name == DURATION else ""
            fact = Asked(column.name, asked, printed, unit)
            findings.append(Finding(KEY, "impossible", (table.place(column, row), stands), fact, "certain"))
    if (late := _duration(table, command)) is not None:
        checked += 1
        findings += [Finding(KEY, "impossible", (late[0], stands), late[1], _CERTAIN)] if late[1] is not None else []
    yield Outcome(KEY, table.file, checked, tuple(findings))


_CERTAIN: Sure = "certain"


def _duration(table: Table, command: str) -> tuple[Place, Asked | None] | None:
    """So many connections at such a rate take so long at least."""
    duration = table.columns.get(DURATION)
    number, rate = (
        re.search(r"--num-conns?[ =](\d{1,12})", command),
        re.search(r"--rate[ =](\d{1,9}(?:\.\d+)?)", command),
    )
    if number is None or rate is None or float(rate[1]) <= 0 or duration is None or not duration.known[0]:
        return None
    least = (float(number[1]) - 1) / float(rate[1])
    place = table.place(duration, 0)
    if float(duration.base.high[0]) >= least * (1 - SLACK):
        return place, None
    return place, Asked("least duration", least, float(duration.base.middle[0]), "s")


def _holds(holds: Holds, asked: float, column: Column, row: int) -> bool:
    low, high = float(column.base.low[row]), float(column.base.high[row])
    if holds == "equal":
        return low <= asked <= high
    return low <= asked if holds == "at most" else high >= asked * (1 - SLACK)


def _value(text: str) -> float:
    if re.fullmatch(r"[\d.]+(?:ms|s|h|m)", text):
        return parse_duration(text)
    scale = {"k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6}.get(text[-1], 1.0)
    return float(text.rstrip("kKmM")) * scale
