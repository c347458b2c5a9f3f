"""Runs for programs: `bakeoff.open`, its tables, its comparison and its charts."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import polars
import pytest
from typer.testing import CliRunner

import bakeoff
from bakeoff import api
from bakeoff.api import OpenCampaign
from bakeoff.cli.app import app
from bakeoff.core.errors import PlanError, RunFileError
from bakeoff.report.narrate.document import to_dict
from bakeoff.store.collections.campaign import StoredCampaign, StoredSuiteRun, write_campaign
from bakeoff.store.sqlite.canonical import plan_hash
from tests.unit.compare.synthetic import run
from tests.unit.compare.test_noise import aa
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
    monkeypatch.setattr(api, "is_installed", lambda name: False)
    rows = bakeoff.open(path).trials
    assert isinstance(rows, list) and rows[0]["contender"] in ("nginx", "apache") and rows[0]["operations"] > 0


def test_the_comparison_is_the_one_of_compare(path: Path) -> None:
    found = bakeoff.open(path)
    assert found.headline()[0].startswith("nginx is better")
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


def test_a_campaign_opens_as_its_folder(tmp_path: Path) -> None:
    web, other = run(blocks=6), run(blocks=6, seed=2)
    suite_runs = tuple(
        StoredSuiteRun(name=name, file=f"{name}.bakeoff", weight=1.0, plan=one.plan)
        for name, one in (("web", web), ("other", other), ("mail", web))
    )
    folder = tmp_path / "lab.bakeoff"
    folder.mkdir()
    names = ("nginx", "apache")
    write_campaign(
        folder, StoredCampaign(format=1, name="lab", title="Lab", seed=1, contenders=names, suite_runs=suite_runs)
    )
    for name, one in (("web", web), ("other", other)):
        stored(replace(one, plan_hash=plan_hash(one.plan)), folder / f"{name}.bakeoff")
    found = bakeoff.open(folder)
    assert isinstance(found, OpenCampaign) and found.contenders == names and found.suites == ("web", "other")
    frame = found.trials
    assert frame.columns[:2] == ["suite", "contender"] and frame.height == len(web.trials) + len(other.trials)
    assert set(frame["suite"]) == {"web", "other"}
    assert found.suite("web").contenders == names and "all 3 suites: mail has no" in found.headline()[0]
    assert {suite.name for suite in found.compare("apache").suites if suite.comparison is None} == {"mail"}
    assert "web/rate" in found.charts and found.chart("web/rate")._repr_mimebundle_()["image/svg+xml"].startswith(
        "<svg"
    )
    for ask in (found.suite, found.chart, found.table, found.compare):
        with pytest.raises(PlanError, match="there is no"):
            ask("mail")


def test_a_comparison_quotes_what_equals_differ_by(path: Path) -> None:
    """As `bakeoff compare` does: that of the file beside the run, or of the one that is named."""
    found = bakeoff.open(path)
    assert found.compare().noise_quote is None
    beside, named = stored(aa(seed=4), path.parent / "aa-1.bakeoff"), stored(aa(seed=5), path.parent / "named.bakeoff")
    quote = found.compare().noise_quote
    assert quote is not None and quote.noise.file == beside.name and quote.floor > 0.0
    document = json.loads(CliRunner().invoke(app, ["compare", str(path), "--json"]).output)
    assert to_dict(found.compare())["noise_quote"] == document["noise_quote"]
    other = found.compare(aa=named).noise_quote
    assert other is not None and other.noise.file == named.name and other.floor != quote.floor
    assert found.compare(aa=()).noise_quote is None
    with pytest.raises(PlanError, match="is no A/A run"):
        found.compare(aa=path)
    with pytest.raises(PlanError, match="quotes one noise floor"):
        found.compare(aa=[str(named), beside])
    with pytest.raises(RunFileError, match="gone"):
        found.compare(aa=path.parent / "gone.bakeoff")


def test_a_campaign_and_its_suites_quote_what_lies_beside_it(tmp_path: Path) -> None:
    web = replace(run(blocks=6), plan_hash=plan_hash(run(blocks=6).plan))
    folder, names = tmp_path / "lab.bakeoff", ("nginx", "apache")
    folder.mkdir()
    suite_run = StoredSuiteRun(name="web", file="web.bakeoff", weight=1.0, plan=web.plan)
    write_campaign(
        folder, StoredCampaign(format=1, name="lab", title="Lab", seed=1, contenders=names, suite_runs=(suite_run,))
    )
    stored(web, folder / "web.bakeoff")
    beside, named = stored(aa(seed=4), tmp_path / "aa-1.bakeoff"), stored(aa(seed=5), tmp_path / "named.bakeoff")
    found = bakeoff.open(folder)
    assert isinstance(found, OpenCampaign)
    quote, suite = found.suite("web").compare().noise_quote, found.compare().suites[0].comparison
    assert quote is not None and suite is not None and suite.noise_quote == quote and quote.noise.file == beside.name
    assert found.compare().verdicts[0].floor == pytest.approx(quote.floor)
    assert found.compare(aa=named).verdicts[0].floor != found.compare().verdicts[0].floor
    assert math.isnan(found.compare(aa=()).verdicts[0].floor)
    own = found.suite("web").compare(aa=str(named)).noise_quote
    assert own is not None and own.noise.file == named.name


def test_what_is_no_run_file_is_refused_when_it_is_asked(tmp_path: Path) -> None:
    (tmp_path / "x.bakeoff").write_text("no")
    with pytest.raises(RunFileError):
        _ = bakeoff.open(tmp_path / "x.bakeoff").trials


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, bakeoff; print(*(m for m in ('numpy', 'pydantic', 'polars') if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
