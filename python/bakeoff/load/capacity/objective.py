"""What a load has to meet: `p99<=50ms,errors<=0.1%`.

Percentiles are of all operations that were asked for: one that failed, never began or was not answered is slower than
any limit. Whoever drops what is slow gains nothing by it.
"""

import re
from dataclasses import dataclass
from typing import Literal

from bakeoff.core.units import format_duration, format_share, parse_duration, parse_share

MOST_TERMS = 8
LONGEST = 400
EXAMPLE = "p99<=50ms,errors<=0.1%"
_TERM = re.compile(r"\s*([^<>=≤≥\s]*)\s*(<=|≤|>=|≥|<|>|==|=)\s*(.*?)\s*")
_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d{1,3})?)")
KNOWN = "p50, p90, p95, p99, p99.9 or any other percentile, mean, max, errors and achieved"

Sort = Literal["percentile", "mean", "max", "errors", "achieved"]


@dataclass(frozen=True)
class Condition:
    """One condition. `limit` is a time in seconds or a share; `quantile` is that of a percentile, 1 of `max`."""

    sort: Sort
    limit: float
    quantile: float = 0.0

    def __str__(self) -> str:
        match self.sort:
            case "percentile":
                return f"p{self.quantile * 100:.6g}<={format_duration(self.limit)}"
            case "mean" | "max":
                return f"{self.sort}<={format_duration(self.limit)}"
            case "errors":
                return f"errors<={format_share(self.limit)}"
            case "achieved":
                return f"achieved>={format_share(self.limit)}"

    @property
    def is_time(self) -> bool:
        """Whether it bounds a time."""
        return self.sort in ("percentile", "mean", "max")

    @property
    def allowed(self) -> float | None:
        """The share of operations that may miss it; None of a mean, which has none."""
        match self.sort:
            case "percentile" | "max":
                return 1.0 - self.quantile
            case "errors":
                return self.limit
            case "achieved":
                return 1.0 - self.limit
            case "mean":
                return None


@dataclass(frozen=True)
class Objective:
    """All of its terms are to be met at once."""

    terms: tuple[Condition, ...]

    def __str__(self) -> str:
        return ",".join(map(str, self.terms))

    @property
    def longest_s(self) -> float:
        """The longest time that a term bounds, s; 0 when none bounds a time."""
        return max((term.limit for term in self.terms if term.is_time), default=0.0)

    @property
    def needs_rate(self) -> Condition | None:
        """A term that only a rate can be held to."""
        return next((term for term in self.terms if term.sort == "achieved"), None)

    @property
    def strictest(self) -> float:
        """The least share of operations that one of its terms lets miss it."""
        return min((share for term in self.terms if (share := term.allowed) is not None), default=0.0)


def parse_objective(text: str) -> Objective:
    """The objective that `text` states. Raises ValueError that names the term."""
    if len(text) > LONGEST:
        raise ValueError(f"an objective of {len(text):,} characters is too long: write it like {EXAMPLE}")
    if not text.strip():
        raise ValueError(f"an objective needs a term: write it like {EXAMPLE}")
    parts = text.split(",")
    if len(parts) > MOST_TERMS:
        raise ValueError(f"{len(parts)} terms are too many for one objective: at most {MOST_TERMS}")
    terms = tuple(map(_term, parts))
    names = [_name(term) for term in terms]
    for part, name in zip(parts, names, strict=True):
        if names.count(name) > 1:
            raise ValueError(f"{part.strip()!r}: {name} is bounded twice: leave one of the terms out")
    if all(term.sort == "mean" for term in terms):
        raise ValueError(
            f"{text.strip()!r} says nothing of operations that fail, for a mean is of the others: add errors<=0.1%"
        )
    return Objective(terms)


def _name(term: Condition) -> str:
    return f"p{term.quantile * 100:.6g}" if term.sort == "percentile" else term.sort


def _term(text: str) -> Condition:
    part = text.strip()
    match = _TERM.fullmatch(text)
    if not part:
        raise ValueError(f"an empty term between commas: write the objective like {EXAMPLE}")
    if match is None:
        raise ValueError(f"{part!r} is not a term: write it like p99<=50ms or errors<=0.1%")
    name, sign, value = match[1].lower(), {"≤": "<=", "≥": ">="}.get(match[2], match[2]), match[3]
    percentile = _PERCENTILE.fullmatch(name)
    if percentile is None and name not in ("mean", "max", "errors", "achieved"):
        raise ValueError(f"{part!r}: {match[1] or 'nothing'} cannot be bounded: there are {KNOWN}")
    wanted = ">=" if name == "achieved" else "<="
    if sign != wanted:
        bare = name not in ("errors", "achieved") and value.strip()[-1:].isdigit()
        also, unit = (", and a time has a unit", "ms") if bare else ("", "")
        raise ValueError(f"{part!r}: {name} is bounded by {wanted}{also}: write {name}{wanted}{value}{unit}")
    try:
        limit = parse_share(value) if name in ("errors", "achieved") else parse_duration(value)
    except ValueError as error:
        raise ValueError(f"{part!r}: {error}") from None
    if name == "errors":
        if limit >= 1.0:
            raise ValueError(f"{part!r} lets everything fail: write a smaller share, such as 0.1%")
        return Condition("errors", limit)
    if name == "achieved":
        if limit <= 0.0:
            raise ValueError(f"{part!r} is met by a server that answers nothing: write a share such as 99%")
        return Condition("achieved", limit)
    if limit <= 0.0:
        raise ValueError(f"{part!r}: no answer takes no time: write a time such as 50ms")
    if percentile is None:
        return Condition("mean", limit) if name == "mean" else Condition("max", limit, 1.0)
    quantile = float(percentile[1]) / 100.0
    if quantile <= 0.0:
        raise ValueError(f"{part!r}: a percentile lies above 0: write p50, p99 or p99.9")
    return Condition("percentile", limit, quantile)
