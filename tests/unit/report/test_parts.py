"""Where sections stand in a report, and what it says first about how it was tested."""

from dataclasses import replace
from itertools import pairwise

from bakeoff.compare import compare_run
from bakeoff.report.blocks.tree import Text
from bakeoff.report.compose import compose
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.sections import SECTIONS
from tests.unit.compare.synthetic import run
from tests.unit.report.test_author_tables import measured


def said(**plan: object) -> str:
    record = run()
    record = replace(record, plan={**record.plan, **plan})
    report = compose(record, compare_run(record))
    section = next(section for section in report.sections if section.id == "overview")
    return " ".join(block.text for block in section.blocks if isinstance(block, Text))


def test_results_stand_before_configuration_and_the_appendix_is_last() -> None:
    report, _ = measured()
    parts = [section.stands_in for section in report.sections]
    assert all(before <= after for before, after in pairwise(parts))
    assert parts[0] == ReportPart.FRONT and parts[-1] == ReportPart.APPENDIX


def test_the_overview_says_what_a_client_asks_and_how_often() -> None:
    classes = [
        {"name": "static/256", "weight": 3.0, "source": "files"},
        {"name": "404", "weight": 1.0, "source": "missing"},
    ]
    text = said(classes=classes, differences=["length: 8s, published 5m"])
    assert "75 % of 256 bytes and 25 % of a file that is not there (status 404)" in text
    assert (
        "modelled on WebBench 3.0 STATIC" in text and "No keep-alive: each request has a connection of its own" in text
    )
    assert "3 load steps from 1 to 8 clients, each for 10s, of which 8s count" in text and "6 times" in text
    assert "not the suite as published: length: 8s, published 5m." in text
    assert "Example CPU 3000" in text


def test_hostile_plans_have_an_overview() -> None:
    for broken in ({"classes": "x"}, {"classes": [{"weight": "3"}, 4]}, {"settings": []}, {"modelled_on": None}):
        assert "Static web files (suite web-static" in said(**broken)


def test_the_order_in_a_block_is_the_one_that_the_plan_has() -> None:
    assert "In each block every contender is visited once, with all its load steps in one piece" in said()
    text = said(order="load_steps")
    assert "all contenders are measured back to back at each load step" in text and "visited once" not in text


def test_a_run_that_was_broken_off_says_how_much_of_it_there_is() -> None:
    record = run()
    record = replace(record, trials=tuple(trial for trial in record.trials if trial.block <= 4))
    section = next(one for one in compose(record, compare_run(record)).sections if one.id == "overview")
    text = " ".join(block.text for block in section.blocks if isinstance(block, Text))
    assert "It was to be done 6 times; there are figures of 4 blocks." in text and "All of it" not in text


def test_a_noise_floor_stands_with_what_speaks_for_trust() -> None:
    parts = {section.id: section.part for section in SECTIONS}
    assert parts["noise"] == parts["audits"] == ReportPart.AUDITS
