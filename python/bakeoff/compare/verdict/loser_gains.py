"""Who lost what decides is not called better in anything else: a server that puts its work off answers soonest.

Ratios and intervals of such an endpoint are told, without a winner. What a contender costs is told as ever: who does
less may well need less.
"""

from __future__ import annotations

from dataclasses import replace

from bakeoff.compare.model.gate import WorseInPrimary
from bakeoff.compare.model.pair import Endpoint, Gate, PairComparison, RatioCurve, RatioPoint, Verdict
from bakeoff.compare.resources.telemetry_cost import CPU


def without_losers(pair: PairComparison, decides: str) -> PairComparison:
    """`pair` with no *better* for whoever is certainly behind in what decides, in its short name `decides`."""
    behind = loser(pair, pair.primary)
    first = next((curve for curve in pair.curves if curve.metric == pair.primary.metric), None)
    secondary = tuple(
        replace(end, verdict=_loss_verdict(end.metric, end.verdict, behind, decides)) for end in pair.secondary
    )
    curves = tuple(curve if curve is first else _curve(curve, first, behind, decides) for curve in pair.curves)
    return replace(pair, secondary=secondary, curves=curves)


def loser(pair: PairComparison, end: Endpoint) -> str:
    """Who is certainly behind at an endpoint, if only by less than matters; empty when nobody is."""
    kind, winner = end.verdict.kind, end.verdict.winner
    if kind == "near_margin":
        winner = pair.contender if (end.ratio > 1.0) == end.higher_is_better else pair.baseline
    if kind not in ("better", "near_margin") or winner is None:
        return ""
    return pair.baseline if winner == pair.contender else pair.contender


def _curve(curve: RatioCurve, first: RatioCurve | None, behind: str, decides: str) -> RatioCurve:
    points = []
    for index, point in enumerate(curve.points):
        here = None if first is None else first.points[index]
        points.append(replace(point, verdict=_loss_verdict(curve.metric, point.verdict, _here(here, behind), decides)))
    return replace(curve, points=tuple(points))


def _here(first: RatioPoint | None, behind: str) -> str:
    """Who is behind at a load: nobody where what decides says there that the loser of all loads is ahead."""
    ahead = first is not None and first.verdict.winner == behind
    return "" if ahead else behind


def _loss_verdict(metric: str, verdict: Verdict, behind: str, decides: str) -> Verdict:
    if metric == CPU or verdict.kind != "better" or not behind or verdict.winner != behind:
        return verdict
    against = Gate("behind", "red", behind, WorseInPrimary(decides))
    return replace(verdict, kind="withheld", winner=None, reasons=(*verdict.reasons, against))
