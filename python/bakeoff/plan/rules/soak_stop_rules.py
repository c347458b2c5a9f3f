"""Rules that end a soak early, as people write them: `errors>1%,p99>2s for 3`."""

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator

from bakeoff.core.times import ns_of
from bakeoff.core.units import parse_duration, parse_rate, parse_share
from bakeoff.plan.settings.fields import Metavar

Figure = Literal["errors", "p50", "p95", "p99", "max", "rate"]
FIGURES: tuple[Figure, ...] = get_args(Figure)
MOST_RULES, MOST_ROWS, LONGEST = 20, 1000, 60
_RULE = re.compile(r"([a-z0-9]+)\s*([<>])\s*(\S+?)(?:\s+for\s+([0-9]{1,4})(?:\s+intervals?)?)?")
HOW = "write it like errors>1%, p99>2s or rate<100, and for intervals that follow each other: p99>2s for 3"


@dataclass(frozen=True)
class StopRule:
    """A figure of an interval and what it must not pass in `intervals` intervals that follow each other.

    `limit` is a share of errors, a time in ns, or operations/s; `rate` must not fall below it, others not rise above.
    """

    text: str
    figure: Figure
    limit: float
    intervals: int

    def is_broken(self, value: float) -> bool:
        """Whether an interval with this value breaks it."""
        return value < self.limit if self.figure == "rate" else value > self.limit


def parse_rule(text: str) -> StopRule:
    """A single rule. Raises ValueError with one sentence that shows the form."""
    compact = " ".join(text.split())
    match = _RULE.fullmatch(compact) if len(compact) <= LONGEST else None
    if match is None or match[1] not in FIGURES:
        raise ValueError(f"{text[:LONGEST]!r} is no rule for {', '.join(FIGURES)}: {HOW}")
    figure: Figure = match[1]
    if (match[2] == "<") != (figure == "rate"):
        raise ValueError(f"{text!r} would stop a healthy soak: limit a rate from below (<), all else from above (>)")
    intervals = int(match[4] or 1)
    if not 1 <= intervals <= MOST_ROWS:
        raise ValueError(f"{text!r}: a rule looks at 1 to {MOST_ROWS:,} intervals")
    return StopRule(compact, figure, _limit(figure, match[3]), intervals)


def _limit(figure: Figure, text: str) -> float:
    if figure == "errors":
        return parse_share(text)
    if figure == "rate":
        return parse_rate(text)
    return ns_of(parse_duration(text))


def _read(value: Any) -> Any:
    words = value.split(",") if isinstance(value, str) else value
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        raise ValueError(f"give a list of rules: {HOW}")
    rules = tuple(parse_rule(word) for word in words if word.strip())
    if len(rules) > MOST_RULES:
        raise ValueError(f"{len(rules)} rules are too many: at most {MOST_RULES}")
    return tuple(rule.text for rule in rules)


# Rules as a field of a plan: their texts, each of which `parse_rule` takes.
StopRules = Annotated[tuple[str, ...], BeforeValidator(_read), Metavar("RULE,...")]
