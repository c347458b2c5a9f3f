"""What is read first, and that it is the same everywhere: one direction of ratios, tables that stay tables."""

from __future__ import annotations

import math
from itertools import combinations

import pytest

from bakeoff.compare import compare_run, wording
from bakeoff.compare.cell_words import faster
from bakeoff.report.blocks import Card, Cards
from bakeoff.report.compose import compose
from bakeoff.report.context import Context
from bakeoff.report.depth import Depth
from bakeoff.store.records import RunRecord
from tests.unit.compare.synthetic import FAST, SLOW, Server, change, run
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
    [(135.2, "135×"), (1 / 135.2, "1/135"), (0.0999, "1/10.0"), (0.5, "0.50×"), (1e-9, "< 1/1,000,000")],
)  # fmt: skip
def test_small_ratios_are_told_as_one_over(value: float, text: str) -> None:
    assert wording.ratio(value) == text


def test_nobody_is_a_hundred_percent_slower() -> None:
    assert faster(1 / 490) == "1/490 as fast"
    assert faster(0.4) == "0.400 times as fast"
    assert not any("slower" in faster(ratio) for ratio in (0.5, 0.1, 0.002))
    assert faster(0.9) == "10 % slower"


@pytest.mark.parametrize("baseline", ["nginx", "python-dev"])
def test_the_headline_has_the_ratio_of_the_tables(baseline: str) -> None:
    """135× in a sentence and 0.00739× in the table under it were one number."""
    comparison = compare_run(run((FAST, CRAWL)), baseline)
    end = comparison.pairs[0].primary
    ratio = wording.ratio(end.ratio, end.low, end.high)
    assert (end.ratio < 0.1) == (baseline == "nginx") and ratio.startswith("1/") == (baseline == "nginx")
    assert comparison.headline[0].startswith("nginx is better: ")
    assert f" serves {ratio} " in comparison.headline[0]
    text = shown(run((FAST, CRAWL)), comparison=comparison)
    row = next(line for line in text.splitlines() if line.startswith(f"{comparison.pairs[0].contender} ÷ "))
    assert ratio in row
    assert math.isclose(comparison.to_dict()["pairs"][0]["primary"]["ratio"], end.ratio, rel_tol=1e-6)


@pytest.mark.parametrize("contenders", [2, 4, 8])
@pytest.mark.parametrize("width", [80, 100])
def test_tables_stay_tables_and_no_line_is_longer(contenders: int, width: int) -> None:
    text = shown(field(contenders), Depth.COMPARISON, width, colours=False)
    tables = text[text.index("Peak and saturation") if contenders < 3 else 0 :]
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
    assert comparison.headline[0].startswith("Ranking of 4 by requests/s: 1–2 ")
    assert "3 apache; 4 python-dev (6 pairs, Holm; where places are shared" in comparison.headline[0]
    assert [place["contender"] for place in comparison.to_dict()["ranking"]][-1] == "python-dev"
    for depth in (Depth.SUMMARY, Depth.COMPARISON):
        lines = shown(field(4), depth, comparison=comparison).splitlines()
        for pair in combinations(names, 2):
            assert any(line.startswith(f"{pair[1]} ÷ {pair[0]} ") for line in lines), pair
    assert [card.tone for card in cards(field(4))] == ["plain"] * 4


def test_the_winner_is_better_than_each_of_the_others() -> None:
    """Seen: a green frame round the third of four, which beats the fourth."""
    record = run((FAST, SLOW, CRAWL, FIELD[5]))
    comparison = compare_run(record)
    assert comparison.winner == "h2o" and comparison.ranking[0].words == "1"
    found = [(card.title, card.tone) for card in cards(record)]
    assert found == [("h2o", "good"), ("nginx", "plain"), ("apache", "plain"), ("python-dev", "plain")]
    assert compose(record, comparison).verdict == "A winner"


def test_who_is_disqualified_has_no_place() -> None:
    record = change(field(3), "caddy", 8, (1,), errors={"wrong_content": 1})
    places = {place.contender: place for place in compare_run(record).ranking}
    assert places["caddy"].words == "disqualified" and places["caddy"].first is None
    assert places["nginx"].words == "1" and places["apache"].words == "2"


def test_two_contenders_have_a_verdict_and_no_ranking() -> None:
    comparison = compare_run(field(2))
    assert comparison.ranking == () and comparison.winner == "nginx"
    assert [(card.title, card.tone) for card in cards(field(2))] == [("nginx", "good"), ("apache", "plain")]


@pytest.mark.parametrize("baseline", [None, "caddy", "apache"])
def test_colours_and_marks_stay_with_a_contender(baseline: str | None) -> None:
    series = {card.title: card.series for card in cards(field(3), baseline)}
    assert series == {"nginx": 0, "apache": 1, "caddy": 2}
    assert Context(field(3), compare_run(field(3), baseline)).names == ("nginx", "apache", "caddy")


def cards(record: RunRecord, baseline: str | None = None) -> tuple[Card, ...]:
    """Those of the report."""
    blocks = compose(record, compare_run(record, baseline), depth=Depth.SUMMARY).blocks(Depth.PAGE)
    return next(block.cards for block in blocks if isinstance(block, Cards))
