"""Numbers as people read them.

A ratio is written in one way everywhere: 1.18×, 0.043×; its interval with both ends like it (`ratio`, `interval`).
Sentences about speed say `faster` between a half and twice, and the ratio itself outside of that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bakeoff.core.units import names as names
from bakeoff.core.units import plural as plural
from bakeoff.load.load_step import LoadStep

MISSING = "–"
# Ratios below have more decimals.
SMALL = 0.1
MOST_PLACES = 6
HUGE = 1e6


def count(value: float) -> str:
    """A whole number with thousands separators."""
    return MISSING if not math.isfinite(value) else f"{value:,.0f}"


def rate(value: float) -> str:
    """A rate: whole from 100 up, four figures below unless it is whole by itself."""
    return count(value) if abs(value) >= 100.0 or value == round(value, 0) else figures(value)


def figures(value: float, digits: int = 4) -> str:
    """`digits` significant figures, thousands separated, never in exponent form from 0.0001 up."""
    if not math.isfinite(value):
        return MISSING
    if value == 0.0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(places, 6)}f}"


def ratio(value: float, low: float = math.nan, high: float = math.nan) -> str:
    """A ratio such as 1.18× or 0.043×, with as many decimals as its interval deserves when that is given."""
    text = _bare_ratio(value, max(_decimals(low, high), _places(value, low, high)))
    return text if text in (MISSING, "∞") else f"{text}×"


def times(value: float, what: str, low: float = math.nan, high: float = math.nan) -> str:
    """ "1.18× the load", "0.0020× the load": what `what` is multiplied by, in a sentence."""
    return f"{ratio(value, low, high)} {what}"


def faster(value: float) -> str:
    """ "17 % faster", "3.0 % slower", "2.40× as fast", "0.0020× as fast", "level"."""
    if not math.isfinite(value) or value <= 0.0:
        return MISSING
    if value >= 2.0 or value <= 0.5:
        return f"{ratio(value)} as fast"
    off = abs(value - 1.0)
    if off < 0.0005:
        return "level"
    share = f"{100 * off:.0f} %" if off >= 0.0995 else f"{100 * off:.1f} %"
    return f"{share} {'faster' if value > 1.0 else 'slower'}"


def percent_more(value: float) -> str:
    """What a ratio is in percent of the baseline: "78 % less", "355 % more"; "the same" of 1."""
    if not 0.0 < value < HUGE:
        return MISSING
    share = 100 * abs(value - 1.0)
    if share < 0.05:
        return "the same"
    return f"{share:,.0f} % {_way(value)}" if share >= 9.95 else f"{share:.1f} % {_way(value)}"


def _way(value: float) -> str:
    return "more" if value > 1.0 else "less"


def percent_both_ways(value: float, contender: str, baseline: str) -> str:
    """A ratio in percent of either: one is 78 % less than the other, and the other 355 % more than the first."""
    if not 0.0 < value < HUGE:
        return MISSING
    own, other = ("1 − ratio", "1 ÷ ratio − 1") if value < 1.0 else ("ratio − 1", "1 − 1 ÷ ratio")
    there, back = percent_more(value), percent_more(1.0 / value)
    return f"{there} than {baseline} ({own}), and {baseline} {back} than {contender} ({other})"


def interval(low: float, high: float) -> str:
    """The bounds of a ratio: 1.12–1.24. A narrow interval gets more decimals, so that its ends differ; where nothing
    varied, which is no interval, the one figure stands alone.
    """
    if math.isnan(low) or math.isnan(high):
        return MISSING
    decimals = max(_decimals(low, high), _places(low, low, high))
    while decimals < MOST_PLACES and low < high and _bare_ratio(low, decimals) == _bare_ratio(high, decimals):
        decimals += 1
    ends = [_bare_ratio(low, decimals), _bare_ratio(high, decimals if low >= SMALL or high < 1.0 else 2)]
    return "–".join(dict.fromkeys(ends))


def _places(value: float, low: float, high: float) -> int:
    """The decimals of a small ratio, or of one whose interval begins with one: two figures."""
    least = min((one for one in (value, low) if one > 0.0), default=1.0)
    small = least < SMALL and (value < 1.0 or math.isnan(high))
    return min(1 - math.floor(math.log10(least)), MOST_PLACES) if small else 0


def _decimals(low: float, high: float) -> int:
    width = high - low
    if not math.isfinite(width):
        return 2
    decimals = 2 if width >= 0.02 else 3 if width >= 0.002 else 4
    while decimals < 4 and any(_is_taken_for_one(end, decimals) for end in (low, high)):
        decimals += 1
    return decimals


def _is_taken_for_one(end: float, decimals: int) -> bool:
    """Whether an end that is not 1 would be printed as 1, and a verdict beside it look wrong."""
    return end not in (0.0, 1.0) and 1.0 in (round(end, decimals), round(1.0 / end, decimals))


def _bare_ratio(value: float, decimals: int) -> str:
    if math.isnan(value):
        return MISSING
    if math.isinf(value) or value >= HUGE:
        return "∞"
    if value >= 100.0:
        return f"{value:,.0f}"
    if value >= 10.0:
        return f"{value:.1f}"
    if value and value < 10.0**-MOST_PLACES:
        return "< 0.000001"
    return f"{value:.{decimals}f}"


def percent(share: float) -> str:
    """A share as a percentage with enough figures to tell it from zero."""
    if not math.isfinite(share):
        return MISSING
    value = share * 100.0
    if value == 0.0:
        return "0 %"
    if value < 0.001:
        return "< 0.001 %"
    return f"{value:.3g} %" if value < 10.0 else f"{value:.0f} %"


def plus_minus(centre: float, low: float, high: float) -> str:
    """The interval of a positive figure as a share of it, even on logarithms: " ± 1.2 %"; " ×÷ 2.1" when it is wide;
    empty without an interval.
    """
    if not (centre > 0.0 and low > 0.0 and math.isfinite(high)):
        return ""
    factor = math.sqrt(high / low)
    if factor >= 1.5:
        return f" ×÷ {figures(factor, 2)}"
    share = 100.0 * (factor - 1.0)
    return " ± < 0.01 %" if 0.0 < share < 0.01 else f" ± {figures(share, 2)} %"


def forfeits_of(lost: int, of: int) -> str:
    """ " (failed in 3 of 6)", of trials or of cells that were forfeited; empty when none was."""
    return f" (failed in {lost} of {of})" if lost else ""


def span(low: float, high: float) -> str:
    """ "41,200 – 43,100"; a dash without an interval."""
    if math.isnan(low) or math.isnan(high):
        return MISSING
    return " – ".join(dict.fromkeys((figures(low), figures(high))))


def excess(low: float, high: float) -> str:
    """What two ratios above 1 are more than it: "3.1 to 6.2 %"."""
    ends = [figures(100.0 * (end - 1.0), 2) for end in (low, high)]
    return f"{ends[0]} to {ends[1]} %"


def probability(p: float) -> str:
    """A p value with four decimals."""
    if not math.isfinite(p):
        return MISSING
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def sentence(text: str) -> str:
    """With a capital at its start."""
    return text[:1].upper() + text[1:]


def load_steps(rising: Sequence[LoadStep]) -> str:
    """ "1 load step of 8 clients", "3 load steps from 1 to 8 clients"."""
    if len(rising) == 1:
        return f"1 load step of {rising[0].words}"
    return f"{len(rising)} load steps from {rising[0]} to {rising[-1].words}"


def several(chosen: Sequence[LoadStep]) -> str:
    """ "1, 4 and 8 clients"."""
    return f"{names([str(load_step) for load_step in chosen])} {chosen[0].unit}"


def error(name: str, words: Mapping[str, str]) -> str:
    """A class of errors for people, by the `words` of a kind of suite where it has any: "short body"."""
    return words.get(name, name.replace("_", " "))


def errors(classes: dict[str, int], words: Mapping[str, str]) -> str:
    """Errors by class, most frequent first: "refused 120, short body 3"."""
    ranked = sorted(((name, number) for name, number in classes.items() if number), key=lambda item: -item[1])
    return ", ".join(f"{error(name, words)} {number:,}" for name, number in ranked)


def counted_as(factor: float) -> str:
    """ "as 10 times slower", of what counts so."""
    return f"as {figures(factor, 2)} times slower"
