"""The order and the colours that an author gives to contenders: in every chart, table and list."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from bakeoff.compare.collections.campaign_model import CampaignComparison
from bakeoff.compare.model.comparison import Comparison
from bakeoff.core.errors import PlanError
from bakeoff.disclosure.paper.model import Paper
from bakeoff.report.charts.palette import AS_PLANNED, LEAST_CONTRAST, LIGHT_PAPER, Placed, colour_of, contrast
from bakeoff.report.layout.shown_pairs import Pair

Found = TypeVar("Found", bound=Comparison | CampaignComparison)
P = TypeVar("P", bound=Pair)


def styles_of(paper: Paper, contenders: Sequence[str]) -> Placed:
    """The contenders in the author's order, those without one behind the others, with the author's colours; empty where
    there is neither. Raises PlanError for a colour that is hardly seen on paper or that two would have.
    """
    about = {name: paper.contenders[name] for name in contenders if name in paper.contenders}
    colours = {name: one.colour.lower() for name, one in about.items() if one.colour}
    orders = {name: one.order for name, one in about.items() if one.order is not None}
    if not colours and not orders:
        return AS_PLANNED
    ordered = tuple(sorted(contenders, key=lambda name: orders.get(name, math.inf)))
    made = Placed(ordered, ordered, colours)
    taken: dict[str, str] = {}
    for name in ordered:
        where, colour = f"{paper.origin} [contenders.{name}]", colour_of(name, made)
        if contrast(colour, LIGHT_PAPER) < LEAST_CONTRAST:
            raise PlanError(f"{where}: colour {colour} is hardly seen on white paper: choose a darker one")
        if colour in taken and (name in colours or taken[colour] in colours):
            raise PlanError(f"{where}: {taken[colour]} has colour {colour} already: choose another")
        taken[colour] = name
    return made


def arranged(found: Found, among: Placed) -> Found:
    """The same with contenders and pairs in that order; which of a pair is the baseline stays."""
    if not among:
        return found
    places = {name: place for place, name in enumerate(among)}
    if isinstance(found, Comparison):
        base = found.run.baseline
        contenders = sorted(found.contenders, key=lambda one: places[one.name])
        return replace(found, contenders=tuple(contenders), pairs=_pairs(found.pairs, places, base))
    suites = tuple(
        one if one.comparison is None else replace(one, comparison=arranged(one.comparison, among))
        for one in found.suites
    )
    ordered = {one.name: place for place, one in enumerate(suites)}
    verdicts = tuple(sorted(_pairs(found.verdicts, places), key=lambda one: ordered[one.suite]))
    return replace(
        found, contenders=tuple(among), suites=suites, verdicts=verdicts, overall=_pairs(found.overall, places)
    )


def _pairs(pairs: Sequence[P], places: dict[str, int], base: str = "") -> tuple[P, ...]:
    return tuple(sorted(pairs, key=lambda one: (one.baseline != base, places[one.baseline], places[one.contender])))
