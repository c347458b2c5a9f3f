"""What is told of the stored runs is what was told of them: numbers, verdicts and keys (`tests/stored_runs`)."""

from pathlib import Path

import pytest

from tests.stored_runs.expect import SHOWN, differences, expected, values_of
from tests.stored_runs.files import cases

AGAIN = "where an issue asks for it: python -m tests.stored_runs.expect"


@pytest.mark.parametrize("case", cases())
def test_a_stored_run_comes_to_what_it_came_to(case: str, tmp_path: Path) -> None:
    found = differences(expected(case), values_of(case, tmp_path))
    assert not found, "\n".join([f"{case}: {len(found):,} differences ({AGAIN})", *found[:SHOWN]])


def test_a_difference_is_seen_and_noise_is_none() -> None:
    old = {"a": 1.0, "b": [1.0, 2.0], "c": "slower", "d": True, "gone": 1}
    assert differences(old, {**old, "a": 1.0 + 1e-12, "b": [1.0, 2.0 - 1e-12]}) == []
    new = {"a": 1.0 + 1e-6, "b": [1.0], "c": "faster", "d": 1, "new": None}
    assert [line[:3] for line in differences(old, new)] == ["! a", "! b", "! c", "! d", "- g", "+ n"]
