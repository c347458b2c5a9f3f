"""A comparison of cells in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from bakeoff.compare.cube.cell_form import SizeAxis
from bakeoff.compare.model.cell import (
    Average,
    CachedDespiteFall,
    CacheRule,
    CacheUnknown,
    CacheZone,
    CellLevel,
    CellPair,
    Crossing,
    FewFileSizes,
    NeighbourOutliers,
    NoFall,
    SizeCurve,
    SizePoint,
    WildBlock,
)
from bakeoff.load.load_step import LoadStep
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.file_weights import weights_sentence
from bakeoff.report.narrate.sentences import sentence

TITLES = {
    "write": "write",
    "rewrite": "re-write",
    "read": "read",
    "reread": "re-read",
    "random_read": "random read",
    "random_write": "random write",
    "backward_read": "backward read",
    "record_rewrite": "record re-write",
    "stride_read": "stride read",
    "fwrite": "fwrite",
    "refwrite": "re-fwrite",
    "fread": "fread",
    "refread": "re-fread",
    "repwrite": "re-pwrite",
    "repread": "re-pread",
}
# Curves within 1 % of level are not worth their ends.
FLAT = 0.01
# So many stretches of record sizes, and names of tests, are in a sentence.
MOST_ZONES, MOST_TESTS = 3, 4
WEIGHTED = ", weighted by file sizes"


def title(test: str) -> str:
    """The name of a test for people: "re-read" for `reread`."""
    return TITLES.get(test, test.replace("_", " "))


def size(kib: float | None, digits: int = 4) -> str:
    """ "64 KiB", "2 MiB", "512 B"; "mixed" for a cell without a size."""
    if kib is None:
        return "mixed"
    for unit, scale in (("GiB", 2.0**20), ("MiB", 2.0**10), ("KiB", 1.0)):
        if kib >= scale:
            return f"{float(f'{kib / scale:.{digits}g}'):g} {unit}"
    return f"{float(f'{kib * 1024:.{digits}g}'):g} B"


def longest_or_p99(level: CellLevel) -> str:
    """Its p99 in ms, or "max 5.63": the longest time, of too few transfers for a percentile."""
    if math.isfinite(level.p99_ms.centre):
        return wording.figures(level.p99_ms.centre, 3)
    if math.isfinite(level.longest_ms):
        return f"max {wording.figures(level.longest_ms, 3)}"
    return wording.MISSING


@dataclass(frozen=True)
class CellRange:
    """The cells of one test of one contender at one load step: their geometric mean in KiB/s, and both ends."""

    cells: int
    mean_kib_s: float
    lowest: CellLevel
    highest: CellLevel

    @property
    def rates_kib_s(self) -> tuple[float, float, float]:
        """Mean, minimum and maximum."""
        return self.mean_kib_s, self.lowest.kib_s.centre, self.highest.kib_s.centre


def ranges(levels: Iterable[CellLevel]) -> tuple[CellRange, ...]:
    """One for each contender, load step and test that has a rate, in the order of `levels`."""
    groups: dict[tuple[str, LoadStep, str], list[CellLevel]] = {}
    for level in levels:
        if level.blocks:
            groups.setdefault((level.contender, level.load_step, level.test), []).append(level)
    return tuple(
        CellRange(
            len(group),
            math.exp(math.fsum(math.log(level.kib_s.centre) for level in group) / len(group)),
            min(group, key=lambda level: level.kib_s.centre),
            max(group, key=lambda level: level.kib_s.centre),
        )
        for group in groups.values()
    )


def opening(pair: CellPair) -> str:
    """How all cells of a pair ended."""
    return f"{pair.contender} against {pair.baseline}, {won(pair.overall, pair)}."


def pair_summary(pair: CellPair) -> tuple[str, ...]:
    """All cells together: what they are weighted by, those won, the region of small files, crossings, cached cells and
    outliers.
    """
    form = pair.form
    sentences = [] if pair.weights is None else [weights_sentence(pair.weights, pair.measured)]
    sentences.append(opening(pair))
    sentences += [f"In the {region.words} {pair.contender} is {_overall(region.average)}." for region in pair.regions]
    for axis in form.axes:
        curve = pair.curve("", axis.key)
        if curve:
            sentences.append(f"By {axis.name}, over all {form.tests}: {pair.contender} is {_along(curve, axis)}.")
    cached = pair.cached_cells
    if cached:
        left = f"without them {pair.contender} is {_overall(pair.uncached)}" if pair.uncached else "no other is left"
        cells = f"{wording.plural(cached, 'cell')} of {pair.overall.cells:,}"
        sentences.append(f"{cells} can only be explained by a cache (marked{_whose(pair)}); {left}.")
    if pair.without_outliers:
        number = pair.overall.cells - pair.without_outliers.cells
        what = "1 outlier is" if number == 1 else f"{number:,} outliers are"
        sentences.append(
            f"{what} counted in the average and listed; without {'it' if number == 1 else 'them'} "
            f"{pair.contender} is {_overall(pair.without_outliers)}."
        )
    return tuple(sentences)


def _whose(pair: CellPair) -> str:
    """Whose rates a cache explains, where these are not those of both in every cell so marked."""
    cached = [cell.cached for cell in pair.cells if cell.cached and math.isfinite(cell.ratio)]
    both = (pair.baseline, pair.contender)
    if all(set(names) == set(both) for names in cached):
        return ""
    numbers = {name: number for name in both if (number := sum(name in names for names in cached))}
    if len(numbers) == 1:
        return f"; of {next(iter(numbers))} alone"
    return f"; {', '.join(f'{number:,} of {name}' for name, number in numbers.items())}"


def won(average: Average, pair: CellPair) -> str:
    """How the cells ended, in shares."""
    if average.open == average.cells:
        return (
            f"{wording.plural(average.cells, 'cell')}: faster in {average.above:,}, slower in "
            f"{average.cells - average.above:,} by the numbers alone (too few blocks to tell chance from difference)"
        )
    parts = [(average.ahead, "won"), (average.behind, "lost"), (average.tied, "without a shown difference")]
    if average.open:
        parts.append((average.open, "with too few blocks"))
    if average.cells == 1:
        return f"1 cell: {next(word for number, word in parts if number)}"
    shares = [f"{number:,} {word} ({number / average.cells:.0%})".replace("%", " %") for number, word in parts]
    return f"{wording.plural(average.cells, 'cell')}: {wording.names(shares)}"


def sentences_of_tests(pair: CellPair) -> tuple[str, ...]:
    """A sentence for each test."""
    form, sentences = pair.form, []
    for average in pair.tests:
        known = ((axis, pair.curve(average.name, axis.key)) for axis in form.axes)
        along = next((f"; {_along(curve, axis)}" for axis, curve in known if curve), "")
        name = title(average.name)
        name = f"{name[0].upper()}{name[1:]}"
        sentences.append(f"{name}: {pair.contender} is {_overall(average)}{along}.")
    return tuple(sentences)


def _overall(average: Average) -> str:
    text = f"{wording.faster(average.ratio)} overall{WEIGHTED if average.weighted else ''}"
    if math.isnan(average.low):
        return f"{text} by the numbers alone"
    unsure = ", which includes 1" if average.low <= 1.0 <= average.high else ""
    return f"{text} ({wording.interval(average.low, average.high)}{unsure})"


def _along(curve: SizeCurve, axis: SizeAxis) -> str:
    """The curve in words: where it is ahead and behind, or its ends when it keeps to one side."""
    if not curve.crossings:
        ends = sorted((min(curve.points, key=_ratio), max(curve.points, key=_ratio)), key=lambda p: p.size_kib)
        flat = all(abs(math.log(point.ratio)) < FLAT for point in ends)
        text = "within 1 % at all sizes" if flat else ", ".join(_at(point, axis) for point in ends)
        both = not flat and min(point.ratio for point in ends) < 1.0 < max(point.ratio for point in ends)
        # One of the two sides may be chance: then where 1.00 is crossed cannot be said.
        return f"{text}; {'no crossing of 1.00 is shown' if both else 'no crossing of 1.00'}"
    first, crossing = curve.points[0], curve.crossings[0]
    parts = [_at(first, axis)] if abs(first.ratio - 1.0) >= 0.0005 else []
    parts.append(_crossed(crossing, axis))
    more = curve.crossings[1:]
    if len(more) > 1:
        parts.append(f"then {len(more)} more crossings")
    else:
        parts += [f"{'behind' if c.falls else 'ahead'} again from {size(c.first_kib)}" for c in more]
    return ", ".join(parts)


def _ratio(point: SizePoint) -> float:
    return point.ratio


def _at(point: SizePoint, axis: SizeAxis) -> str:
    return f"{wording.faster(point.ratio)} at {axis.at.format(size(point.size_kib))}"


def _crossed(crossing: Crossing, axis: SizeAxis) -> str:
    now, before = ("behind", "ahead") if crossing.falls else ("ahead", "behind")
    return (
        f"{now} from {axis.at.format(size(crossing.first_kib))} on (last {before} at {size(crossing.last_kib)}, "
        f"1.00 is crossed near {size(crossing.near_kib, 2)}{_shown(crossing)})"
    )


def _shown(crossing: Crossing) -> str:
    return "" if crossing.shown else " by the numbers alone"


def crossing_words(curve: SizeCurve) -> str:
    """All crossings of a curve: "falls below 1.00 near 90 KiB"; "none" when there are none."""
    crossings = [
        f"{'falls below' if c.falls else 'rises above'} 1.00 near {size(c.near_kib, 2)}{_shown(c)}"
        for c in curve.crossings
    ]
    return ", ".join(crossings) or "none"


def cache_rule(rule: CacheRule) -> list[str]:
    """Where caching is strong, weak and none, in sentences; and where that cannot be told, with the reason."""
    more = [f"{len(rule.tests) - MOST_TESTS} more"] if len(rule.tests) > MOST_TESTS else []
    tests_ = wording.names([title(test) for test in rule.tests[:MOST_TESTS]] + more)
    at = "" if rule.load_step.is_one else f" at {rule.load_step.words}"
    of = f"of {rule.contender}{at} ({tests_})"
    texts = []
    if rule.zones:
        shown_ = rule.zones[:MOST_ZONES]
        rest = len(rule.zones) - len(shown_)
        left = f"; {rest} more in the table" if rest else ""
        zones = "; ".join(f"{_records(zone)}: {_zone(zone)}" for zone in shown_)
        texts.append(f"Caching {of} by the jump of its rates: {zones}{left}.")
    reasons: dict[str, list[CacheUnknown]] = {}
    for one in rule.unknown:
        reasons.setdefault(sentence(one.why), []).append(one)
    for why, unknown in reasons.items():
        records = wording.names([_records(one) for one in unknown[:MOST_ZONES]])
        texts.append(f"Where caching {of} ends is not known {records}: {why}.")
    return texts


def _zone(zone: CacheZone) -> str:
    weak = ", nothing was measured between"
    if zone.weak_kib:
        ends = dict.fromkeys((zone.weak_kib[0], zone.weak_kib[-1]))
        weak = f", weak at {' to '.join(size(kib) for kib in ends)}"
    last = "" if zone.levelled else ", the largest measured, so that the fall may go on"
    return (
        f"strong for files to {size(zone.strong_kib)}{weak}, none from {size(zone.none_kib)} on "
        f"({wording.figures(zone.fall, 2)} times slower{last})"
    )


def _records(one: CacheZone | CacheUnknown) -> str:
    if one.record_low_kib == one.record_high_kib:
        return f"with {size(one.record_low_kib)} records"
    return f"with records of {size(one.record_low_kib)} to {size(one.record_high_kib)}"


@sentence.register
def _(why: FewFileSizes) -> str:
    return f"fewer than {why.least} file sizes were measured"


@sentence.register
def _(why: NoFall) -> str:
    return f"up to {size(why.largest_kib)} files rates do not fall by {why.times:g} times: all is cached, or nothing is"


@sentence.register
def _(why: CachedDespiteFall) -> str:
    return (
        f"rates fall by {why.fall:.2g} times, but files of {size(why.largest_kib)} came from a cache as well: disk, "
        "wire and link carried too little"
    )


@sentence.register
def _(why: NeighbourOutliers) -> str:
    return f"{why.ratio:.2f}× among neighbours at {why.around:.2f}×"


@sentence.register
def _(why: WildBlock) -> str:
    return f"{why.ratio:.2f}× in one block, {why.others:.2f}× in the others"
