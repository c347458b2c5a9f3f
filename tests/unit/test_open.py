"""Runs for programs: `bakeoff.open`, its tables, its comparison and its charts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars
import pytest

import bakeoff
from bakeoff import opened
from bakeoff.errors import PlanError, RunFileError
from tests.unit.compare.synthetic import run
from tests.unit.store.builders import stored


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return stored(run(), tmp_path / "lab.bakeoff")


def test_trials_are_a_data_frame_with_typed_columns(path: Path) -> None:
    found = bakeoff.open(path)
    assert found.contenders == ("nginx", "apache")
    frame = found.trials
    assert isinstance(frame, polars.DataFrame) and frame.height == len(run().trials)
    assert frame["operations"].dtype.is_integer() and frame["service_p99_ms"].dtype == polars.Float64
    means = frame.group_by("contender").agg(polars.col("operations_per_s").mean())
    assert dict(means.iter_rows())["nginx"] > dict(means.iter_rows())["apache"]
    assert found.table("seconds").height > frame.height and "seconds" in found.tables
    with pytest.raises(PlanError, match="seconds"):
        found.table("second")


def test_without_polars_it_is_pandas_or_rows(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened, "is_installed", lambda name: False)
    rows = bakeoff.open(path).trials
    assert isinstance(rows, list) and rows[0]["contender"] in ("nginx", "apache") and rows[0]["operations"] > 0


def test_the_comparison_is_the_one_of_compare(path: Path) -> None:
    found = bakeoff.open(path)
    assert found.compare().headline[0].startswith("nginx is better")
    assert found.compare(baseline="apache").run.baseline == "apache"
    with pytest.raises(PlanError, match="iis"):
        found.compare(baseline="iis")


def test_a_chart_is_drawn_by_a_notebook(path: Path) -> None:
    found = bakeoff.open(path)
    chart = found.chart("rate")
    bundle = chart._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg") and "$schema" in bundle["application/vnd.vegalite.v6+json"]
    assert chart.title in bundle["text/plain"] and "rate" in found.charts
    with pytest.raises(PlanError, match="rate"):
        found.chart("rates")


def test_what_is_no_run_file_is_refused_when_it_is_asked(tmp_path: Path) -> None:
    (tmp_path / "x.bakeoff").write_text("no")
    with pytest.raises(RunFileError):
        _ = bakeoff.open(tmp_path / "x.bakeoff").trials


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, bakeoff; print(*(m for m in ('numpy', 'pydantic', 'polars') if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
