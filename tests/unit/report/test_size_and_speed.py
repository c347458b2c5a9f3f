"""A full run, from its file to its report: quick, and small enough to mail."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bakeoff.compare import compare_run
from bakeoff.report.compose import compose
from bakeoff.report.html import render_html
from bakeoff.store.read import read_run
from tests.unit.compare.synthetic import FULL_MIXES, run
from tests.unit.store.builders import stored


def page_of(path: Path) -> str:
    record = read_run(path)
    return render_html(compose(record, compare_run(record)))


@pytest.fixture(scope="module")
def full_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2 contenders, 16 mixes up to 60 clients, 8 blocks, 242 seconds each."""
    return stored(run(mixes=FULL_MIXES, blocks=8, window_s=240.0), tmp_path_factory.mktemp("full") / "full.bakeoff")


def test_a_full_run_opens_and_is_rendered_in_three_seconds_to_a_small_page(full_run: Path, tmp_path: Path) -> None:
    # Imports and the start of the drawing engine are paid once.
    page_of(stored(run(blocks=1), tmp_path / "small.bakeoff"))
    best, page = 1e9, ""
    # Processor time, the best of three: others may use the machine.
    for _ in range(3):
        before = time.process_time()
        page = page_of(full_run)
        best = min(best, time.process_time() - before)
    assert best < 3.0
    assert len(page.encode()) < 1_500_000
    assert len(read_run(full_run).trials) == 256
