"""What `bakeoff compare` and `bakeoff report` print, write and refuse."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from bakeoff.cli.read import compare as compare_verb
from bakeoff.cli.read import report as report_verb
from bakeoff.compare import compare_run
from bakeoff.core.errors import PlanError, RunFileError
from bakeoff.report.layout.detail import Detail
from bakeoff.store.collections.campaign import StoredCampaign, StoredSuiteRun, write_campaign
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.sqlite.canonical import plan_hash
from tests.told import headline_of
from tests.unit.compare.synthetic import SLOW, Server, change, run
from tests.unit.report.shown import shown
from tests.unit.store.builders import stored

app = typer.Typer()
compare_verb.register(app)
report_verb.register(app)


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    return stored(run(), tmp_path / "demo.bakeoff")


def printed(record: RunRecord, full: bool = True, width: int = 240) -> str:
    return shown(record, Detail.DETAILS if full else Detail.SUMMARY, width)


def test_the_first_line_is_the_result_and_nothing_is_styled() -> None:
    text = printed(run())
    assert text.splitlines()[0] == headline_of(compare_run(run()))[0]
    assert "\x1b[" not in text


def test_the_full_comparison_names_everything() -> None:
    record = change(run(), "apache", 8, (1,), state="failed", reason="connection refused [red]")
    text = printed(record)
    lost = next(line for line in text.splitlines() if line.endswith("connection refused [red]"))
    assert lost.split()[:4] == ["■", "apache", "8", "1"] and "the whole trial" in lost
    for part in (
        "requests/s",
        "Peak and saturation",
        "Little's law",
        "p (sign flip)",
        "apache ÷ nginx at each load step",
    ):
        assert part in text


def test_markup_in_names_is_printed_as_it_is() -> None:
    assert "[bold]x" in printed(run((SLOW, Server("[bold]x", 40_000.0, 0.1))), full=False)


def test_json_is_the_comparison(run_file: Path) -> None:
    result = CliRunner().invoke(app, ["compare", str(run_file), "--json", "--baseline", "apache", "--delta", "3%"])
    assert result.exit_code == 0
    read = json.loads(result.stdout)
    assert read["run"]["baseline"] == "apache"
    assert read["run"]["delta"] == 0.03


def test_bad_options_are_refused(run_file: Path) -> None:
    def fault(*arguments: str) -> BaseException | None:
        return CliRunner().invoke(app, list(arguments)).exception

    assert isinstance(fault("compare", str(run_file), "--delta", "much"), PlanError)
    assert isinstance(fault("compare", str(run_file), "--baseline", "caddy"), PlanError)
    assert isinstance(fault("compare", "nowhere.bakeoff"), RunFileError)
    assert isinstance(fault("report", "nowhere.bakeoff"), RunFileError)


def test_the_report_lands_next_to_the_run_file_and_is_not_overwritten(run_file: Path) -> None:
    first = CliRunner().invoke(app, ["report", str(run_file)])
    target = run_file.with_suffix(".html")
    assert first.exit_code == 0, first.output
    assert str(target) in first.stdout.replace("\n", "")
    assert target.read_text(encoding="utf-8").rstrip().endswith("</html>")
    target.write_text("mine", encoding="utf-8")
    again = CliRunner().invoke(app, ["report", str(run_file)])
    assert isinstance(again.exception, PlanError)
    assert "--force" in str(again.exception)
    assert target.read_text(encoding="utf-8") == "mine"
    assert CliRunner().invoke(app, ["report", str(run_file), "--force"]).exit_code == 0
    assert "<svg" in target.read_text(encoding="utf-8")
    assert sorted(p.suffix for p in run_file.parent.iterdir() if p.suffix not in ("", ".bakeoff")) == [".html"]


def test_surfaces_of_what_has_none_are_refused(run_file: Path) -> None:
    result = CliRunner().invoke(app, ["report", str(run_file), "--surfaces"])
    assert isinstance(result.exception, PlanError) and "file-matrix" in str(result.exception)


def test_surfaces_of_a_campaign_without_any_are_refused(tmp_path: Path) -> None:
    record = run()
    record = replace(record, plan_hash=plan_hash(record.plan))
    suite_run = StoredSuiteRun(name="web", file="web.bakeoff", weight=1.0, plan=record.plan)
    names = tuple(contender.name for contender in record.contenders)
    folder = tmp_path / "lab.bakeoff"
    folder.mkdir()
    write_campaign(
        folder, StoredCampaign(format=1, name="lab", title="Lab", seed=1, contenders=names, suite_runs=(suite_run,))
    )
    stored(record, folder / "web.bakeoff")
    result = CliRunner().invoke(app, ["report", str(folder), "--surfaces", "-o", str(tmp_path / "r.html")])
    assert isinstance(result.exception, PlanError) and "file-matrix" in str(result.exception)
    assert not (tmp_path / "r.html").exists()


@pytest.mark.parametrize("name", ["report.odt", "missing/report.html", "."])
def test_targets_that_cannot_be_are_refused(run_file: Path, name: str) -> None:
    result = CliRunner().invoke(app, ["report", str(run_file), "-o", str(run_file.parent / name)])
    assert isinstance(result.exception, PlanError)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("full", [True, False])
def test_no_number_is_cut_on_a_narrow_terminal(width: int, full: bool) -> None:
    record = run((SLOW, Server("a-contender-with-a-long-name", 40_000.0, 0.1)), blocks=6)
    wide, narrow = printed(record, full, 1000), printed(record, full, width)
    assert "…" not in narrow
    start = wide.index("requests/s (mean over")
    numbers = re.findall(r"\d[\d,.]*(?: ± [\d,]+|×)", wide[start : wide.index("!", start) if "!" in wide else None])
    assert len(numbers) > 8
    assert [number for number in numbers if number not in narrow] == []
    table = narrow[narrow.index("requests/s (mean over") :].split("! ")[0].split("Plan ")[0]
    assert max(map(len, table.splitlines())) <= width
