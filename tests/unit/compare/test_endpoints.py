"""What a plan calls the primary endpoint of its kind is what a comparison of such a run is about."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from bakeoff.compare import compare_run
from bakeoff.kinds import KINDS
from bakeoff.plan.kind import plan_part
from bakeoff.store.records.run_records import RunRecord
from tests.unit.compare.synthetic import run
from tests.unit.compare.synthetic_cells import blocks_run, matrix_run
from tests.unit.compare.test_app_scores import app_run
from tests.unit.compare.test_file_suites import mix_run
from tests.unit.compare.test_mail_delivery import mail

RUNS: dict[str, Callable[[], RunRecord]] = {
    "web": run,
    "mail": lambda: mail(2),
    "app": lambda: app_run(starve=False),
    "file-matrix": lambda: matrix_run(lambda *cell: 1.1),
    "file-blocks": lambda: blocks_run(lambda *cell: 1.1),
    "file-mix": mix_run,
}


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\s(),]+", text.replace(" per second", "/s").replace("/s", " /s").casefold()))


@pytest.mark.parametrize("kind", KINDS)
def test_plan_and_comparison_name_one_primary_endpoint(kind: str) -> None:
    made = RUNS[kind]() if kind in RUNS else replace(run(), kind=kind)
    comparison = compare_run(made)
    said, title, unit = plan_part(kind).endpoint, comparison.pairs[0].primary.title, comparison.run.rate_unit
    of_cells = "geometric mean" in title.casefold()
    assert ("geometric means of the cells" in said) == of_cells
    assert words(unit) <= words(said), (said, unit)
    assert of_cells or words(title) <= words(said) or words(unit) == words(said), (said, title)
