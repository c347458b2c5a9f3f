"""What each factor does: effects and interactions with intervals, where the contenders are combinations of levels."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bakeoff.compare.model.factor import Effect, FactorComparison, Plane
from bakeoff.report.blocks.severity import SEVERITIES
from bakeoff.report.blocks.tree import Block, Bullets, Chart, Column, Section, SeverityText, Table, Text
from bakeoff.report.charts.axes import Named, Ratios
from bakeoff.report.charts.bars import bars
from bakeoff.report.charts.lines import lines
from bakeoff.report.charts.theme import Row, known
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.layout.rates import reach
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.factors import (
    effect_words,
    factor_sentences,
    in_headline,
    label,
    levels_words,
    not_estimated,
    title_words,
    without_level,
)
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.verdict.qualifications import noted

# More effects than this are for looking things up.
MOST = 20
COLUMNS = (
    Column("Effect", numeric=False),
    Column("Ratio"),
    Column("95 % interval"),
    Column("Verdict", numeric=False),
    Column("Blocks", spare=1),
    Column("p (t)", spare=4),
    Column("p (Holm)", spare=1),
    Column("p (sign flip)", spare=3),
    Column("p (equivalence)", spare=2),
)

MAIN, JOINT = "main effect", "interaction"


@report_section("factors", ReportPart.FRONT, Detail.SUMMARY)
def section(context: Context) -> Section | None:
    """The effects on what decides, at each load step, on the rest, and how two factors go together."""
    found = context.comparison.factors
    if found is None:
        return None
    blocks: list[Block] = [Text(_explained(context, found), detail=Detail.COMPARISON)]
    blocks += _levels(context, found)
    blocks += [Text(text, "warning", detail=Detail.SUMMARY) for text in not_estimated(found)]
    blocks.append(_effects(context, found))
    if not in_headline(context.comparison):
        whole = context.comparison
        sentences = factor_sentences(found, whole.measures[0], whole.run.delta)
        blocks.append(Bullets(tuple(one.text for one in sentences), Detail.COMPARISON))
    numbered = [effect for effect in found.effects if effect.estimated]
    if numbered:
        blocks.append(_picture(context, found, numbered[:MOST]))
    blocks += [chart for plane in found.planes if (chart := _plane(context, found, plane)) is not None]
    blocks += _by_level(found)
    if len(found.effects[0].points) > 1:  # of a search there is one load for each contender
        blocks.append(_over_load_steps(context, found))
    blocks += _explaining(found)
    return Section("Factors", tuple(blocks))


def _unit(context: Context, found: FactorComparison) -> str:
    """What the ratios are of, in a few words."""
    first = found.effects[0]
    rate = first.higher_is_better and first.metric == "rate"
    return context.comparison.run.rate_unit if rate else f"{first.title[0].lower()}{first.title[1:]}"


def _explained(context: Context, found: FactorComparison) -> str:
    info = context.comparison.run
    sizes = " × ".join(f"{factor.name} ({', '.join(factor.levels)})" for factor in found.factors)
    number, outside = len(found.combinations), without_level(context.comparison)
    who = f"{number} of the {number + len(outside)}" if outside else f"The {number}"
    several = len(found.factors) > 1
    mean = ", as a mean over the levels of the others. An interaction is the ratio of two such effects" * several
    text = (
        f"{who} contenders are combinations of {sizes}. An effect is the ratio of two contenders that differ in one "
        f"factor, in the same block{mean}. Intervals and tests are over blocks (t); the Holm correction counts "
        f"{wording.plural(found.family, 'effect')}."
    )
    if not several:
        return text
    return (
        f"{text} “The same” means that the whole interval of the interaction lies within "
        f"±{wording.percent(info.delta)}. An interaction that is not shown may still exist."
    )


def _levels(context: Context, found: FactorComparison) -> list[Block]:
    """Who has which level, where some have none."""
    outside = without_level(context.comparison)
    if not outside and not found.is_partial:
        return []
    levels = {one.contender: one.levels for one in found.combinations}
    names = [contender.name for contender in context.comparison.contenders]
    columns = (Column("Contender", numeric=False), *(Column(factor.name, numeric=False) for factor in found.factors))
    rows = tuple(
        (name, *(levels.get(name, {}).get(factor.name, wording.MISSING) for factor in found.factors)) for name in names
    )
    note = f"{wording.MISSING}: no level of this factor. The contender takes no part in its effect."
    return [Table("Levels of the contenders", columns, rows, note, detail=Detail.SUMMARY)]


def _effects(context: Context, found: FactorComparison) -> Table:
    rows = tuple(_row(effect, "") for effect in found.effects)
    unit = _unit(context, found)
    better = "above 1 is better" if found.effects[0].higher_is_better else "below 1 is better"
    verdicts = [effect.verdict for effect in found.effects]
    gates = [gate for verdict in verdicts for gate in verdict.reasons if gate not in verdict.decisive]
    note = f"Ratios of {unit} over the load steps, {better}; Holm over {wording.plural(found.family, 'effect')}."
    if len(found.factors) > 1:
        note += " × marks interactions: the factor by which one effect is larger at the other level."
    if gates:
        note += f" Note: {'; '.join(noted(gates))}."
    return Table("Effects of the factors", COLUMNS, rows, note, folded=len(rows) > 2 * MOST, detail=Detail.SUMMARY)


def _row(effect: Effect, of: str) -> tuple[str, ...]:
    p_values = (effect.p_t, effect.p_adjusted, effect.p_sign_flip, effect.p_equivalence_adjusted)
    known_ = effect.estimated
    return (
        f"{of}{title_words(effect)}",
        wording.ratio(effect.ratio, effect.low, effect.high) if known_ else wording.MISSING,
        wording.interval(effect.low, effect.high) if known_ else wording.MISSING,
        _effect_verdict(effect),
        f"{effect.blocks}",
        *(wording.probability(p) for p in p_values),
    )


def _effect_verdict(effect: Effect) -> SeverityText:
    """An interaction that is shown is no praise."""
    kind = effect.verdict.kind
    if kind == "shown":
        return SeverityText(sentence(effect.verdict), "good" if effect.is_main else "warning")
    return SeverityText(sentence(effect.verdict), SEVERITIES.get(kind, "bad"))


def _picture(context: Context, found: FactorComparison, effects: Sequence[Effect]) -> Chart:
    rows: list[Row] = [
        {
            "effect": effect_words(effect) if effect.is_main or _is_alone(found, effect) else levels_words(effect),
            "contender": MAIN if effect.is_main else JOINT,
            "ratio": known(effect.ratio),
            "low": known(effect.low),
            "high": known(effect.high),
            "shown": effect.verdict.kind == "shown",
        }
        for effect in effects
    ]
    unit, delta = _unit(context, found), context.comparison.run.delta
    title = f"Effects of the factors on {unit}"
    subtitle = f"95 % intervals over blocks; filled: shown; shaded: ±{wording.percent(delta)}, which does not matter"
    which = "each main effect and interaction"
    if len(effects) < found.family:
        which = f"the first {len(effects)} of {found.family} main effects and interactions"
        subtitle = f"{which}; {subtitle}"
    drawing = bars(
        rows,
        (MAIN, JOINT),
        Named("effect", [row["effect"] for row in rows], ""),
        Ratios(f"ratio of {unit}, log scale", delta),
        (title, subtitle),
        delta,
        flat=True,
    )
    table = Table(title, COLUMNS[:4], tuple(_row(effect, "")[:4] for effect in effects))
    text = f"{title}: {which} as a ratio with its interval, on a logarithmic axis."
    return Chart("chart-factors", title, text, drawing, table)


def _is_alone(found: FactorComparison, effect: Effect) -> bool:
    return sum(other.factors == effect.factors for other in found.effects) == 1


def _plane(context: Context, found: FactorComparison, plane: Plane) -> Chart | None:
    """A line for each level of the first factor, over the levels of the second."""
    named = {factor.name: factor.levels for factor in found.factors}
    one, other = plane.factors
    cells = [cell for cell in plane.cells if cell.blocks]
    if len(cells) < 2:
        return None
    rows = [
        {
            "contender": label(one, cell.levels[0]),
            "level": cell.levels[1],
            "ratio": known(cell.ratio),
            "low": known(cell.low),
            "high": known(cell.high),
        }
        for cell in cells
    ]
    unit = _unit(context, found)
    first = f"{label(one, named[one][0])}, {label(other, named[other][0])}"
    title = f"{one} × {other}"
    drawing = lines(
        rows,
        [label(one, level) for level in named[one]],
        Named("level", named[other], other),
        Ratios(f"ratio of {unit}, log scale"),
        (title, f"parallel lines: no interaction; 1 is {first}"),
    )
    columns = (Column(one, numeric=False), *(Column(label(other, level)) for level in named[other]))
    at = {cell.levels: reach(cell.ratio, cell.low, cell.high) for cell in cells}
    filled = tuple(
        (label(one, level), *(at.get((level, across), wording.MISSING) for across in named[other]))
        for level in named[one]
    )
    table = Table(f"{unit}: ratio to {first}", columns, filled)
    text = f"Ratio of {unit} to {first} by {other}, a line for each {one}; parallel lines mean no interaction."
    return Chart(f"chart-factors-{1 + found.planes.index(plane)}", title, text, drawing, table)


def _by_level(found: FactorComparison) -> list[Block]:
    """Each main effect at each level of each other factor."""
    rows = []
    for effect in found.effects:
        for at in effect.at:
            number = reach(at.ratio, at.low, at.high) if at.blocks else "cannot be estimated"
            rows.append((effect_words(effect), label(at.factor, at.level), number, f"{at.blocks}"))
    if not rows:
        return []
    columns = (Column("Effect", numeric=False), Column("Where", numeric=False), Column("Ratio"), Column("Blocks"))
    note = "Each with an interval of its own (95 %), not corrected: whether two differ is the interaction's to say."
    return [
        Table("Effects by the other factors", columns, tuple(rows), note, len(rows) > MOST, detail=Detail.COMPARISON)
    ]


def _over_load_steps(context: Context, found: FactorComparison) -> Table:
    """Main effects and interactions of two at each load step."""
    chosen = [effect for effect in found.effects if len(effect.factors) < 3 and effect.estimated]
    columns = [Column("Effect", numeric=False), *(Column(str(point.load_step)) for point in found.effects[0].points)]
    rows = tuple(
        (title_words(effect), *(_point(point.blocks, point.ratio, point.low, point.high) for point in effect.points))
        for effect in chosen
    )
    level = 100.0 * chosen[0].level if chosen else math.nan
    note = (
        f"Bands hold for all load steps of an effect together, each effect at {level:.4g} %, so that all may be read."
    )
    title = f"Effects at each load step ({context.load_step_unit})"
    return Table(title, tuple(columns), rows, note, len(rows) > MOST, detail=Detail.COMPARISON)


def _point(blocks: int, ratio: float, low: float, high: float) -> str:
    return reach(ratio, low, high) if blocks else wording.MISSING


def _explaining(found: FactorComparison) -> list[Block]:
    """The effects on the other metrics, which decide nothing."""
    if not found.explaining:
        return []
    rows = tuple(_row(effect, f"{effect.title}: ") for effect in found.explaining)
    family = sum(effect.estimated for effect in found.explaining)
    over = f"these {family} together" if family == len(rows) else f"the {family} of these that can be estimated"
    note = (
        "These explain and do not decide. Rates and throughput: above 1 is better; response times: below 1 is better. "
        f"Holm over {over}."
    )
    return [Table("Effects on the other figures", COLUMNS, rows, note, folded=True, detail=Detail.COMPARISON)]
