"""A full run, from its file to its report: small enough to mail. How long it takes: `benchmarks/absolute.py`."""

from pathlib import Path

from bakeoff.compare import compare_run
from bakeoff.report.compose import compose
from bakeoff.report.renderers.html import render_html
from bakeoff.store.sqlite.read import read_run
from tests.unit.compare.synthetic import FULL_LOAD_STEPS, run
from tests.unit.store.builders import stored


def test_a_full_run_is_a_small_page(tmp_path: Path) -> None:
    """2 contenders, 16 load steps up to 60 clients, 8 blocks, 242 seconds each."""
    path = stored(run(load_steps=FULL_LOAD_STEPS, blocks=8, window_s=240.0), tmp_path / "full.bakeoff")
    record = read_run(path)
    assert len(record.trials) == 256
    assert len(render_html(compose(record, compare_run(record))).encode()) < 1_500_000
