"""Tables of what an author gave: prices and what is got for them, features, work of administrators, pros and cons, and
tables with columns of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from bakeoff.compare.model.comparison import Comparison, ContenderSummary
from bakeoff.core.errors import PlanError
from bakeoff.disclosure.paper.model import Cell, Paper
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.report.blocks.tree import Block, Column, Section, Severity, SeverityText, Table, Text
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.narrate import wording

BY = "Stated by the author, not found by Bakeoff."
UNSHOWN = f"{BY} An answer without a number has no evidence."
UNSEEN = " (no evidence)"
UNSTATED = "not stated"
SEVERITIES: Mapping[str, Severity] = {"yes": "good", "no": "bad", "partly": "warning"}


def author_tables(paper: Paper, names: tuple[str, ...], comparisons: Mapping[str, Comparison]) -> list[Section]:
    """The sections that the paper gives something for. Raises PlanError for contenders that are not in the run."""
    named: list[tuple[str, Iterable[str]]] = [("[contenders]", paper.contenders)]
    named += [("[[features]]", row.answers) for row in paper.features]
    named += [("[[administration]]", row.times) for row in paper.administration]
    for where, known in named:
        for name in known:
            if name not in names:
                raise PlanError(f"{paper.origin} {where}: {name!r} is no contender here: {did_you_mean(name, names)}")
    made = (_prices(paper, names, comparisons), _features(paper, names), _administration(paper, names))
    return [section for section in (*made, _pros_and_cons(paper, names), _own_tables(paper)) if section is not None]


def _prices(paper: Paper, names: tuple[str, ...], comparisons: Mapping[str, Comparison]) -> Section | None:
    totals = {name: about.price.total(paper.price.years) for name, about in paper.contenders.items() if about.price}
    if not totals:
        return None
    blocks: list[Block] = [_costs(paper, names, totals)]
    for suite, comparison in comparisons.items():
        unit = paper.price.currency
        blocks += [_for_money(comparison, suite, totals, unit), Text(cheapest(comparison, suite, totals, unit))]
    return Section("Prices", tuple(blocks), "author-prices", ReportPart.AUTHOR)


def _costs(paper: Paper, names: tuple[str, ...], totals: Mapping[str, float]) -> Table:
    years, unit = f"{paper.price.years:g} years", paper.price.currency
    rows = []
    for name in names:
        about = paper.contenders.get(name)
        price = about.price if about else None
        if price is None:
            rows.append((name, *[UNSTATED] * 4))
        else:
            money = (price.cost, price.per_year, totals[name])
            rows.append((name, *map(_money, money), price.availability or UNSTATED))
    titles = ("Once", "Each year", f"Over {years}")
    columns = (Column("Contender", False), *(Column(f"{t}, {unit}") for t in titles), Column("Available", False))
    return Table("Prices", columns, tuple(rows), BY)


def _money(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.2f}"


def _for_money(comparison: Comparison, suite: str, totals: Mapping[str, float], unit: str) -> Table:
    """What is got for money. A price is no measurement: intervals are those of the speed."""
    rows = []
    base = comparison.run.baseline
    ratios = {pair.contender: pair.primary for pair in comparison.pairs if pair.baseline == base}
    for contender in comparison.contenders:
        total, name = totals.get(contender.name), contender.name
        peak = math.nan if contender.peak_is_bimodal or not total else contender.peak / total
        known = name in ratios and total and totals.get(base)
        factor = totals[base] / total if known and total else math.nan
        found = ratios.get(name)
        if name == base:
            words = "1"
        elif found is None or not math.isfinite(factor) or not found.higher_is_better:
            words = wording.MISSING
        elif found.verdict.kind in ("withheld", "disqualified"):
            words = SeverityText(found.verdict.kind, "bad")
        else:
            ends = (found.ratio * factor, found.low * factor, found.high * factor)
            interval = "" if math.isnan(found.low) else f" ({wording.interval(*ends[1:])})"
            words = f"{wording.ratio(*ends)}{interval}"
        rows.append((name, _no_peak(contender, total) or wording.figures(peak), words))
    what = f"{comparison.run.rate_unit} at the peak for each {unit}"
    columns = (Column("Contender", False), Column(what), Column(f"For the same money ÷ {base}"))
    title = comparison.pairs[0].primary.title if comparison.pairs else comparison.run.rate_unit
    note = f"The last column is {title} over all load steps, divided by the price: above 1 is more for the same \
money where more is better. Its interval is that of the speed, as a price has none."
    return Table(f"{suite}: what is got for the price", columns, tuple(rows), note)


def _no_peak(contender: ContenderSummary, total: float | None) -> str:
    """Why a contender has no figure for its price; empty where it has one."""
    if total is None:
        return "no price"
    return "no one peak: blocks differ" if total and contender.peak_is_bimodal else ""


def cheapest(comparison: Comparison, suite: str, totals: Mapping[str, float], unit: str) -> str:
    """Who is cheapest of those that the verdicts show to be as fast as any other, within δ."""
    names = [contender.name for contender in comparison.contenders]
    shown: dict[str, set[str]] = {name: set() for name in names}
    for pair in comparison.pairs:
        verdict = pair.primary.verdict
        if verdict.kind == "equivalent":
            shown[pair.contender].add(pair.baseline)
            shown[pair.baseline].add(pair.contender)
        elif verdict.winner is not None:
            shown[verdict.winner].add(pair.baseline if verdict.winner == pair.contender else pair.contender)
    within = [name for name in names if len(names) > 1 and len(shown[name]) == len(names) - 1]
    priced = sorted((name for name in within if name in totals), key=lambda name: totals[name])
    of = f"within δ = {wording.percent(comparison.run.delta)} of the fastest"
    if not priced:
        return f"{suite}: none is named as the cheapest: no contender with a price is shown to be {of}."
    equal = [name for name in priced if totals[name] == totals[priced[0]]]
    text = f"{suite}: cheapest {of}: {wording.names(equal)}, {_money(totals[equal[0]])} {unit}."
    forfeited = {
        p.contender if v == p.baseline else p.baseline for p in comparison.pairs if (v := p.primary.verdict.winner)
    }
    less = [name for name in names if totals.get(name, math.inf) < totals[equal[0]]]
    open_ = [name for name in less if name not in forfeited]  # who was not beaten may be as fast
    if open_:
        text += f" {wording.names(open_)} cost less; whether they are {of} is not shown."
    unstated = [name for name in within if name not in totals]
    return text + (f" Of {wording.names(unstated)} no price is stated." if unstated else "")


def _features(paper: Paper, names: tuple[str, ...]) -> Section | None:
    if not paper.features:
        return None
    notes: dict[str, int] = {}
    rows = []
    # One that is a setting of another has no answers of its own, and no column of "unknown".
    names = tuple(name for name in names if any(name in row.answers for row in paper.features))
    for row in paper.features:
        title = f"{row.group}: {row.feature}" if row.group else row.feature
        found = {name: Cell(text=one.answer, evidence=one.evidence, note=one.note) for name, one in row.answers.items()}
        rows.append((title, *(_cell(found.get(name), notes) for name in names)))
    columns = (Column("Feature", False), *(Column(name, False) for name in names))
    blocks = _with_notes(Table("Features", columns, tuple(rows), UNSHOWN), notes)
    return Section("Features", blocks, "author-features", ReportPart.AUTHOR)


def _own_tables(paper: Paper) -> Section | None:
    """Tables with columns of the author's own: services by platforms, versions, products."""
    blocks: list[Block] = []
    for table in paper.tables_of_author:
        notes: dict[str, int] = {}
        rows = tuple((row.name, *(_cell(row.cells.get(name), notes) for name in table.columns)) for row in table.rows)
        columns = (Column(table.of, False), *(Column(name, False) for name in table.columns))
        note = f"{table.note.rstrip('.')}. {UNSHOWN}" if table.note else UNSHOWN
        blocks += _with_notes(Table(table.title, columns, rows, note), notes)
    return Section("The author's tables", tuple(blocks), "author-tables", ReportPart.AUTHOR) if blocks else None


def _with_notes(table: Table, notes: Mapping[str, int]) -> tuple[Block, ...]:
    """The table with what its numbers stand for."""
    listed = "; ".join(f"[{number}] {text}" for text, number in notes.items())
    return (table, Text(f"{listed}.")) if notes else (table,)


def _cell(found: Cell | None, notes: dict[str, int]) -> str:
    """The answer with the number of what shows it, which is the same for the same words."""
    if found is None or (found.text == "unknown" and not (found.evidence or found.note)):
        return "unknown"
    text = found.text
    if note := ". ".join(part.rstrip(".") for part in (found.note, found.evidence) if part):
        note += "" if found.evidence else UNSEEN
        text += f" [{notes.setdefault(note, len(notes) + 1)}]"
    return SeverityText(text, SEVERITIES.get(found.text, "plain"))


def _administration(paper: Paper, names: tuple[str, ...]) -> Section | None:
    if not paper.administration:
        return None
    rows = tuple(
        (row.task, *(row.times.get(name, UNSTATED) for name in names), row.note) for row in paper.administration
    )
    columns = (Column("Task", False), *(Column(name, False) for name in names), Column("Note", False))
    table = Table("Time that it took", columns, rows, BY)
    return Section("Administration", (table,), "author-administration", ReportPart.AUTHOR)


def _pros_and_cons(paper: Paper, names: tuple[str, ...]) -> Section | None:
    rows = tuple((name, sort, text) for name in names for sort, text in _author_texts(paper, name))
    columns = (Column("Contender", False), Column("", False), Column("In the author's words", False))
    table = Table("Pros and cons", columns, rows, BY)
    return Section("Pros and cons", (table,), "author-pros", ReportPart.AUTHOR) if rows else None


def _author_texts(paper: Paper, name: str) -> Iterable[tuple[str, str]]:
    about = paper.contenders.get(name)
    if about is None:
        return ()
    return [*(("for", text) for text in about.pros), *(("against", text) for text in about.cons)]
