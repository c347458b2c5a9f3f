"""The comparison on a terminal: the result first, then the tables.

Plain text when the output is not a terminal.
"""

from __future__ import annotations

import math

from rich.console import Console, RenderableType
from rich.text import Text

from bakeoff.compare import wording
from bakeoff.compare.model import Comparison, CurvePoint, PairComparison
from bakeoff.report.fit import Sheet, fitted
from bakeoff.report.terminal_mail import print_mail
from bakeoff.report.terminal_matrix import print_matrix
from bakeoff.thresholds import MINIMUM_BLOCKS

STYLES = {
    "loss": "bold red",
    "better": "bold green",
    "equivalent": "bold green",
    "near_margin": "bold yellow",
    "inconclusive": "bold yellow",
    "withheld": "bold red",
    "disqualified": "bold red",
    "too_few": "bold yellow",
}
SHOWN = 12


def print_summary(comparison: Comparison, console: Console) -> None:
    """The headline, the rates at each mix and the warnings: what one wants to see at the end of a run."""
    _headline(comparison, console)
    console.print()
    console.print(_rates(comparison, console))
    if comparison.matrix:
        print_matrix(comparison.matrix, console)
    print_mail(comparison, console)
    _warnings(comparison, console)


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Everything that the comparison says, except single exploratory cells."""
    _headline(comparison, console)
    console.print()
    console.print(_rates(comparison, console))
    if comparison.matrix:
        print_matrix(comparison.matrix, console)
    print_mail(comparison, console)
    # Cells at one number of clients have no curve, and one percentile over all record sizes would say nothing.
    curves = comparison.matrix is None or len(comparison.run.mixes) > 1
    if curves:
        console.print(_responses(comparison, console))
        console.print(_peaks(comparison, console))
    for pair in comparison.pairs:
        console.print(_endpoints(pair, console))
        if curves:
            console.print(_ratios(pair, console))
    _left_out(comparison, console)
    console.print(_audits(comparison, console))
    _warnings(comparison, console)
    info = comparison.run
    _line(
        console,
        f"Plan {info.plan_hash}; δ = {wording.percent(info.delta)}; intervals 95 %; baseline {info.baseline}.",
    )


def _line(console: Console, text: str, style: str = "") -> None:
    """Text as it is, for names of contenders may look like markup: one line, on a terminal wrapped at words."""
    console.print(Text(text, style=style), soft_wrap=not console.is_terminal)


def _headline(comparison: Comparison, console: Console) -> None:
    for sentence, kind in zip(comparison.headline, comparison.headline_kinds, strict=True):
        _line(console, sentence, STYLES.get(kind, ""))


def _rates(comparison: Comparison, console: Console) -> RenderableType:
    """Rate of each contender at each mix, and the ratio to the baseline with its simultaneous band."""
    info = comparison.run
    table = Sheet(f"{info.rate_unit} (mean over blocks, 95 % interval from {MINIMUM_BLOCKS} blocks on)")
    table.column("clients")
    for contender in comparison.contenders:
        table.column(contender.name)
    against = [pair for pair in comparison.pairs if pair.baseline == info.baseline]
    for pair in against:
        table.column(f"{pair.contender} ÷ {pair.baseline}")
        table.column("verdict", numeric=False)
    for index, clients in enumerate(info.mixes):
        cells = [str(clients)]
        for contender in comparison.contenders:
            point = comparison.curve("rate", contender.name).points[index]
            half = wording.plus_minus(point.centre, point.low, point.high)
            cells.append(wording.figures(point.centre) + half + wording.lost_of(point.lost, _tried(point)))
        row = [Text(cell) for cell in cells]
        for pair in against:
            at = pair.curves[0].points[index]
            row.append(Text(_reach(at.ratio, at.low, at.high)))
            row.append(Text(at.verdict.text, style=STYLES[at.verdict.kind].removeprefix("bold ")))
        table.row(*row)
    return fitted(table, console)


def _tried(point: CurvePoint) -> int:
    """Blocks in which the contender was tried: those that it lost may have no number."""
    return max(point.blocks, point.lost)


def _reach(ratio: float, low: float, high: float) -> str:
    """ "1.18× (1.12–1.24)", without the interval where there is none."""
    interval = "" if math.isnan(low) else f" ({wording.interval(low, high)})"
    return f"{wording.ratio(ratio, low, high)}{interval}"


def _responses(comparison: Comparison, console: Console) -> RenderableType:
    title = comparison.curve("mean", comparison.contenders[0].name).title
    of_what = " of a turn" if "of a turn" in title else ""
    table = Sheet(f"Response time{of_what}, ms (mean, p50, p95, p99) and failed operations")
    table.column("clients")
    for contender in comparison.contenders:
        for name in ("mean", "p50", "p95", "p99", "failed"):
            table.column(f"{contender.name} {name}")
    for index, clients in enumerate(comparison.run.mixes):
        cells = [str(clients)]
        for contender in comparison.contenders:
            points = [comparison.curve(m, contender.name).points[index] for m in ("mean", "p50", "p95", "p99")]
            cells += [wording.figures(point.centre) for point in points]
            cells.append(wording.percent(comparison.curve("errors", contender.name).points[index].centre / 100.0))
        table.row(*cells)
    return fitted(table, console)


def _peaks(comparison: Comparison, console: Console) -> RenderableType:
    table = Sheet("Peak and saturation")
    table.column("contender", numeric=False)
    for name in (
        "peak",
        "95 % interval",
        "at clients",
        "saturated from",
        "trials ok",
        "failed",
        "voided",
        "interrupted",
    ):
        table.column(name)
    table.column("shape", numeric=False)
    for c in comparison.contenders:
        cells = (
            c.name,
            wording.figures(c.peak),
            wording.MISSING
            if math.isnan(c.peak_low)
            else f"{wording.figures(c.peak_low)} – {wording.figures(c.peak_high)}",
            str(c.peak_clients or wording.MISSING),
            c.saturation(),
            str(c.trials_ok),
            str(c.trials_failed),
            str(c.trials_voided),
            str(c.trials_interrupted),
            c.shape,
        )
        table.row(*cells)
    return fitted(table, console)


def _endpoints(pair: PairComparison, console: Console) -> RenderableType:
    table = Sheet(f"{pair.contender} ÷ {pair.baseline} over all mixes")
    table.column("endpoint", numeric=False)
    for name in ("ratio", "95 % interval", "blocks", "p (Holm)", "p (sign flip)", "p (equivalence)"):
        table.column(name)
    table.column("verdict", numeric=False)
    for index, end in enumerate((pair.primary, *pair.secondary)):
        notes = [gate.text for gate in end.gates if gate.text not in end.verdict.text]
        cells = (
            end.title + (" (primary)" if index == 0 else ""),
            wording.ratio(end.ratio, end.low, end.high),
            wording.interval(end.low, end.high),
            str(end.blocks),
            wording.probability(end.p_adjusted),
            wording.probability(end.p_sign_flip),
            wording.probability(end.p_equivalence_adjusted),
        )
        verdict = end.verdict.text + (f" (note: {'; '.join(notes)})" if notes else "")
        table.row(*cells, Text(verdict, style=STYLES[end.verdict.kind]))
    return fitted(table, console)


def _ratios(pair: PairComparison, console: Console) -> RenderableType:
    method = pair.curves[0].method
    table = Sheet(f"{pair.contender} ÷ {pair.baseline} at each mix (bands for all mixes together, {method})")
    table.column("clients")
    for curve in pair.curves:
        table.column(curve.metric)
    for points in zip(*(curve.points for curve in pair.curves), strict=True):
        cells = [_reach(p.ratio, p.low, p.high) for p in points]
        table.row(str(points[0].clients), *cells)
    return fitted(table, console)


def _left_out(comparison: Comparison, console: Console) -> None:
    for lost in comparison.lost:
        cell = f", {lost.cell}" if lost.cell else ""
        where = f"block {lost.block}, {lost.contender}, {wording.plural(lost.clients, 'client')}{cell}"
        _line(console, f"Lost: {where}: {lost.reason}", "red")
    for trial in comparison.left_out:
        if trial.state == "failed":
            continue
        text = f"Left out: block {trial.block}, {trial.contender}, {wording.plural(trial.clients, 'client')}: "
        _line(console, f"{text}{trial.state}: {trial.reason}", "red")


def _audits(comparison: Comparison, console: Console) -> RenderableType:
    table = Sheet("Audits")
    table.column("audit", numeric=False)
    for name in ("trials", "not applicable", "worst", "deviating"):
        table.column(name)
    for audit in comparison.audits:
        worst = wording.percent(audit.worst)
        table.row(audit.name, str(audit.checked), str(audit.not_applicable), worst, str(len(audit.deviating)))
    return fitted(table, console)


def _warnings(comparison: Comparison, console: Console) -> None:
    for warning in comparison.warnings[:SHOWN]:
        _line(console, f"! {warning.text} {warning.advice}", "yellow")
    if len(comparison.warnings) > SHOWN:
        _line(console, f"! {len(comparison.warnings) - SHOWN} more warnings: see the report.", "yellow")
