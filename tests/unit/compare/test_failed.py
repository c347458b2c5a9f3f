"""Which requests failed, summed over trials, and told where people look."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.compare.failures.failed_requests import MOST, failed_requests
from bakeoff.core.errors import RunFileError
from bakeoff.report.narrate.validity.failed_requests import faults
from bakeoff.store.sqlite.write import RunWriter
from tests.unit.store.builders import header, planned, trial


def test_failures_are_summed_over_trials_and_the_most_frequent_come_first() -> None:
    trials = [
        trial(
            workload={"failed": {"requests": {"GET /a": {"404": 2}, "GET /b": {"302": 3, "refused": 1}}, "others": 4}}
        ),
        trial(workload={"failed": {"requests": {"GET /a": {"404": 9, "401": 1}}}}, state="failed"),
        trial(workload={}),
    ]
    failed = failed_requests(trials)
    assert [(row.request, row.count) for row in failed.rows] == [("GET /a", 12), ("GET /b", 4)]
    assert faults(failed.rows[0], {}) == "status 404 ×11, status 401 ×1"
    assert failed.others == 4


def test_the_table_is_bounded_and_its_sum_is_not_changed_by_that() -> None:
    requests = {f"GET /{n}": {"404": 1} for n in range(MOST + 7)}
    failed = failed_requests([trial(workload={"failed": {"requests": requests, "others": 1}})])
    assert (len(failed.rows), failed.others) == (MOST, 8)


@pytest.mark.parametrize("wrong", [{"requests": {"GET /": {"404": -1}}}, {"requests": [1]}, "x", {"others": "many"}])
def test_figures_that_are_none_are_refused(wrong: object) -> None:
    with pytest.raises(RunFileError):
        failed_requests([trial(workload={"failed": wrong})])


def test_show_lists_them(tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"
    requests = {f"GET /{n:02d}": {"404": 20 - n} for n in range(12)}
    with RunWriter.create(path, header(), planned()) as writer:
        writer.add_trial(trial(workload={"failed": {"requests": requests, "others": 5}}), {})
    text = CliRunner().invoke(app, ["show", str(path)], catch_exceptions=False).output
    assert "failed: GET /00: status 404 ×20" in text and "GET /10" not in text
    assert "failed: 24 of other requests; --json has them" in text
