"""The capacities that searches found, how they found them, and response times at shares of them."""

from __future__ import annotations

import math
from collections import defaultdict

from bakeoff.compare.limits.capacity_model import CapacityComparison, ContenderCapacity, SearchOutcome
from bakeoff.compare.model.comparison import ContenderSummary
from bakeoff.core.times import ms_of
from bakeoff.report.blocks.tree import Block, Card, Chart, Column, Section, Table, Text
from bakeoff.report.charts.axes import Counted, Logs
from bakeoff.report.charts.panels import LIMITED, MET, MISSED, probes
from bakeoff.report.charts.theme import Row, known
from bakeoff.report.layout.context import Context, geometric_mean
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.capacity import capacity_text, unconfirmed
from bakeoff.store.records.run_records import SEARCH, SHARE, TrialRecord
from bakeoff.store.records.trial_parts import JudgedRecord

WORDS = {
    "found": "found",
    "at_least": "at least that",
    "none": "no load met it",
    "died": "the contender was lost",
    "unsettled": "the bounds did not close",
}


@report_section("capacity", detail=Detail.SUMMARY)
def section(context: Context) -> Section | None:
    """Nothing of a run that searched no capacity."""
    found = context.comparison.capacity
    if found is None:
        return None
    blocks: list[Block] = [_capacities(found), *_shares(context, found), *_drawn(context, found)]
    return Section(f"Capacity under {found.objective}", tuple(blocks))


def card(context: Context, found: CapacityComparison, c: ContenderSummary, series: int) -> Card:
    """The key figures of one contender."""
    own = next(each for each in found.contenders if each.name == c.name)
    total = sum(c.errors.values())
    interval = "" if math.isnan(own.low) else f" (95 % {wording.span(own.low, own.high)})"
    probes = sum(search.probes for search in own.searches)
    return Card(
        title=c.name,
        figure=capacity_text(own, found.unit).partition(" (")[0],
        caption=f"capacity under {found.objective}{interval}"
        + (f", {unproven}" if (unproven := unconfirmed(own)) else ""),
        lines=(
            ("Searches", _counts(own)),
            ("Probes", f"{probes:,}"),
            ("Failed at shares", f"{total:,} ({wording.percent(c.error_share)})" if total else "none"),
            ("Address", c.address),
        ),
        series=series,
        severity="good" if context.comparison.winner == c.name else "plain",
    )


def _counts(c: ContenderCapacity) -> str:
    """`8 found`, `5 found, 3 at least that`."""
    counts = {"at_least": c.at_least, "none": c.none, "died": c.died, "unsettled": c.unsettled}
    found = len(c.searches) - sum(counts.values())
    parts = [f"{found} found", *(f"{number}: {WORDS[name]}" for name, number in counts.items() if number)]
    return ", ".join(parts)


def _capacities(found: CapacityComparison) -> Table:
    columns = (
        Column("Contender", numeric=False),
        Column(f"Capacity, {found.unit}"),
        Column("95 % interval"),
        Column("Blocks"),
        Column("Lowest"),
        Column("Highest"),
        Column("Probes", spare=1),
        Column("Searches", numeric=False),
        Column("At its shares", numeric=False),
    )
    rows = []
    for c in found.contenders:
        met = [search.met for search in c.searches if search.outcome not in ("died", "none")]
        rows.append(
            (
                c.name,
                capacity_text(c, "").partition(" (")[0].strip(),
                wording.span(c.low, c.high),
                f"{c.blocks}",
                wording.rate(min(met, default=math.nan)),
                wording.rate(max(met, default=math.nan)),
                f"{sum(search.probes for search in c.searches):,}",
                _counts(c),
                unconfirmed(c) or ("confirmed" if c.shares else wording.MISSING),
            )
        )
    judged = (
        "response times, from the planned start" if found.by == "rate" else "service times, as clients wait for replies"
    )
    note = (
        f"The highest load that met {found.objective}: geometric mean of the blocks. Each block has a search of its "
        f"own (MLRsearch, RFC 9971), whose bounds end at most {wording.percent(found.width)} apart. Judged by "
        f"{judged}. A failed operation is slower than any limit; an open one counts with its time so far. At a rate, a "
        "queue that grows all through a window misses the objective."
    )
    return Table("Capacities", columns, tuple(rows), note, detail=Detail.COMPARISON)


def _shares(context: Context, found: CapacityComparison) -> list[Block]:
    """Response time at shares of the capacity, and how often the objective was met there."""
    trials: dict[tuple[str, float], list[TrialRecord]] = defaultdict(list)
    for trial in context.whole.trials:
        if trial.purpose == SHARE and trial.share is not None:
            trials[trial.contender, trial.share].append(trial)
    shares = sorted({share for _, share in trials})
    if not shares:
        return []
    parts = ("load", "p50", "p95", "p99", "lost", "met in")
    columns = [Column("Share")]
    columns += [Column(part, group=name) for name in context.names for part in parts]
    rows = []
    for share in shares:
        row = [f"{share * 100:.4g} %"]
        for name in context.names:
            row += _share_cells(trials.get((name, share), []))
        rows.append(tuple(row))
    kind = "Response" if found.by == "rate" else "Service"
    note = (
        f"Load in {found.unit}; {kind.lower()} times in ms, geometric means of the blocks; lost: operations without a "
        "good reply. Each contender is at shares of its own capacity: equal shares are not equal loads."
    )
    title = f"{kind} time at shares of the capacity"
    return [Table(title, tuple(columns), tuple(rows), note, detail=Detail.SUMMARY)]


def _share_cells(trials: list[TrialRecord]) -> list[str]:
    times = [trial.response or trial.service for trial in trials]
    judged = [trial.judged for trial in trials if trial.judged is not None]
    loads = [trial.load_step.x for trial in trials]
    figures = [ms_of(geometric_mean([getattr(t, f"{key}_ns") for t in times])) for key in ("p50", "p95", "p99")]
    lost = sum(one.lost for one in judged) / len(judged) if judged else math.nan
    return [
        wording.rate(geometric_mean(loads)),
        *(wording.figures(figure, 3) for figure in figures),
        wording.percent(lost),
        f"{sum(one.met for one in judged)} of {len(trials)}",
    ]


def _drawn(context: Context, found: CapacityComparison) -> list[Block]:
    rows = _probes(context)
    if not rows:
        return [Text("No search has a probe yet.", "warning")]
    loads = f"load, {found.unit}"
    title, table = "The searches, probe by probe", _searches(found)
    subtitle = (
        "each point a probe; a pair of lines for each block; lines: highest load that met the objective so far, "
        "dashed: lowest that did not"
    )
    last = max(row["probe"] for row in rows)
    across = Counted("probes since the search began", "probe", 0.5, last + 0.5, step=1)
    path = probes(rows, context.names, across, Logs(loads, "load"), (title, subtitle), bounds=_bounds(rows))
    description = f"Every probe of every search: its number, its load, and whether it met {found.objective}."
    charts: list[Block] = [Chart("chart-search", title, description, path, table, True, detail=Detail.PAGE)]
    term = next((t for t in _terms(context) if _is_time(t)), None)
    if term is not None:
        charts.append(_judged(context, found, term, loads))
    return charts


def _judged(context: Context, found: CapacityComparison, term: str, loads: str) -> Chart:
    rows = []
    for trial in context.whole.trials:
        value = None if trial.judged is None else next((t.value for t in trial.judged.terms if t.term == term), None)
        if trial.judged is not None and value is not None:
            rows.append(_row(trial, trial.judged, value=known(ms_of(value))))
    limit = _limit_ms(term)
    name = term.partition("<")[0]
    title = f"Load against {name}"
    subtitle = (
        f"each point a probe or a share; probes in which it lies beyond all answers are not drawn; dashed: {term}"
    )
    shown = [row for row in rows if row["value"]]
    across, down = Logs(loads, "load"), Logs(f"{name}, ms")
    drawing = probes(shown, context.names, across, down, (title, subtitle), limit=limit)
    columns = (
        Column("Contender", numeric=False), Column("Block"), Column(found.unit), Column(f"{name}, ms"),
        Column("Verdict", numeric=False),
    )  # fmt: skip
    cells = tuple(
        (r["contender"], f"{r['block']}", wording.figures(r["load"]), wording.figures(r["value"]), r["verdict"])
        for r in sorted(rows, key=lambda r: (r["contender"], r["load"]))
    )
    table = Table(f"{name} at each load that was tried", columns, cells, folded=True)
    return Chart("chart-judged", title, f"{name} against load, all probes.", drawing, table, True, detail=Detail.PAGE)


def _limit_ms(term: str) -> float:
    from bakeoff.load.capacity.objective import parse_objective

    try:
        return parse_objective(term).longest_s * 1e3 or 1.0
    except ValueError:  # a mean stands in no objective alone
        return parse_objective(f"{term},errors<=1%").longest_s * 1e3 or 1.0


def _terms(context: Context) -> list[str]:
    judged = next((t.judged for t in context.whole.trials if t.judged is not None and t.judged.terms), None)
    return [] if judged is None else [term.term for term in judged.terms]


def _is_time(term: str) -> bool:
    """Whether a term bounds a time."""
    return not term.startswith(("errors", "achieved"))


def _row(trial: TrialRecord, judged: JudgedRecord, **more: object) -> Row:
    verdict = MET if judged.met else LIMITED if judged.limit else MISSED
    return {
        "contender": trial.contender,
        "block": trial.block,
        "load": known(trial.load_step.x),
        "verdict": verdict,
        **more,
    }


def _probes(context: Context) -> list[Row]:
    """Every probe of every search, numbered in its search."""
    numbers: dict[tuple[str, int], int] = defaultdict(int)
    rows = []
    for trial in sorted(context.whole.trials, key=lambda trial: trial.order):
        if trial.purpose == SEARCH and trial.judged is not None:
            numbers[trial.contender, trial.block] += 1
            rows.append(_row(trial, trial.judged, probe=numbers[trial.contender, trial.block]))
    return rows


def _bounds(probes: list[Row]) -> list[Row]:
    """The bounds of each search after each of its probes, by the majority of those at each load."""
    rows: list[Row] = []
    searches: dict[tuple[str, int], dict[float, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for probe in probes:
        loads = searches[probe["contender"], probe["block"]]
        loads[probe["load"]].append(probe["verdict"] == MET)
        verdicts = {load: 2 * sum(answers) > len(answers) for load, answers in loads.items()}
        missed = min((load for load, met in verdicts.items() if not met), default=None)
        met = max((load for load, good in verdicts.items() if good and (missed is None or load < missed)), default=None)
        place = {key: probe[key] for key in ("contender", "block", "probe")}
        rows += [{**place, "side": side, "load": load} for side, load in (("met", met), ("missed", missed)) if load]
    return rows


def _searches(found: CapacityComparison) -> Table:
    columns = (
        Column("Contender", numeric=False),
        Column("Block"),
        Column(f"Met, {found.unit}"),
        Column(f"Missed, {found.unit}"),
        Column("Probes"),
        Column("Outcome", numeric=False),
    )
    rows = tuple(
        (
            c.name,
            f"{search.block}",
            wording.rate(search.met),
            wording.rate(search.missed),
            f"{search.probes}",
            _outcome(search),
        )
        for c in found.contenders
        for search in c.searches
    )
    return Table("Every search", columns, rows, folded=True)


def _outcome(search: SearchOutcome) -> str:
    if search.reason:
        return f"{WORDS[search.outcome]}: {search.reason}"
    missed = ", ".join(search.missed_terms)
    return WORDS[search.outcome] + (f"; above it {missed} was missed" if missed else "")
