"""The key figures of each contender, the verdict on each pair, and what to beware of."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from bakeoff.compare.estimate.intervals import turned
from bakeoff.compare.model.comparison import Comparison
from bakeoff.compare.model.pair import Endpoint, Gate, PairComparison, Verdict
from bakeoff.compare.model.ranking import Place
from bakeoff.report.blocks.severity import short_verdict, verdict_cell
from bakeoff.report.blocks.tree import Block, Cards, Column, Section, Severity, SeverityText, Table, Text
from bakeoff.report.charts.palette import place_of
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.layout.rates import rates_table, reach
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.validity.caveat import box
from bakeoff.report.narrate.verdict.qualifications import noted
from bakeoff.report.narrate.warned import warnings_of

# What a ratio of response times says where there is none: with the rule that the plan named.
LITTLE = 0.5
"""Who does less than this of the work of the other, and answers it faster, is better with a word on it."""
FORFEIT_RATES = (
    "a contender that is overloaded alone forfeits that rate; where both are, their answers per second are compared"
)


@report_section("result", ReportPart.FRONT, Detail.SUMMARY)
def section(context: Context) -> Section:
    """What must be known first, the ranking of three and more, cards, and the table of verdicts."""
    comparison = context.comparison
    first = tuple(w for w in warnings_of(comparison) if w.first)
    blocks: list[Block] = [Text(w.text, "bad", w.advice, Detail.SUMMARY) for w in first]
    blocks += [_ranking(context)] if comparison.ranking else []
    places = [place.contender for place in comparison.ranking] or list(context.names)
    by_name = {c.name: c for c in comparison.contenders}
    cards = (context.shape.card(context, by_name[name], place_of(name, context.names)) for name in places)
    blocks.append(Cards(tuple(cards)))
    if comparison.pairs:
        # Of equals the noise floor is the result.
        blocks += [] if comparison.noise is not None else _verdicts(context, comparison.pairs)
        # Imported figures may have none.
        blocks += [_secondary(comparison.pairs)] if any(pair.secondary for pair in comparison.pairs) else []
    if context.cells_alone:
        blocks.append(rates_table(context))  # there is no curve to have it
    return Section("Result", tuple(blocks))


def _verdicts(context: Context, pairs: tuple[PairComparison, ...]) -> list[Block]:
    """The primary endpoint of each pair, and what qualifies it but for what stands above all."""
    rows = []
    gates: list[Gate] = []
    for pair in pairs:
        gates += [gate for gate in pair.primary.gates if gate not in pair.primary.verdict.decisive]
        rows.append((f"{pair.contender} ÷ {pair.baseline}", *_cells(pair.primary)))
    info = context.comparison.run
    holm = f"; Holm over {len(pairs)} pairs" if len(pairs) > 1 else ""
    unit = context.load_step_unit
    weights = f", geometric mean over the load steps, each weighted by its width on a logarithmic axis of {unit}"
    over = "" if len(info.load_steps) == 1 or context.comparison.capacity else weights
    end = pairs[0].primary
    better = "above 1 is better" if end.higher_is_better else f"below 1 is better; {FORFEIT_RATES}"
    unit = info.rate_unit if end.higher_is_better else "ms"
    note = f"Primary endpoint: {_endpoint(end.title, unit)}{over}; {better}. δ = {wording.percent(info.delta)}{holm}."
    note += _turned(pairs)
    detail = Detail.SUMMARY if context.comparison.ranking else Detail.COMPARISON
    table = Table("Verdicts", (Column("Pair", numeric=False), *_COLUMNS), tuple(rows), note, detail=detail)
    caveat = box(context.comparison.caveat)
    clauses = [clause for clause in noted(gates) if clause not in caveat]
    return [table, *([Text(f"Note: {'; '.join(clauses)}.", detail=detail)] if clauses else [])]


def _turned(pairs: tuple[PairComparison, ...]) -> str:
    """Small ratios the other way round, said once. A contender that forfeited all has none."""
    measured = [(pair, pair.primary) for pair in pairs if not pair.primary.all_forfeited]
    small = [(pair, end) for pair, end in measured if end.low > 0.0 and end.ratio < LITTLE]
    parts = [
        f"{pair.baseline} ÷ {pair.contender} {wording.ratio(1 / end.ratio, *turned(end.low, end.high))}"
        for pair, end in small
    ]
    return f" The other way round: {'; '.join(parts)}." if parts else ""


def _ranking(context: Context) -> Table:
    """Who stands where, with the ratio to the baseline."""
    comparison = context.comparison
    info = comparison.run
    columns = (
        Column("Place", numeric=False),
        Column("Contender", numeric=False),
        Column(f"÷ {info.baseline}"),
        Column("Better than", numeric=False, spare=1),
        Column("Order not certain to", numeric=False),
    )
    rows = []
    for place in comparison.ranking:
        settled = {place.contender, *place.better_than, *place.worse_than}
        others = [other.contender for other in comparison.ranking if other.contender not in settled]
        ratio = "1" if place.contender == info.baseline else _ratio_of(comparison, place)
        lists = (wording.names(list(names)) or wording.MISSING for names in (place.better_than, others))
        severity: Severity = "good" if place.contender == comparison.winner else "plain"
        rows.append((SeverityText(place.words, severity), place.contender, ratio, *lists))
    note = (
        "One stands above another only where the verdict on their pair says that it is better, Holm-corrected over "
        f"{_all(comparison)}; inside a shared place the ratio to {info.baseline} orders."
    )
    return Table("Ranking", columns, tuple(rows), note, detail=Detail.SUMMARY)


def _all(comparison: Comparison) -> str:
    pairs = wording.plural(len(comparison.pairs), "pair")
    return f"all {pairs}" if comparison.joined is None else f"the {pairs} of which a file has both"


def _ratio_of(comparison: Comparison, place: Place) -> str:
    ends = (pair.primary for pair in comparison.pairs if pair.baseline == comparison.run.baseline)
    own = (end.all_forfeited for end in ends if place.contender in end.forfeited)
    return reach(place.ratio, place.low, place.high, next(own, ""))


def _endpoint(title: str, unit: str) -> str:
    """ "requests/s", "geometric mean of 104 cells (KiB/s)"."""
    words = title[0].lower() + title[1:]
    return words if unit in words else f"{words} ({unit})"


def _secondary(pairs: tuple[PairComparison, ...]) -> Table:
    rows = tuple(
        (
            f"{end.title}: {pair.contender} ÷ {pair.baseline}",
            *_cells(end, partial(_verdict_with_work, pair.primary, end)),
        )
        for pair in pairs
        for end in pair.secondary
    )
    note = (
        "These explain the primary endpoint and do not decide. Rates and throughput: above 1 is better; "
        "response times: below 1 is "
        f"better. Holm over these {len(rows)} together."
    )
    columns = (Column("Endpoint", numeric=False), *_COLUMNS)
    return Table("Secondary endpoints", columns, rows, note, folded=True, detail=Detail.COMPARISON)


_COLUMNS = (
    Column("Ratio"),
    Column("95 % interval"),
    Column("Verdict", numeric=False),
    Column("Blocks", spare=1),
    Column("p (t)", spare=4),
    Column("p (Holm)"),
    Column("p (sign flip)", spare=2),
    Column("p (equivalence)", spare=3),
)


def _verdict_with_work(primary: Endpoint, end: Endpoint, verdict: Verdict) -> SeverityText:
    """The verdict on a response time, with how little was done in it by who answers faster."""
    cell = short_verdict(verdict)
    if verdict.winner is None or end.higher_is_better or not primary.higher_is_better:
        return cell
    # Of a time that is less the first of the pair is the winner.
    share = primary.ratio if end.ratio < 1.0 else 1.0 / primary.ratio if primary.ratio > 0.0 else math.inf
    return SeverityText(f"{cell}, at {wording.ratio(share)} the work", "warning") if share < LITTLE else cell


def _cells(end: Endpoint, verdict: Callable[[Verdict], SeverityText] = verdict_cell) -> tuple[str, ...]:
    p_values = (end.p_t, end.p_adjusted, end.p_sign_flip, end.p_equivalence_adjusted)
    return (
        f"{end.all_forfeited} forfeited all" if end.all_forfeited else wording.ratio(end.ratio, end.low, end.high),
        wording.MISSING if end.all_forfeited else wording.interval(end.low, end.high),
        verdict(end.verdict),
        f"{end.blocks}",
        *(wording.probability(p) for p in p_values),
    )
