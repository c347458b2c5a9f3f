"""What is read first, and that it is the same everywhere: one direction of ratios, tables that stay tables."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import pytest

from bakeoff.compare import compare_run
from bakeoff.compare.model.gate import StoredWords
from bakeoff.compare.model.pair import Gate
from bakeoff.report.blocks.severity import verdict_cell
from bakeoff.report.blocks.tree import Card, Cards, Text
from bakeoff.report.compose import compose
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.verdict.gates import gate_text
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.report.renderers.html import render_html
from bakeoff.store.records.run_records import RunRecord
from tests.told import headline_of, kinds_of
from tests.unit.compare.synthetic import FAST, SLOW, Server, change, run, with_capacity
from tests.unit.report.shown import shown

CRAWL = Server("python-dev", 310.0, 9.0, spread=0.02)
FIELD = (
    FAST,
    SLOW,
    Server("caddy", 42_100.0, 0.09),
    CRAWL,
    Server("lighttpd", 38_000.0, 0.1),
    Server("h2o", 60_000.0, 0.06),
    Server("varnish-with-a-long-name", 30_000.0, 0.1),
    Server("flaky", 20_000.0, 0.2),
)


def field(contenders: int, blocks: int = 6) -> RunRecord:
    """A run of the first so many of `FIELD`."""
    return run(FIELD[:contenders], blocks=blocks)


@pytest.mark.parametrize(
    ("value", "text"),
    [(135.2, "135×"), (1 / 135.2, "0.0074×"), (0.0999, "0.100×"), (0.5, "0.50×"), (1e-9, "< 0.000001×")],
)  # fmt: skip
def test_small_ratios_are_told_as_large_ones_are(value: float, text: str) -> None:
    assert wording.ratio(value) == text


def test_nobody_is_a_hundred_percent_slower() -> None:
    assert wording.faster(1 / 490) == "0.0020× as fast"
    assert wording.faster(0.4) == "0.40× as fast"
    assert not any("slower" in wording.faster(ratio) for ratio in (0.5, 0.1, 0.002))
    assert wording.faster(0.9) == "10 % slower"


@pytest.mark.parametrize("baseline", ["nginx", "python-dev"])
def test_the_headline_has_the_ratio_of_the_tables(baseline: str) -> None:
    """135× in a sentence and 0.00739× in the table under it were one number."""
    comparison = compare_run(run((FAST, CRAWL)), baseline)
    end = comparison.pairs[0].primary
    ratio = wording.ratio(end.ratio, end.low, end.high)
    assert (end.ratio < 0.1) == (baseline == "nginx") and ratio.startswith("0.0") == (baseline == "nginx")
    assert headline_of(comparison)[0].startswith("nginx is better: ")
    assert f" serves {ratio} " in headline_of(comparison)[0]
    text = shown(run((FAST, CRAWL)), comparison=comparison)
    row = next(line for line in text.splitlines() if line.startswith(f"{comparison.pairs[0].contender} ÷ "))
    assert ratio in row
    assert math.isclose(comparison.to_dict()["pairs"][0]["primary"]["ratio"], end.ratio, rel_tol=1e-6)


@pytest.mark.parametrize("contenders", [2, 4, 8])
@pytest.mark.parametrize("width", [80, 100])
def test_tables_stay_tables_and_no_line_is_longer(contenders: int, width: int) -> None:
    text = shown(field(contenders), Detail.COMPARISON, width, colours=False)
    tables = text[text.index("Verdicts") if contenders < 3 else 0 :]
    assert "\n  p99  " not in tables and "\n  verdict  " not in tables.lower(), "a stacked table"
    wide = [line for line in text.splitlines() if len(line) > width and "  " in line.strip()]
    assert wide == [], "a table wider than the terminal"


def test_a_ranking_with_ties_comes_first_and_one_card_is_the_winners() -> None:
    names = [server.name for server in FIELD[:4]]
    comparison = compare_run(field(4))
    assert comparison.winner is None
    assert [(place.words, place.contender) for place in comparison.ranking][2:] == [
        ("3", "apache"),
        ("4", "python-dev"),
    ]
    assert {place.words for place in comparison.ranking[:2]} == {"1–2"}
    assert headline_of(comparison)[0].startswith("Ranking of 4 by requests/s: 1–2 ")
    assert headline_of(comparison)[1].startswith("caddy and nginx are equivalent within ±5 %: caddy serves ")
    assert "3 apache; 4 python-dev (6 pairs, Holm; where places are shared" in headline_of(comparison)[0]
    assert [place["contender"] for place in comparison.to_dict()["ranking"]][-1] == "python-dev"
    for depth in (Detail.SUMMARY, Detail.COMPARISON):
        lines = shown(field(4), depth, comparison=comparison).splitlines()
        for pair in combinations(names, 2):
            assert any(line.startswith(f"{pair[1]} ÷ {pair[0]} ") for line in lines), pair
    assert [card.severity for card in cards(field(4))] == ["plain"] * 4


def test_the_winner_is_better_than_each_of_the_others() -> None:
    """Seen: a green frame round the third of four, which beats the fourth."""
    record = run((FAST, SLOW, CRAWL, FIELD[5]))
    comparison = compare_run(record)
    assert comparison.winner == "h2o" and comparison.ranking[0].words == "1"
    found = [(card.title, card.severity) for card in cards(record)]
    assert found == [("h2o", "good"), ("nginx", "plain"), ("apache", "plain"), ("python-dev", "plain")]
    assert compose(record, comparison).verdict == "A winner"


def test_who_is_disqualified_has_no_place() -> None:
    record = change(field(3), "caddy", 8, (1,), errors={"wrong_content": 1})
    places = {place.contender: place for place in compare_run(record).ranking}
    assert places["caddy"].words == "disqualified" and places["caddy"].first is None
    assert places["nginx"].words == "1" and places["apache"].words == "2"


@pytest.mark.parametrize(("contenders", "most"), [(3, 6), (4, 6), (8, 7)])
def test_a_headline_is_a_handful_of_sentences(contenders: int, most: int) -> None:
    """Seen: 17 with eight contenders, of which the ranking was one."""
    comparison = compare_run(field(contenders))
    assert len(headline_of(comparison)) <= most and headline_of(comparison)[0].startswith(f"Ranking of {contenders} ")
    assert len(kinds_of(comparison)) == len(headline_of(comparison))
    # The two that stand first are told of, with the ratio of their row.
    first, second = (place.contender for place in comparison.ranking[:2])
    (pair,) = (p for p in comparison.pairs if {p.baseline, p.contender} == {first, second})
    ratio = wording.ratio(pair.primary.ratio, pair.primary.low, pair.primary.high)
    assert f"{pair.contender} serves {ratio} the requests/s of {pair.baseline}" in headline_of(comparison)[1]


def test_pairs_without_a_winner_are_named_in_one_sentence() -> None:
    comparison = compare_run(field(8))
    (texts,) = (text for text in headline_of(comparison) if text.startswith("No winner in "))
    without = [p for p in comparison.pairs if p.primary.verdict.winner is None]
    leading = {place.contender for place in comparison.ranking[:2]}
    others = [p for p in without if {p.baseline, p.contender} != leading]
    assert others and texts.startswith(f"No winner in {len(others)} of the other 27 pairs: ")
    assert all(f"{p.contender} ÷ {p.baseline}" in texts for p in others)
    hung = change(field(4), "apache", 8, (2,), errors={"unfinished": 1})
    (texts,) = (text for text in headline_of(compare_run(hung)) if text.startswith("No winner in "))
    assert "python-dev ÷ apache verdict withheld" in texts, "what takes verdicts away is in the first lines"
    few = headline_of(compare_run(field(4, blocks=3)))
    assert any("No winner in any of the other 5 pairs: all 5 too few blocks for a verdict." in text for text in few)


def test_who_is_clean_is_counted_and_who_failed_is_named() -> None:
    record = change(field(4), "apache", 8, None, errors={"refused": 40})
    errors = next(text for text in headline_of(compare_run(record)) if text.startswith("Errors: "))
    assert errors.startswith("Errors: apache 240 (") and "none of the others in " in errors and "caddy" not in errors


@pytest.mark.parametrize("baseline", [None, "caddy"])
def test_a_contender_has_its_mark_in_the_terminal_and_in_tables_of_the_page(baseline: str | None) -> None:
    record = field(4)
    comparison = compare_run(record, baseline)
    marks = {"nginx": "●", "apache": "■", "caddy": "▲", "python-dev": "◆"}
    text = shown(record, Detail.PAGE, 240, comparison)
    coloured = shown(record, Detail.COMPARISON, 100, comparison, colours=True)
    page = render_html(compose(record, comparison))
    for series, (name, mark) in enumerate(marks.items()):
        others = set(marks.values()) - {mark}
        assert f"{mark} {name}: " in text and f"{mark} {name} " in text
        assert not any(f"{other} {name}" in text for other in others)
        assert f'<th scope="row"><span class="s{series}" aria-hidden="true">{mark}</span> {name}</th>' in page
        assert f"{mark} " in coloured
    assert "● nginx" in shown(record, Detail.COMPARISON, 80, comparison), "where tables turn, too"


def test_of_three_pairs_and_more_each_is_one_row_at_the_width_of_a_terminal() -> None:
    """Seen: columns of p values under all rows again, without their ratios."""
    for contenders, width in ((4, 80), (4, 100), (8, 100)):
        lines = shown(field(contenders), Detail.SUMMARY, width).splitlines()
        assert sum(line.startswith("caddy ÷ nginx") for line in lines) == 1
        assert sum(line.startswith("Place ") for line in lines) == 1


def test_two_contenders_have_a_verdict_and_no_ranking() -> None:
    comparison = compare_run(field(2))
    assert comparison.ranking == () and comparison.winner == "nginx"
    assert [(card.title, card.severity) for card in cards(field(2))] == [("nginx", "good"), ("apache", "plain")]


@pytest.mark.parametrize("baseline", [None, "caddy", "apache"])
def test_colours_and_marks_stay_with_a_contender(baseline: str | None) -> None:
    series = {card.title: card.series for card in cards(field(3), baseline)}
    assert series == {"nginx": 0, "apache": 1, "caddy": 2}
    assert Context(field(3), compare_run(field(3), baseline)).names == ("nginx", "apache", "caddy")


def cards(record: RunRecord, baseline: str | None = None) -> tuple[Card, ...]:
    """Those of the report."""
    blocks = compose(record, compare_run(record, baseline), detail=Detail.SUMMARY).blocks(Detail.PAGE)
    return next(block.cards for block in blocks if isinstance(block, Cards))


def dead() -> RunRecord:
    """python-dev answers nothing in three of its trials, and refused few there: it was asked little."""
    gone = {"state": "failed", "reason": "every connection was refused", "operations": 0, "operations_per_s": 0.0}
    return change(run((FAST, CRAWL)), "python-dev", 8, (1, 2, 3), **gone, errors={"refused": 40})


def test_what_must_be_known_comes_first_and_once() -> None:
    """Seen: 0.304 % errors of a server that was dead in 8 of 18 trials; the same note in every row."""
    comparison = compare_run(dead())
    first = [warning.text for warning in warnings_of(comparison) if warning.first]
    assert first == [
        "python-dev was dead in 3 of 18 trials: every connection was refused; each of these trials counts as forfeited."
    ]
    errors = next(text for text in headline_of(comparison) if text.startswith("Errors: "))
    assert "python-dev dead in 3 of 18 trials, and 120 in " in errors and "%" not in errors
    assert dict(cards(dead())[1].lines)["Failed"] == "dead in 3 of 18 trials; operations: 120"
    report = compose(dead(), comparison)
    top = report.sections[0].blocks[0]
    assert isinstance(top, Text) and top.text == first[0] and top.severity == "bad"
    texts = [block for block in report.blocks(Detail.PAGE) if isinstance(block, Text) and "dead in" in block.text]
    assert len(texts) == 1
    assert not any(isinstance(block, Text) and block.severity == "warning" for block in report.sections[0].blocks)


def test_who_was_dead_is_named_in_the_ranking_and_what_a_loss_counts_as_where_it_counts() -> None:
    """Seen: "1–3 a, b and c" of a c that was dead from the middle on; 0.31× beside rates whose ratio is 0.51."""
    gone = {"state": "failed", "reason": "every connection was refused", "operations": 0, "operations_per_s": 0.0}
    record = change(run((FAST, SLOW, replace(SLOW, name="third")), blocks=6), "third", 8, (1, 2, 3), **gone)
    comparison = compare_run(record)
    assert "third (dead in 3 of 18 trials)" in headline_of(comparison)[0]
    assert headline_of(comparison)[0].count("dead") == 1
    pair = next(pair for pair in comparison.pairs if pair.contender == "third")
    at_eight = next(point for point in pair.curves[0].points if str(point.load_step) == "8")
    assert sentence(at_eight).endswith("third forfeited 3 of 6 trials, each counted as 10 times slower")
    busy = Gate("other load", "red", "third", StoredWords("others took half of the processors"))
    withheld = replace(at_eight, verdict=replace(at_eight.verdict, kind="withheld", reasons=(busy,)))
    assert verdict_cell(withheld) == (
        "withheld: other load; third forfeited 3 of 6 trials, each counted as 10 times slower"
    ), "a cell names the gate alone, and who forfeited all the same"


def test_notes_are_in_a_section_of_their_own() -> None:
    record = change(run(), "nginx", None, None, fairness_jain=0.5)
    report = compose(record, compare_run(record))
    notes = next(section for section in report.sections if section.id == "notes")
    assert any("did not treat its clients alike" in block.text for block in notes.blocks if isinstance(block, Text))
    assert "! nginx did not treat its clients alike" in shown(record, Detail.SUMMARY)


def test_folders_that_are_mounted_in_different_ways_are_told() -> None:
    def mounted(nginx: str, apache: str) -> list[str]:
        content = {"contenders": {"nginx": {"mount_options": nginx}, "apache": {"mount_options": apache}}}
        warnings = warnings_of(compare_run(replace(run(), environment={"content": content})))
        return [warning.text for warning in warnings if warning.first]

    assert mounted("rw,sync,addr=10.0.0.1", "rw,addr=10.0.0.2") == [
        "The folders are mounted with different options: nginx sync; apache none of these."
    ]
    assert mounted("rw,addr=10.0.0.1", "rw,addr=10.0.0.2") == []


@pytest.mark.parametrize(
    ("other", "advice"), [("nfs4", "Mount them alike"), ("cifs", "cifs and nfs4 have different options")]
)
def test_what_to_do_about_mount_options_depends_on_the_file_systems(other: str, advice: str) -> None:
    folders = {"nginx": {"file_system": "nfs4", "mount_options": "rw,sync"}}
    folders["apache"] = {"file_system": other, "mount_options": "rw"}
    record = replace(run(), environment={"content": {"contenders": folders}})
    assert [w.advice for w in warnings_of(compare_run(record)) if w.first and w.advice.startswith(advice)]


def test_options_that_only_one_file_system_has_are_no_difference() -> None:
    """Seen: a red box above every comparison of ext4 with XFS, which lists defaults that ext4 does not know."""

    def differing_options(ext4: str, xfs: str) -> list[str]:
        folders = {"nginx": {"file_system": "ext4", "mount_options": ext4}}
        folders["apache"] = {"file_system": "xfs", "mount_options": xfs}
        record = replace(run(), environment={"content": {"contenders": folders}})
        return [warning.text for warning in warnings_of(compare_run(record)) if "mounted" in warning.text]

    assert differing_options("rw,relatime", "rw,relatime,inode64,logbufs=8,logbsize=32k,noquota") == []
    assert differing_options("rw,noatime", "rw,relatime,inode64") == [
        "The folders are mounted with different options: nginx noatime; apache relatime."
    ]


@pytest.mark.parametrize("state", ["failed", "voided"])
def test_trials_that_do_not_count_name_the_command_that_repeats_them(state: str) -> None:
    record = change(run(), "apache", 8, (1, 2, 3), state=state, reason="no ports")
    (advice,) = [
        w.advice for w in warnings_of(compare_run(record)) if "trial" in w.text and "apache" in w.text and w.first
    ]
    assert f"`bakeoff resume {record.path} --retry-failed` repeats them" in advice
    imported = replace(record, tool={**record.tool, "imported_from": "IOzone"})
    advices = [w.advice for w in warnings_of(compare_run(imported))]
    assert any("repeat the run" in each for each in advices) and not any("--retry-failed" in each for each in advices)


def test_blocks_that_were_measured_are_not_asked_for_again() -> None:
    lost = change(run(), "apache", 8, (1, 2, 3), state="voided", reason="no ports")
    assert any("blocks were measured, but in the others" in w.advice for w in warnings_of(compare_run(lost)))
    few = run(blocks=4)
    assert any(w.advice.startswith("Run at least 6 blocks") for w in warnings_of(compare_run(few)))
    imported = replace(few, tool={**few.tool, "imported_from": "IOzone"})
    advices = [w.advice for w in warnings_of(compare_run(imported))]
    assert any(each.startswith("Import 6 or more files") for each in advices)
    assert not any(each.startswith("Run at least") for each in advices)


def test_nothing_comparable_is_said_first() -> None:
    record = change(run((FAST, SLOW)), "apache", None, None, state="voided", reason="no ports")
    first = [warning.text for warning in warnings_of(compare_run(record)) if warning.first]
    assert "Nothing is comparable: no block has usable trials of both." in first


def test_blocks_that_are_not_usable_are_explained_where_they_are_counted() -> None:
    record = change(run(), "apache", 8, (1, 2, 3), state="voided", reason="no ports")
    facts = dict(compose(record, compare_run(record)).facts)
    assert facts["Blocks"] == "6 of 6 measured, 3 usable: in the others a trial has no figure"
    assert dict(compose(run(), compare_run(run())).facts)["Blocks"] == "6 of 6 measured"


def test_a_peak_of_two_speeds_is_bimodal() -> None:
    """Seen: a peak that is the mean of blocks at 25,614 and 62,048."""
    record = run(load_steps=(8,))
    for block in (1, 2, 3):
        record = change(record, "nginx", None, (block,), operations_per_s=14_000.0)
    comparison = compare_run(record)
    peak = next(text for text in headline_of(comparison) if text.startswith("Peak: "))
    assert "nginx between 14,000 and 4" in peak and "(blocks differ)" in peak
    card = cards(record)[0]
    assert card.figure.startswith("14,000 – 4") and card.caption == "no one peak: blocks differ, at 8 clients"
    table = shown(record, Detail.DETAILS).partition("Peak and saturation")[2]
    row = next(line for line in table.splitlines() if line.startswith("● nginx"))
    assert "14,000 – 4" in row and "blocks differ" in row


def test_the_ceiling_says_how_often_the_generator_could_have_asked() -> None:
    """Seen: "peak is 0.194 % of the null rate", which had no socket in it."""
    text = shown(run(), Detail.PAGE)
    peak = max(summary.peak for summary in compare_run(run()).contenders)
    often = wording.figures(254_000.0 / peak, 2)
    said = (
        f"The generator itself could have asked {often} times as often on this machine as nginx, the fastest here, answ"
    )
    assert said in text and "against the null server on loopback (kept connections, replies of 1,024 bytes)" in text
    assert "null rate" not in text and "0.194 %" not in text
    near = shown(with_capacity(run(), 1.2 * peak), Detail.PAGE)
    assert "That is near: nginx may be faster than shown." in near and "1.2 times as often" in near
    under = shown(with_capacity(run(), 0.8 * peak), Detail.PAGE)
    assert "nginx answered more than the" in under and "times as often" not in under
    none = shown(with_capacity(run(), None), Detail.PAGE)
    assert "The generator's capacity was not measured" in none


def test_a_ceiling_that_the_generator_was_not_busy_for_is_a_lower_bound() -> None:
    """It marks nobody, and a reader learns that there was more."""
    peak = max(summary.peak for summary in compare_run(run()).contenders)

    def with_floor(per_s: float, busy_share: float) -> RunRecord:
        texts = {"words": "kept connections, TLS", "operations_per_s": per_s, "busy_share": busy_share, "agents": {}}
        capacities = {contender.name: texts for contender in run().contenders}
        return replace(run(), environment={**run().environment, "generator_capacities": capacities})

    text = shown(with_floor(1.2 * peak, 0.43), Detail.PAGE)
    assert "could have asked at least 1.2 times as often on this machine as nginx" in text
    assert "Its load threads worked for 43 % of that time" in text and "That is near" not in text
    under = shown(with_floor(0.5 * peak, 0.43), Detail.PAGE)
    assert "could have asked more than" in under and "times as often" not in under
    for floor in (with_floor(1.2 * peak, 0.43), with_floor(0.5 * peak, 0.43)):
        assert not any("of the generator's capacity" in warning.text for warning in warnings_of(compare_run(floor)))
        busy = change(floor, "nginx", 8, None, marks=("near-generator-capacity",))
        (warning,) = [w for w in warnings_of(compare_run(busy)) if "of the generator's capacity" in w.text]
        assert warning.text.startswith("The peak of nginx")
    at_limit = shown(with_floor(1.2 * peak, 0.95), Detail.PAGE)
    assert "That is near: nginx may be faster than shown." in at_limit


def test_a_contender_near_the_ceiling_is_told_with_the_verdict() -> None:
    record = change(with_capacity(run(), 45_000.0), "nginx", 8, None, marks=("near-generator-capacity",))
    (gate,) = compare_run(record).pairs[0].primary.gates
    assert (gate.name, gate.level, gate.contender) == ("generator capacity", "amber", "nginx")
    assert gate_text(gate).startswith(
        "nginx answered up to 9"
    ) and "in 6 of 18 trials: it may be faster than shown" in gate_text(gate)
    assert gate_text(gate) in " ".join(shown(record, Detail.COMPARISON).split())
