"""From the runs of a campaign to one report: the order over all suites, then a chapter for each of them."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

from bakeoff.compare.collections.campaign_model import CampaignComparison, Disqualified, OverallPair, SuiteVerdict
from bakeoff.compare.limits.objective import worst
from bakeoff.report.blocks.severity import SEVERITIES
from bakeoff.report.blocks.tree import (
    Block,
    Chart,
    Column,
    Report,
    Section,
    Severity,
    SeverityText,
    Table,
    Text,
    in_order,
)
from bakeoff.report.charts.palette import AS_PLANNED, Placed
from bakeoff.report.collections.shared_notes import SharedNotes
from bakeoff.report.collections.suite_files import suite_files
from bakeoff.report.compose import OBJECTIVE, VERDICTS, chapter, winner
from bakeoff.report.embed.provenance import MEASURED, measured
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.layout.repeated_texts import without_repeats
from bakeoff.report.layout.shown_pairs import BASELINE_AND_FEW, ShownPairs
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.collections.campaign import headline, missing_words, weights_of
from bakeoff.report.narrate.collections.ranking_doubts import place_text, short_doubts
from bakeoff.report.narrate.collections.summary import summary
from bakeoff.report.narrate.document import to_dict
from bakeoff.report.narrate.figures.factors import title_words
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.validity.caveat import box
from bakeoff.report.sections.result.challenged import challenge_over_all
from bakeoff.store.collections.campaign import CampaignFolder
from bakeoff.store.records.run_records import RunRecord

FLOOR = "Noise floor"
# Verdicts that call a difference.
CALLED = ("better", "near_margin")


def compose_campaign(
    comparison: CampaignComparison,
    folder: CampaignFolder,
    facts: tuple[tuple[str, str], ...],
    surfaces: bool = False,
    detail: Detail = Detail.PAGE,
    shown: ShownPairs = BASELINE_AND_FEW,
    among: Placed = AS_PLANNED,
) -> Report:
    """The report of the campaign in `folder`; `among` as `compose_collection` has it."""
    among = among or Placed(comparison.contenders)
    sections = [_over_all(comparison)]
    sections += [] if folder.is_planned else [suite_files(folder.runs)]
    sections += [] if comparison.challenge is None else [challenge_over_all(comparison.challenge)]
    compared = {suite.name: suite.comparison for suite in comparison.suites if suite.comparison is not None}
    shared = SharedNotes(folder.runs, compared)
    for number, suite in enumerate(comparison.suites, 1):
        if suite.name in compared:
            run, of = folder.runs[suite.name], compared[suite.name]
            own = chapter(run, of, surfaces, detail, shown, among, shared.texts)
            title = _suite_title(suite.name, run)
            sections += [_of_chapter(section, suite.name, number, title) for section in own]
    sections += [] if shared.section is None else [shared.section]
    sentences = headline(comparison)
    verdict, severity = _verdict(comparison)
    return Report(
        title=comparison.title,
        subtitle=f"{wording.names(list(among))} under {_number(comparison)}",
        verdict=verdict,
        severity=severity,
        headline=tuple(one.text for one in sentences),
        severities=tuple(SEVERITIES.get(one.kind, "plain") for one in sentences),
        sections=in_order(without_repeats(_once(sections))),
        facts=facts,
        embedded=data_of_campaign(folder, comparison) if detail == Detail.PAGE else {},
        contenders=among,
        caveat=box(comparison.caveat),
        summary=summary(comparison),
    )


def facts_of(folder: CampaignFolder) -> tuple[tuple[str, str], ...]:
    """What stands beside the result."""
    runs = list(folder.runs.values())
    begun = {name: len({trial.block for trial in run.trials}) for name, run in folder.runs.items()}
    blocks = ", ".join(
        f"{each.name} {begun[each.name]} of {each.plan['blocks']}" if each.name in begun else f"{each.name} none"
        for each in folder.campaign.suite_runs
    )
    where = ("Folder", folder.path.name) if folder.is_planned else ("Files", ", ".join(run.path.name for run in runs))
    return (
        ("Campaign" if folder.is_planned else "Runs", folder.campaign.name),
        where,
        ("Started", Context.moment(min(run.created_at for run in runs)) if runs else "not yet"),
        ("Blocks begun", blocks),
        ("Plan", folder.hash[:12]),
        ("Bakeoff", runs[0].tool.get("version", "unknown version") if runs else "unknown version"),
    )


def data_of_campaign(folder: CampaignFolder, comparison: CampaignComparison) -> dict[str, Any]:
    """What a page holds for programs, the suites by their numbers: with it they can be measured again, those that were
    not measured as well, and their files be known.
    """
    data: dict[str, Any] = {"campaign": to_dict(comparison)}
    for number, suite in enumerate(comparison.suites, 1):
        data |= {f"plan-{number}": folder.plans[suite.name]} if suite.name in folder.plans else {}
        data |= {f"{MEASURED}-{number}": measured(folder.runs[suite.name])} if suite.name in folder.runs else {}
    return data if folder.challenged is None else {**data, "challenged": folder.challenged.model_dump(mode="json")}


def _number(comparison: CampaignComparison) -> str:
    return wording.plural(len(comparison.suites), "suite")


def _verdict(comparison: CampaignComparison) -> tuple[str, Severity]:
    if any(place.no_place == Disqualified() for place in comparison.places):
        return VERDICTS["disqualified"]
    objectives = [suite.comparison.objective for suite in comparison.suites if suite.comparison is not None]
    verdicts = [found.verdict for found in objectives if found is not None]
    if len(comparison.contenders) == 1 and verdicts:
        return OBJECTIVE[worst(verdicts)]
    if comparison.winner is None:
        return ("One contender" if len(comparison.contenders) == 1 else "No single winner"), "plain"
    absent = () if comparison.challenge is None else comparison.challenge.absent
    placed = [one.contender for one in comparison.places if not one.no_place and one.contender not in absent]
    return winner(len(placed), len({*comparison.contenders, *absent}))


def _suite_title(name: str, run: RunRecord) -> str:
    """ "Static web files (web-static)"."""
    title = run.planned.title.rstrip(".")
    return f"{title} ({name})" if title else name


def _of_chapter(section: Section, name: str, number: int, title: str) -> Section:
    """The section with a title, an id and charts of its own: suites have the same ones."""
    blocks = tuple(replace(b, id=f"{b.id}-{number}") if isinstance(b, Chart) else b for b in section.blocks)
    return replace(section, id=f"{section.id}-{number}", blocks=blocks, chapter=name, suite_title=title)


def _once(sections: list[Section]) -> list[Section]:
    """What all suites say in the same words is said once, and of none."""
    gathered = (one for one in sections if one.chapter and one.stands_in != ReportPart.RESULTS)
    counts = Counter((section.title, section.blocks) for section in gathered)
    suites = len({section.chapter for section in sections if section.chapter})
    shared = {key for key, times in counts.items() if times == suites > 1}
    found: dict[tuple[str, str], Section] = {}
    for section in sections:
        whole = (section.title, section.blocks) in shared
        one = replace(section, id=section.id.rpartition("-")[0], chapter="") if whole else section
        found.setdefault((one.chapter, one.id), one)
    return list(found.values())


def _over_all(comparison: CampaignComparison) -> Section:
    blocks: list[Block] = [Text(text, "bad", detail=Detail.SUMMARY) for text in _missing(comparison)]
    blocks += [Text(text, detail=Detail.SUMMARY) for text in _elsewhere(comparison)]
    blocks += [Text(text, "bad", advice, Detail.SUMMARY) for text, advice in _within_the_noise(comparison)]
    blocks += [_suites(comparison)]
    blocks += [_places(comparison), _pairs(comparison)] if comparison.overall else []
    blocks += [_effects(comparison)] if comparison.effects else []
    return Section("All suites", tuple(blocks), "all-suites", ReportPart.FRONT)


def _missing(comparison: CampaignComparison) -> list[str]:
    """Suites without figures, and contenders that could not be measured in one."""
    texts = [
        f"{suite.name} has no figures: {missing_words(suite)}."
        for suite in comparison.suites
        if suite.comparison is None
    ]
    for suite in comparison.suites:
        texts += [f"{name} is missing from {suite.name}: {suite.absent[name].rstrip('.')}." for name in suite.dead]
    return texts


def _elsewhere(comparison: CampaignComparison) -> list[str]:
    """Contenders that by the plan take no part in all suites."""
    left_out: dict[str, list[str]] = {}
    for suite in comparison.suites:
        for name in (name for name in suite.absent if name not in suite.dead):
            left_out.setdefault(name, []).append(suite.name)
    return [f"{name} takes no part in {wording.names(suites)}." for name, suites in left_out.items()]


def _within_the_noise(comparison: CampaignComparison) -> list[tuple[str, str]]:
    """Leads that equals show on this set-up as well, with what to do."""
    leads = [
        f"{one.suite}: {one.contender} and {one.baseline} differ by {wording.percent(lead)}, and equals by up to "
        f"{wording.percent(one.floor)}"
        for one in comparison.verdicts
        if one.kind in CALLED and (lead := _lead(one.ratio)) < one.floor
    ]
    leads += [
        f"over all suites {pair.contender} and {pair.baseline} differ by {wording.percent(lead)}, and equals may by "
        f"{wording.percent(pair.floor)}"
        for pair in comparison.overall
        if pair.winner is not None and (lead := _lead(pair.ratio)) < pair.floor
    ]
    advice = "Do not call it a difference of the servers: find what makes equals differ here, or measure more blocks."
    return [(f"Smaller than the noise floor of this set-up: {'; '.join(leads)}.", advice)] if leads else []


def _lead(ratio: float) -> float:
    return max(ratio, 1.0 / ratio) - 1.0 if ratio > 0.0 else math.nan


def _suites(comparison: CampaignComparison) -> Table:
    with_floor = any(not math.isnan(verdict.floor) for verdict in comparison.verdicts)
    columns = (
        Column("Suite", numeric=False),
        Column("Pair", numeric=False),
        Column("Ratio"),
        Column("95 % interval"),
        Column("p (Holm)", spare=1),
        Column("Verdict", numeric=False),
        *([Column(FLOOR, spare=1)] if with_floor else []),
        Column("Weight", spare=2 if len({suite.weight for suite in comparison.suites}) == 1 else 0),
    )
    weights = {suite.name: f"{suite.weight:g}" for suite in comparison.suites}
    rows = tuple(_suite_row(verdict, weights[verdict.suite], with_floor) for verdict in comparison.verdicts)
    note = (
        "The primary endpoint of each suite. Holm counts all of them together: what is better in one suite alone may "
        "be chance among so many. Rates above 1 and response times below 1 are better."
    )
    note += f" {FLOOR}: by what equals differ at most in so many blocks (95 %); see the suite." if with_floor else ""
    return Table("The suites", columns, rows, note, detail=Detail.SUMMARY)


def _effects(comparison: CampaignComparison) -> Table:
    columns = (
        Column("Effect", numeric=False),
        Column("Suite", numeric=False),
        Column("Ratio"),
        Column("95 % interval"),
        Column("p (Holm)", spare=1),
        Column("Verdict", numeric=False),
    )
    places = {name: place for place, name in enumerate(dict.fromkeys(map(title_words, comparison.effects)))}
    ordered = sorted(comparison.effects, key=lambda one: places[title_words(one)])
    rows = tuple(
        (
            title_words(one),
            one.suite,
            wording.ratio(one.ratio, one.low, one.high),
            wording.interval(one.low, one.high),
            wording.probability(one.p_family),
            SeverityText(sentence(one), SEVERITIES.get(one.kind, "plain")),
        )
        for one in ordered
    )
    note = f"The primary endpoint of each suite; Holm counts all {len(rows)} effects of all suites together."
    return Table("Factors over the suites", columns, rows, note, detail=Detail.SUMMARY)


def _suite_row(one: SuiteVerdict, weight: str, with_floor: bool) -> tuple[str, ...]:
    p = wording.probability(one.p_family)
    verdict = SeverityText(sentence(one), SEVERITIES.get(one.kind, "plain"))
    pair = f"{one.contender} ÷ {one.baseline}"
    ratio = wording.ratio(one.ratio, one.low, one.high)
    floor = [wording.percent(one.floor)] if with_floor else []
    return one.suite, pair, ratio, wording.interval(one.low, one.high), p, verdict, *floor, weight


def _places(comparison: CampaignComparison) -> Table:
    columns = (
        Column("Place", numeric=False),
        Column("Contender", numeric=False),
        Column("Certainly better than", numeric=False),
    )
    rows = tuple(
        (
            SeverityText(place_text(place), "good" if place.contender == comparison.winner else "plain"),
            place.contender,
            wording.names(list(place.better_than)) or wording.MISSING,
        )
        for place in comparison.places
    )
    note = (
        f"By the weighted geometric mean over the suites ({weights_of(comparison.suites)}). One stands above another "
        "only where that is certain (Holm over all pairs); places that are shared are not. Who was not measured in all "
        "suites has none."
    )
    return Table("Ranking over all suites", columns, rows, note, detail=Detail.SUMMARY)


def _pairs(comparison: CampaignComparison) -> Table:
    columns = (
        Column("Pair", numeric=False),
        Column("Suites"),
        Column("Ratio (above 1 is better)"),
        Column("95 % interval"),
        Column("p (Holm)", spare=1),
        Column("Order", numeric=False),
    )
    rows = tuple(_pair_row(pair) for pair in comparison.overall)
    note = (
        "Weighted geometric mean over the suites. Above 1 the first of a pair is better: where less is better it "
        "is turned round."
    )
    return Table("Pairs over all suites", columns, rows, note, detail=Detail.COMPARISON)


def _pair_row(pair: OverallPair) -> tuple[str, ...]:
    order = f"{pair.winner} better" if pair.winner else f"not certain: {short_doubts(pair)}"
    p = wording.probability(pair.p_adjusted)
    return (
        f"{pair.contender} against {pair.baseline}",
        str(len(pair.suites)),
        wording.ratio(pair.ratio, pair.low, pair.high),
        wording.interval(pair.low, pair.high),
        p,
        SeverityText(order, "good" if pair.winner else "plain"),
    )
