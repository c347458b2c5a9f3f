"""Several suites in one comparison: known answers, and nobody looks better by what is missing."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from bakeoff.compare.collections.campaign import Measured, _verdicts, compare_campaign, compare_folder
from bakeoff.compare.collections.campaign_model import (
    CampaignComparison,
    FewBlocks,
    LeaderForfeited,
    NotBothIn,
    SuiteResult,
)
from bakeoff.compare.collections.over_suites import _joint, _Part
from bakeoff.compare.planning.noise import noise_of, same_setup
from bakeoff.compare.planning.noise_model import NoiseFloor
from bakeoff.report.blocks.tree import Cards, Chart, Table, Text
from bakeoff.report.charts.palette import PALETTE, SHAPES
from bakeoff.report.charts.theme import legend_of, owners_of
from bakeoff.report.collections.campaign import _over_all, compose_campaign
from bakeoff.report.compose import VERDICTS
from bakeoff.report.layout.brief import brief
from bakeoff.report.layout.detail import Detail
from bakeoff.report.narrate.collections.campaign import _suite_sentences, result
from bakeoff.report.narrate.collections.ranking_doubts import place_text
from bakeoff.report.narrate.document import to_json
from bakeoff.report.narrate.sentences import Sentence, sentence
from bakeoff.report.narrate.verdict.blocks_needed import duration
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.report.renderers import renderer
from bakeoff.report.renderers.terminal import show
from bakeoff.stats import stratum_of
from bakeoff.store.collections.campaign import FORMAT, CampaignFolder, StoredCampaign, StoredSuiteRun
from bakeoff.store.collections.challenged import ChallengedCampaign, ChallengedSuite
from bakeoff.store.records.absent import ABSENT
from bakeoff.store.records.run_records import ADDED, AmendmentRecord, EventRecord, RunRecord
from tests.told import headline_of, kinds_of
from tests.unit.compare.synthetic import Server, change, run
from tests.unit.compare.synthetic_cells import matrix_run

NAMES = ("blue", "red")


def web(ratio: float, seed: int = 1, blocks: int = 6, names: tuple[str, ...] = NAMES) -> RunRecord:
    """red at `ratio` times the rate of blue; others halve it again."""
    servers = tuple(
        Server(name, base_ms=0.5 / ratio**place, capacity=9000.0 * ratio**place) for place, name in enumerate(names)
    )
    return run(servers, blocks=blocks, seed=seed)


def compared(*measured: Measured, names: tuple[str, ...] = NAMES) -> CampaignComparison:
    return compare_campaign("lab", "Lab", names, measured)


def test_the_ratio_over_all_suites_is_the_weighted_geometric_mean() -> None:
    found = compared(Measured("one", 1.0, web(1.5)), Measured("two", 2.0, web(0.8, seed=2)))
    ratios = [verdict.ratio for verdict in found.verdicts]
    (pair,) = found.overall
    assert pair.ratio == pytest.approx((ratios[0] * ratios[1] ** 2) ** (1 / 3), rel=1e-6)
    assert pair.low < pair.ratio < pair.high
    assert "weights one 1, two 2" in headline_of(found)[0]


def test_a_winner_of_all_suites_is_first_and_one_of_each_is_not() -> None:
    both = compared(Measured("one", 1.0, web(1.3)), Measured("two", 1.0, web(1.3, seed=2)))
    assert both.winner == "red" and "red is better over 2 suites" in headline_of(both)[0]
    split = compared(Measured("one", 1.0, web(1.3)), Measured("two", 1.0, web(1 / 1.3, seed=2)))
    assert split.winner is None and "certainly" in headline_of(split)[0]
    assert {place_text(place) for place in split.places} == {"1–2"}


def test_holm_counts_all_suites_together() -> None:
    """Verdicts of one suite among many are held to the family: p after Holm is the least p times their number."""
    runs = [web(1.2, seed=seed) for seed in range(1, 5)]
    found = compared(*(Measured(f"s{n}", 1.0, one) for n, one in enumerate(runs)))
    raw = [suite.comparison.pairs[0].primary.p_t for suite in found.suites if suite.comparison]
    assert min(v.p_family for v in found.verdicts) == pytest.approx(min(raw) * 4)
    assert all(v.winner == "red" for v in found.verdicts)


def test_a_campaign_of_one_suite_corrects_as_that_suite_does() -> None:
    names = ("blue", "red", "green")
    servers = tuple(Server(name, 9000.0, 0.5, spread=0.004) for name in names)
    (suite,) = compared(Measured("one", 1.0, run(servers, blocks=12, seed=3)), names=names).suites
    assert suite.comparison is not None
    ends = [pair.primary for pair in suite.comparison.pairs]
    for verdict, end in zip(_verdicts([suite]), ends, strict=True):
        both = (end.p_adjusted, end.p_equivalence_adjusted)
        assert (verdict.p_family, verdict.q_family) == pytest.approx(both, rel=1e-9)
    assert any(end.p_equivalence < end.p_equivalence_adjusted for end in ends)


def test_a_verdict_that_is_lost_to_the_family_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    import bakeoff.compare.collections.campaign as module

    monkeypatch.setattr(module, "corrected", lambda tests: [(0.06, 0.06) for _ in tests])
    monkeypatch.setattr("bakeoff.compare.collections.over_suites.holm", lambda p: np.full(len(p), 0.06))
    found = compared(Measured("one", 1.0, web(1.3)), Measured("two", 1.0, web(1.3, seed=2)))
    assert all(v.kind == "inconclusive" and v.winner is None for v in found.verdicts)
    assert found.winner is None and any("in this suite alone" in text for text in headline_of(found))


@pytest.mark.parametrize(("p", "kind"), [(0.022, "near_margin"), (0.023, "inconclusive")])
def test_a_small_lead_is_held_to_the_family_as_a_large_one_is(p: float, kind: str) -> None:
    """That one is faster is said of it, too, though not by how much: 4.5 % over two suites."""
    found = compared(Measured("a", 1.0, web(1.3)), Measured("b", 1.0, web(1.3)))
    suites = [small_lead(suite, p) for suite in found.suites]
    verdicts = _verdicts(suites)
    assert {verdict.kind for verdict in verdicts} == {kind}
    if kind == "inconclusive":
        assert sentence(verdicts[0]) == "inconclusive: different in this suite alone, not after Holm over 2"
        assert suites[0].comparison is not None
        text = f"a, requests/s: red ÷ blue 1.306× (1.299–1.313), {sentence(verdicts[0])}."
        assert _suite_sentences(suites[0], suites[0].comparison, verdicts) == [Sentence(kind, text)]


def small_lead(suite: SuiteResult, p: float) -> SuiteResult:
    assert suite.comparison is not None
    (pair,) = suite.comparison.pairs
    verdict = replace(pair.primary.verdict, kind="near_margin", winner=None)
    pair = replace(pair, primary=replace(pair.primary, p_t=p, verdict=verdict))
    return replace(suite, comparison=replace(suite.comparison, pairs=(pair,)))


@pytest.mark.parametrize(("p", "called"), [(0.044, True), (0.046, False)])
def test_what_is_kept_for_blocks_that_are_added_is_not_spent_before(
    p: float, called: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first analysis of a suite is held to 4.5 %, and so is one of all suites: 0.5 % is for blocks that are added."""
    import bakeoff.compare.collections.campaign as module

    monkeypatch.setattr(module, "corrected", lambda tests: [(p, p) for _ in tests])
    monkeypatch.setattr("bakeoff.compare.collections.over_suites.holm", lambda values: np.full(len(values), p))
    found = compared(Measured("one", 1.0, web(1.3)), Measured("two", 1.0, web(1.3, seed=2)))
    assert [v.kind == "better" for v in found.verdicts] == [called, called]
    assert (found.winner == "red") == called


def test_a_suite_that_could_not_start_is_named_and_takes_the_order_away() -> None:
    """Who did not come to a suite cannot win by the others."""
    found = compared(Measured("one", 1.0, web(1.3)), Measured("mail", 1.0, None, "the port is closed"))
    assert found.winner is None and "mail: the port is closed." in headline_of(found)
    assert NotBothIn(("mail",)) in found.overall[0].why_not
    assert headline_of(found)[0] == "No contender is named the best over all 2 suites: mail has no figures.", (
        "not by chance"
    )


def test_a_contender_that_is_not_in_a_suite_has_no_certain_place() -> None:
    alone = web(1.3)
    alone = replace(
        alone, contenders=alone.contenders[:1], trials=tuple(t for t in alone.trials if t.contender == "blue")
    )
    found = compared(Measured("one", 1.0, web(1.3, seed=2)), Measured("two", 1.0, alone))
    assert found.winner is None and NotBothIn(("two",)) in found.overall[0].why_not


def test_few_blocks_and_withheld_verdicts_leave_the_order_open() -> None:
    few = compared(Measured("one", 1.0, web(1.3)), Measured("two", 1.0, web(1.3, seed=2, blocks=4)))
    assert few.winner is None and FewBlocks("two", 4) in few.overall[0].why_not
    failing = change(web(1.3, seed=2), "red", 8, (1, 2, 3, 4), state="failed", reason="refused")
    held = compared(Measured("one", 1.0, web(1.3)), Measured("two", 1.0, failing))
    assert held.winner is None and LeaderForfeited("red", "two") in held.overall[0].why_not


def test_cells_and_curves_stand_in_one_comparison_and_json_has_no_nan() -> None:
    files = matrix_run(lambda *_: 1.4, tests=("read",))
    names = tuple(contender.name for contender in files.contenders)
    found = compared(Measured("web", 1.0, web(1.4, names=names)), Measured("files", 1.0, files), names=names)
    assert found.winner == names[1]
    assert json.loads(to_json(found))["suites"][1]["comparison"]["matrix"] is not None


def test_three_contenders_have_places() -> None:
    names = ("a", "b", "c")
    runs = [web(1.3, seed=seed, names=names) for seed in (1, 2)]
    found = compared(*(Measured(f"s{n}", 1.0, one) for n, one in enumerate(runs)), names=names)
    assert [place_text(place) for place in found.places] == ["1", "2", "3"]
    assert [place.contender for place in found.places] == ["c", "b", "a"]
    text = " ".join(headline_of(found))
    for pair in found.overall:
        assert f"{pair.contender} ÷ {pair.baseline} {pair.ratio:.2f}" in text, "places alone say nothing of how far"
    (suite,) = [line for line in headline_of(found) if line.startswith("s0, requests/s: ")]
    assert suite.count("× (1.") == 3 and suite.count("–1.") == 3, "a ratio with its interval of each pair"


@pytest.mark.parametrize("form", ["html", "markdown", "terminal"])
def test_the_cover_of_a_campaign_has_ratios_with_intervals(form: str) -> None:
    """Seen: "c is the best over 2 suites: 1 c; 2 b; 3 a", and how far apart only behind the cover."""
    names = ("a", "b", "c")
    runs = {f"s{seed}": web(1.3, seed=seed, names=names) for seed in (1, 2)}
    folder = CampaignFolder(Path("lab.bakeoff"), planned(*runs).model_copy(update={"contenders": names}), runs, {})
    found = compare_folder(folder)
    report = brief(compose_campaign(found, folder, (("Campaign", "lab"), ("Folder", "lab.bakeoff"))))
    text = unescape(renderer(form).render(report, "x").decode())
    for suite in runs:
        told = f"{suite} (requests/s, " if form == "html" else f"{suite}, requests/s: b ÷ a 1."
        first = text.partition("Ranking over all suites")[0]
        assert told in first and (form != "html" or re.search(rf"{suite} \(.*blocks\): b 1\.\d+× a \(1\.", first))


def test_of_many_contenders_the_pairs_with_the_baseline_are_told() -> None:
    names = ("a", "b", "c", "d", "e")
    found = compared(*(Measured(f"s{n}", 1.0, web(1.2, seed=n, names=names)) for n in (1, 2)), names=names)
    (suite,) = [line for line in headline_of(found) if line.startswith("s1, requests/s: ")]
    assert suite.count(" ÷ a ") == 4 and " ÷ b " not in suite and suite.endswith("; 6 more pairs in the table.")


def test_the_interval_over_suites_covers_the_truth_as_often_as_it_says() -> None:
    """Suites of different spread and blocks; 2,000 campaigns, 95 % ± three standard errors."""
    random = np.random.default_rng(5)
    truth, inside = (math.log(1.1), math.log(0.95)), 0
    whole = 0.25 * truth[0] + 0.75 * truth[1]
    for _ in range(2000):
        parts = []
        for n, (weight, spread, blocks) in enumerate(((1.0, 0.08, 6), (3.0, 0.03, 9))):
            logs = random.normal(truth[n], spread, blocks)
            parts.append(_Part(str(n), stratum_of(logs, weight), None, {}))
        _, low, high, _ = _joint(parts)
        inside += math.log(low) <= whole <= math.log(high)
    assert abs(inside / 2000 - 0.95) < 3 * math.sqrt(0.95 * 0.05 / 2000)


def test_blocks_that_were_added_to_a_suite_make_the_campaign_as_strict_as_the_suite() -> None:
    """Whoever adds blocks to the suite that was not clear would else have its overall verdict at 5 % once more."""
    once = web(1.03, blocks=12)
    added = AmendmentRecord(once.created_at, ADDED, "--blocks +6", 6, 6, 12, None, once.plan_hash)
    plain, grown = (
        compared(Measured("one", 1.0, each), Measured("two", 1.0, web(1.03, seed=2)))
        for each in (once, replace(once, amendments=(added,)))
    )
    (before,), (after,) = plain.overall, grown.overall
    assert (after.ratio, after.high / after.low > before.high / before.low) == (before.ratio, True)
    assert after.p > 5 * before.p and grown.verdicts[0].p_family > plain.verdicts[0].p_family


def test_what_a_page_holds_of_a_suite_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The data of a single run's page was made for each chapter, and thrown away."""
    made: list[Path] = []

    def counted(record: RunRecord) -> dict[str, object]:
        made.append(record.path)
        return {}

    for name in ("bakeoff.report.collections.campaign.measured", "bakeoff.report.compose.measured"):
        monkeypatch.setattr(name, counted)
    runs = {"one": web(1.5), "two": web(1.2, seed=2)}
    folder = CampaignFolder(Path("lab.bakeoff"), planned("one", "two"), runs, {})
    assert compose_campaign(compare_folder(folder), folder, ()).sections and len(made) == len(runs)


def test_what_suites_say_alike_of_the_machine_is_told_once_and_else_with_their_names() -> None:
    def warnings_with(text: str) -> tuple[EventRecord, ...]:
        return tuple(EventRecord("2026-11-23T00:00:00", "warning", each, None) for each in (text, "2 cores are shared"))

    def waited(record: RunRecord, share: float) -> RunRecord:
        trials = [replace(t, marks=("generator-waited",), generator_run_delay_share=share) for t in record.trials]
        return replace(record, trials=tuple(trials))

    runs = {
        "one": replace(waited(web(1.5), 0.2), events=warnings_with("red is late")),
        "two": replace(waited(web(1.2, seed=2), 0.3), events=warnings_with("red is late")),
        "three": replace(web(1.4, seed=3), events=warnings_with("blue is late")),
    }
    folder = CampaignFolder(Path("lab.bakeoff"), planned(*runs), runs, {})
    report = compose_campaign(compare_folder(folder), folder, ())
    (shared,) = [section for section in report.sections if section.id == "notes-of-suites"]
    note, table = shared.blocks
    assert isinstance(note, Text) and note.text.startswith("one: The load generator waited up to 20 %")
    assert " two: The load generator waited up to 30 %" in note.text and "three" not in note.text
    assert isinstance(table, Table) and [row[1:] for row in table.rows] == [
        ("one and two", "2", "red is late"),
        ("all", "3", "2 cores are shared"),
    ]
    of_chapters = [section for section in report.sections if section.chapter]
    text = repr(
        [(section.title, section.blocks) for section in of_chapters if section.id.startswith(("notes", "left-out"))]
    )
    assert "blue is late" in text, "what one suite alone says stays with it"
    assert not any(each in text for each in ("2 cores", "red is late", "Give it cores of its own"))


def test_a_suite_that_was_put_aside_says_how_far_it_came_and_which_command_goes_on() -> None:
    whole = web(1.5)
    stopped = replace(whole, trials=whole.trials[: len(whole.trials) // 2], finished_at=None)
    folder = CampaignFolder(
        Path("lab.bakeoff"), planned("one", "two"), {"one": stopped}, {"one": "red is gone", "two": "no"}
    )
    found = compare_folder(folder)
    one, two = found.suites
    assert f"one: put aside after {stopped.blocks_whole} of 6 blocks: red is gone." in headline_of(found)
    assert (two.missing, two.put_aside) == ("no", (0, 0)) and "two: put aside: no." in headline_of(found)
    assert "plan-2" in compose_campaign(found, folder, ()).embedded, "it can be tried where the report is read"
    assert one.comparison is not None
    advice = " ".join(each.advice for each in warnings_of(one.comparison))
    assert "`bakeoff resume lab.bakeoff`" in advice and f"resume {stopped.path.name}" not in advice


def absent(record: RunRecord, name: str, why: str = "red: nobody answers") -> RunRecord:
    """The same as if it had begun without a contender."""
    return replace(
        record,
        environment={**record.environment, ABSENT: {name: why}},
        contenders=tuple(c for c in record.contenders if c.name != name),
        trials=tuple(t for t in record.trials if t.contender != name),
    )


def test_who_was_dead_in_a_suite_is_named_first_and_never_ranks() -> None:
    """c is the best of all in the other suite, by far."""
    names = ("a", "b", "c")
    found = compared(
        Measured("one", 1.0, web(1.5, names=names)),
        Measured("two", 1.0, absent(web(1.5, seed=2, names=names), "c", "c: nobody answers")),
        names=names,
    )
    assert headline_of(found)[0] == "c could not be measured in two, which runs without it: c: nobody answers."
    assert kinds_of(found)[0] == "withheld"
    assert headline_of(found)[1].startswith("Of contenders measured in all suites b is the best over 2 suites")
    assert headline_of(found)[1].endswith("1 b; 2 a; c has no place (not measured in two).")
    assert [(place.contender, place_text(place)) for place in found.places] == [
        ("b", "1"),
        ("a", "2"),
        ("c", "not measured in two"),
    ]
    text = shown_campaign(found, {})
    assert "c is missing from two: c: nobody answers." in text


def test_who_is_left_alone_in_a_suite_wins_nothing_by_it() -> None:
    found = compared(Measured("one", 1.0, web(0.5)), Measured("two", 1.0, absent(web(0.5, seed=2), "red")))
    assert found.winner is None and not found.whole
    assert {place.first for place in found.places} == {None}
    assert "red has no place (not measured in two)" in headline_of(found)[1]


def noise(spread: float = 0.03, blocks: int = 12) -> NoiseFloor:
    """One server as two contenders, at the machine of the other runs."""
    record = run(tuple(Server(name, 9000.0, 0.5, spread=spread) for name in ("blue", "again")), blocks=blocks, seed=4)
    one = record.contenders[0]
    found = noise_of(replace(record, contenders=(one, replace(one, name="again"))))
    assert found is not None
    return found


def test_a_campaign_quotes_the_floor_of_each_suite_that_has_one() -> None:
    floor, runs = noise(), {"one": web(1.01, blocks=12), "two": web(1.2, seed=2, blocks=12), "three": web(1.2, seed=3)}
    for record in runs.values():
        assert same_setup(floor, record)
    floors = {"one": floor, "two": floor}
    measured = [Measured(name, 1.0, record, noise=floors.get(name)) for name, record in runs.items()]
    found = compare_campaign("lab", "Lab", NAMES, measured, delta=0.001)
    plain = {verdict["suite"]: verdict["floor"] for verdict in json.loads(to_json(found))["verdicts"]}
    assert plain["one"] == plain["two"] == pytest.approx(floor.primary.floor(12)) and plain["three"] is None
    assert math.isnan(found.overall[0].floor), "one suite has none"
    text = shown_campaign(found, runs)
    assert "Noise floor" in text and "one: red and blue differ by" in text and "two: red and blue differ" not in text
    assert text.count("Of this set-up the noise floor was measured") == 2
    none = compare_campaign("lab", "Lab", NAMES, [replace(each, noise=None) for each in measured], delta=0.001)
    assert "Noise floor" not in shown_campaign(none, runs)
    assert [v.kind for v in none.verdicts] == [v.kind for v in found.verdicts], "a floor decides nothing"


def test_over_all_suites_the_floor_is_that_of_a_set_up_that_errs_to_one_side() -> None:
    floor = noise()
    measured = [Measured(name, w, web(1.2, seed=seed), noise=floor) for name, w, seed in (("x", 1, 1), ("y", 3, 2))]
    (pair,) = compare_campaign("lab", "Lab", NAMES, measured).overall
    assert pair.floor == pytest.approx(floor.primary.floor(6))


def shown_campaign(found: CampaignComparison, runs: Mapping[str, RunRecord]) -> str:
    """All of it as plain text; without runs that over all suites alone."""
    whole = found if runs else replace(found, suites=tuple(replace(s, comparison=None) for s in found.suites))
    console = Console(file=io.StringIO(), width=240, color_system=None)
    show(compose_campaign(whole, folder_of(runs), (), detail=Detail.COMPARISON), console, Detail.COMPARISON)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return text


def test_each_table_in_a_terminal_stands_under_the_name_of_its_suite() -> None:
    runs = {"one": web(1.3), "two": web(1.3, seed=2)}
    text = shown_campaign(compare_folder(folder_of(runs)), runs)
    assert text.index("Pairs over all suites") < text.index("\none\n") < text.index("\ntwo\n")
    assert text.count("\none\n") == text.count("\ntwo\n") == 1, "the results of each"
    assert text.index("\ntwo\n") < text.index("\nThe same of all suites\n"), "then what need not be said twice"


def folder_of(runs: Mapping[str, RunRecord]) -> CampaignFolder:
    return CampaignFolder(Path("lab.bakeoff"), planned(*runs), runs, {})


def planned(*names: str) -> StoredCampaign:
    suite_runs = tuple(StoredSuiteRun(name=name, file=f"{name}.bakeoff", weight=1.0, plan={}) for name in names)
    return StoredCampaign(format=FORMAT, name="lab", title="Lab", seed=1, contenders=NAMES, suite_runs=suite_runs)


def challenging(left_out: str = "", absent: tuple[str, ...] = ()) -> CampaignComparison:
    """red challenges a report of two suites with blue, and green where it is `absent`."""
    runs = {"one": web(1.3), "two": web(1.3, seed=2)}
    suites = [
        ChallengedSuite(name=name, left_out=left_out if name == "two" else "", absent=dict.fromkeys(absent, "gone"))
        for name in runs
    ]
    kept = [suite.name for suite in suites if not suite.left_out]
    read = ChallengedCampaign(
        report="r.html", challenger="red", title="Lab", headline=("green wins.",), suites=tuple(suites)
    )
    folder = CampaignFolder(Path("n.bakeoff"), planned(*kept), {name: runs[name] for name in kept}, {}, read)
    found = compare_folder(folder)
    report = compose_campaign(found, folder, ())
    assert json.loads(to_json(found))["challenge"]["challenger"] == "red" and report.embedded["challenged"]
    verdict = VERDICTS["better"][0] if not absent else "A winner of 2 of 3 contenders"
    assert report.verdict == (verdict if found.winner else "No single winner")
    return found


def test_a_challenger_wins_over_all_suites_of_a_report_or_over_none() -> None:
    """By what is left out, a suite or a contender, nobody looks better."""
    whole = challenging()
    assert (
        whole.winner == "red"
        and headline_of(whole)[1]
        == "red challenges r.html in all of its suites, with none of its contenders measured again in all of these."
    )
    lead = headline_of(whole)[0]
    assert lead.startswith("red challenges r.html: over 2 suites 1.3") and lead.endswith("; red is better.")
    assert "as good as blue (95 % interval 1." in lead and kinds_of(whole)[0] == "better"
    assert result(whole)[:2] == headline_of(whole)[:2], "what a page is verified by has both"
    part = challenging(left_out="red has no address for it (files)")
    assert part.winner is None and NotBothIn(("two",)) in part.overall[0].why_not
    assert "two: red has no address for it (files)." in headline_of(part)
    assert headline_of(part)[0].endswith("who is better is not certain: not both in two.")
    assert headline_of(part)[1].endswith("two was left out, so there is no verdict over all suites.")
    some = challenging(absent=("green",))
    assert some.winner == "red"
    assert "green was not measured again, so there is no verdict on green." in headline_of(some)[1]


def test_a_challenger_alone_is_no_winner() -> None:
    whole = web(1.3)
    alone = replace(
        whole, contenders=whole.contenders[1:], trials=tuple(t for t in whole.trials if t.contender == "red")
    )
    found = compared(Measured("one", 1.0, alone), names=("red",))
    assert found.winner is None and headline_of(found)[0].startswith("red was measured alone over 1 suite")


def test_contenders_keep_their_colours_in_chapters_in_which_others_are_missing() -> None:
    """Else one that is there would look like one that is not."""
    names = ("blue", "red", "green")
    runs = {"one": web(1.3, names=names), "two": web(1.3, seed=2, names=("blue", "green"))}
    stored = planned("one", "two").model_copy(update={"contenders": names})
    folder = CampaignFolder(Path("lab.bakeoff"), stored, runs, {})
    report = compose_campaign(compare_folder(folder), folder, ())
    assert len(report.sections) > 10
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Cards):
                assert all(card.series == names.index(card.title) for card in block.cards)
            if isinstance(block, Chart):
                for key in (*legend_of(block.spec), *owners_of(block.spec)):
                    assert key.label not in names or key.colour == PALETTE[names.index(key.label)]
                    assert key.label not in names or key.shape in ("", SHAPES[names.index(key.label)])


def test_who_takes_no_part_by_the_plan_is_named_once_and_without_alarm() -> None:
    alone, both = web(1.3), web(1.3, seed=2, names=("blue", "red", "green"))
    found = compared(
        Measured("one", 1.0, both), Measured("two", 1.0, alone), Measured("three", 1.0, alone),
        names=("blue", "red", "green"),
    )  # fmt: skip
    text = " ".join(shown_campaign(found, {}).split())
    assert text.count("green takes no part in two and three.") == 1 and "is missing from" not in text
    (observed,) = (block for block in _over_all(found).blocks if isinstance(block, Text))
    assert observed.severity == "plain"


def test_blocks_that_are_advised_count_the_pairs_of_all_suites_and_the_time_of_the_suite_alone() -> None:
    """Blocks of two suites take turns: one of each every 200 s, so that a block of either takes 100 s."""
    noisy = tuple(Server(name, 9000.0 * ratio, 0.5, spread=0.05) for name, ratio in (("blue", 1.0), ("red", 1.05)))

    def suite(seed: int, after_s: int) -> RunRecord:
        record = run(noisy, load_steps=(8,), blocks=8, seed=seed)
        moments = {t.id: t.block * 200 + after_s + t.order % 2 * 50 for t in record.trials}
        trials = (
            replace(t, started_at=f"2026-11-20T10:{moments[t.id] // 60:02}:{moments[t.id] % 60:02}+00:00")
            for t in record.trials
        )
        return replace(record, trials=tuple(trials))

    observed = 0
    for seed in range(1, 9):
        found = compared(Measured("one", 1.0, suite(seed, 0)), Measured("two", 1.0, suite(seed + 50, 100)))
        for verdict, each in zip(found.verdicts, found.suites, strict=True):
            assert each.comparison is not None
            assert each.comparison.run.block_s == pytest.approx(100.0)
            alone = each.comparison.pairs[0].primary.verdict
            if verdict.kind != "inconclusive" or alone.more_blocks is None or "more block" not in sentence(verdict):
                continue
            among = re.search(
                r"about ([\d,]+) more blocks? \(([^)]+)\) needed, by Holm over all 2 pairs", sentence(verdict)
            )
            assert among is not None, sentence(verdict)
            more = int(among[1].replace(",", ""))
            assert more > alone.more_blocks and among[2] == duration(100.0 * more)
            observed += 1
    assert observed > 2
