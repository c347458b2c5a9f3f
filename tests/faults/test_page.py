"""The page that says how a worse server could look better: for every endpoint, with tests that are there."""

from pathlib import Path

import pytest

from bakeoff.compare.limits.capacity_model import CAPACITY
from bakeoff.compare.metrics.overload import DECIDES
from bakeoff.compare.resources.telemetry_cost import CPU
from tests.faults.table import OUTCOMES
from tests.faults.verdict import PAGE, documented, named_tests

ROOT = Path(__file__).parents[2]


def test_what_no_cell_shows_has_its_paragraph_too() -> None:
    """The endpoints of all cells are held to the page by the tests of cells; these need a watched contender, a search,
    a rate.
    """
    assert {CPU, CAPACITY, DECIDES} <= documented()


def test_every_paragraph_about_an_endpoint_names_its_test() -> None:
    paragraphs = [part for part in PAGE.read_text().split("\n\n") if part.startswith("**`")]
    assert len(paragraphs) > 10
    assert [part[:40] for part in paragraphs if "`tests/" not in part] == []


@pytest.mark.parametrize("name", sorted(set(named_tests())))
def test_every_test_that_it_names_is_there(name: str) -> None:
    path, _, test = name.partition("::")
    assert f"\ndef {test}(" in (ROOT / path).read_text()


def test_it_explains_the_words_of_the_table() -> None:
    text = PAGE.read_text()
    assert [outcome for outcome in OUTCOMES if outcome.removesuffix(" in the headline") not in text] == []
