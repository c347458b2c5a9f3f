"""Contenders have the order and the colours that the author gives them: in charts, tables, lists and cards."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bakeoff.compare import compare_run
from bakeoff.core.errors import PlanError
from bakeoff.disclosure.paper.read import paper_of
from bakeoff.report.blocks.tree import Cards, Chart, Report, Table
from bakeoff.report.charts.palette import AS_PLANNED, DARK_PAPER, LEAST_CONTRAST, PALETTE, Placed, contrast, stylesheet
from bakeoff.report.compose import compose
from bakeoff.report.paper.contender_styles import arranged, styles_of
from bakeoff.report.paper.display_names import with_names
from bakeoff.report.renderers.html import render_html
from tests.unit.compare.synthetic import run

VIOLET = "#7a1fa2"
NAMES = ("nginx", "apache", "caddy")


def seen(**given: dict[str, Any]) -> Placed:
    return styles_of(paper_of({"contenders": given}), NAMES[:2])


def report(**given: dict[str, Any]) -> Report:
    record, paper = run(), paper_of({"contenders": given})
    among = styles_of(paper, tuple(one.name for one in record.contenders))
    return with_names(compose(record, arranged(compare_run(record), among), among=among), paper)


def test_without_a_word_of_the_author_all_is_as_planned() -> None:
    assert seen(apache={"title": "Qube"}) == AS_PLANNED == ()


def test_the_order_is_the_author_s_and_the_baseline_stays() -> None:
    made = report(apache={"order": 1}, nginx={"order": 2})
    assert made.contenders == ("apache", "nginx")
    blocks = [block for section in made.sections for block in section.blocks]
    heads = [[column.title for column in block.columns] for block in blocks if isinstance(block, Table)]
    groups = [
        list(dict.fromkeys(column.group for column in block.columns if column.group in NAMES))
        for block in blocks
        if isinstance(block, Table)
    ]
    assert ["apache", "nginx"] in groups and ["nginx", "apache"] not in groups, heads
    assert any("apache ÷ nginx" in row for block in blocks if isinstance(block, Table) for row in block.rows)
    legends = [c.spec["usermeta"]["legend"] for c in blocks if isinstance(c, Chart) and "legend" in c.spec["usermeta"]]
    named = [[key["label"] for key in keys if key["label"] in NAMES] for keys in legends]
    assert ["apache", "nginx"] in named and ["nginx", "apache"] not in named
    first = next(key for keys in legends for key in keys if key["label"] == "apache")
    assert first["colour"] == PALETTE[0], "colour and mark are those of the place"


def test_who_has_no_order_stands_behind() -> None:
    assert styles_of(paper_of({"contenders": {"caddy": {"order": 5}}}), NAMES) == ("caddy", "nginx", "apache")


def test_a_colour_is_in_charts_cards_and_the_page_under_the_author_s_name() -> None:
    made = report(apache={"colour": VIOLET.upper(), "short": "Qube 2"})
    blocks = [block for section in made.sections for block in section.blocks]
    drawn = json.dumps([block.spec for block in blocks if isinstance(block, Chart)], default=str)
    assert VIOLET in drawn and PALETTE[0] in drawn and PALETTE[1] not in drawn
    page = render_html(made)
    assert f"--s1:{VIOLET}" in page and f'fill="{VIOLET}"' in page and PALETTE[1] not in page.partition("<main>")[2]
    assert any(isinstance(block, Cards) for block in blocks)


def test_the_same_stands_out_from_dark_paper() -> None:
    rules = stylesheet(Placed(("a",), (), {"a": "#101010"}))
    dark = rules.partition("prefers-color-scheme:dark")[2].partition("--s0:")[2][:7]
    assert contrast("#101010", DARK_PAPER) < LEAST_CONTRAST <= contrast(dark, DARK_PAPER)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"apache": {"colour": "#ffff00"}}, "colour #ffff00 is hardly seen on white paper: choose a darker one"),
        ({"apache": {"colour": PALETTE[0]}}, "nginx has colour #0072b2 already: choose another"),
        ({"apache": {"colour": "red"}}, "colour"),
        ({"apache": {"order": "first"}}, "order"),
    ],
)
def test_what_readers_could_not_tell_apart_is_refused(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PlanError, match=sentence):
        seen(**given)
