"""From the runs of a campaign to one report: the order over all suites, then a chapter for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bakeoff.compare import wording
from bakeoff.compare.campaign import weights_of
from bakeoff.compare.campaign_model import CampaignComparison, OverallPair, SuiteVerdict
from bakeoff.report.blocks import Block, Chart, Column, Report, Section, Table, Text, Tone, Toned
from bakeoff.report.compose import VERDICTS, compose
from bakeoff.report.depth import Depth
from bakeoff.report.tones import TONES
from bakeoff.store.records import RunRecord


def compose_campaign(
    comparison: CampaignComparison,
    runs: Mapping[str, RunRecord],
    facts: tuple[tuple[str, str], ...],
    surfaces: bool = False,
    depth: Depth = Depth.PAGE,
) -> Report:
    """The report of a campaign; `runs` are those of its suites that were measured."""
    sections = [_over_all(comparison)]
    embedded: dict[str, Any] = {"campaign": comparison.to_dict()} if depth == Depth.PAGE else {}
    for number, suite in enumerate(comparison.suites, 1):
        if suite.comparison is None:
            continue
        chapter = compose(runs[suite.name], suite.comparison, surfaces, depth)
        sections += [_of_chapter(section, suite.name, number) for section in chapter.sections]
        if depth == Depth.PAGE:
            embedded[f"plan-{number}"] = runs[suite.name].plan
    kinds = comparison.headline_kinds
    verdict, tone = _verdict(comparison)
    return Report(
        title=comparison.title,
        subtitle=f"{wording.names(list(comparison.contenders))} under {_number(comparison)}",
        verdict=verdict,
        tone=tone,
        headline=comparison.headline,
        tones=tuple(TONES.get(kind, "plain") for kind in kinds),
        sections=tuple(sections),
        facts=facts,
        embedded=embedded,
        contenders=comparison.contenders,
    )


def _number(comparison: CampaignComparison) -> str:
    return wording.plural(len(comparison.suites), "suite")


def _verdict(comparison: CampaignComparison) -> tuple[str, Tone]:
    if any(place.first is None for place in comparison.places):
        return VERDICTS["disqualified"]
    return VERDICTS["better"] if comparison.winner is not None else ("No single winner", "plain")


def _of_chapter(section: Section, name: str, number: int) -> Section:
    """The section with a title, an id and charts of its own: suites have the same ones."""
    blocks = tuple(replace(b, id=f"{b.id}-{number}") if isinstance(b, Chart) else b for b in section.blocks)
    return replace(section, id=f"{section.id}-{number}", title=f"{name}: {section.title}", blocks=blocks)


def _over_all(comparison: CampaignComparison) -> Section:
    blocks: list[Block] = [
        Text(f"{suite.name} has no figures: {suite.missing}.", "bad", depth=Depth.SUMMARY)
        for suite in comparison.suites
        if suite.comparison is None
    ]
    blocks += [_suites(comparison)]
    blocks += [_places(comparison), _pairs(comparison)] if comparison.overall else []
    return Section("all-suites", "All suites", tuple(blocks))


def _suites(comparison: CampaignComparison) -> Table:
    columns = (
        Column("Suite", numeric=False),
        Column("Pair", numeric=False),
        Column("Ratio"),
        Column("95 % interval"),
        Column("p (Holm)", spare=1),
        Column("Verdict", numeric=False),
        Column("Weight", spare=2),
    )
    weights = {suite.name: f"{suite.weight:g}" for suite in comparison.suites}
    rows = tuple(_suite_row(verdict, weights[verdict.suite]) for verdict in comparison.verdicts)
    note = (
        "The primary endpoint of each suite. Holm counts all of them together: what is better in one suite alone may "
        "be chance among so many. Rates above 1 and response times below 1 are better."
    )
    return Table("The suites", columns, rows, note, depth=Depth.SUMMARY)


def _suite_row(one: SuiteVerdict, weight: str) -> tuple[str, ...]:
    p = wording.probability(one.p_family)
    verdict = Toned(one.text, TONES.get(one.kind, "plain"))
    pair = f"{one.contender} ÷ {one.baseline}"
    ratio = wording.ratio(one.ratio, one.low, one.high)
    return one.suite, pair, ratio, wording.interval(one.low, one.high), p, verdict, weight


def _places(comparison: CampaignComparison) -> Table:
    columns = (
        Column("Place", numeric=False),
        Column("Contender", numeric=False),
        Column("Certainly better than", numeric=False),
    )
    rows = tuple(
        (
            Toned(place.words, "good" if place.contender == comparison.winner else "plain"),
            place.contender,
            wording.names(list(place.better_than)) or wording.MISSING,
        )
        for place in comparison.places
    )
    note = (
        f"By the weighted geometric mean over the suites ({weights_of(comparison.suites)}). One stands above another "
        "only where that is certain (Holm over all pairs); places that are shared are not."
    )
    return Table("Ranking over all suites", columns, rows, note, depth=Depth.SUMMARY)


def _pairs(comparison: CampaignComparison) -> Table:
    columns = (
        Column("Pair", numeric=False),
        Column("Suites"),
        Column("Times as good"),
        Column("95 % interval"),
        Column("p (Holm)", spare=1),
        Column("Order", numeric=False),
    )
    rows = tuple(_pair_row(pair) for pair in comparison.overall)
    note = "Above 1 the first of a pair is better: suites in which less is better are turned round."
    return Table("Pairs over all suites", columns, rows, note, depth=Depth.COMPARISON)


def _pair_row(pair: OverallPair) -> tuple[str, ...]:
    order = f"{pair.winner} better" if pair.winner else f"not certain: {pair.why_not}"
    p = wording.probability(pair.p_adjusted)
    return (
        f"{pair.contender} against {pair.baseline}",
        str(len(pair.suites)),
        wording.ratio(pair.ratio, pair.low, pair.high),
        wording.interval(pair.low, pair.high),
        p,
        Toned(order, "good" if pair.winner else "plain"),
    )
