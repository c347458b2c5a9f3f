"""Cells weighed by the files of a share: sums done by hand, and a verdict that changes with them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from bakeoff.compare.cube.file_weights import weights_of
from bakeoff.compare.model.comparison import Comparison
from bakeoff.compare.run import compare_run
from bakeoff.report.compose import compose
from bakeoff.report.narrate.document import to_json
from bakeoff.report.narrate.figures.file_weights import weights_sentence
from bakeoff.report.renderers.html import render_html
from tests.told import headline_of
from tests.unit.compare.synthetic_cells import KIB, MIB, matrix_run
from tests.unit.report.shown import shown

SMALL, LARGE = 64 * KIB, MIB
# Two cells of small files, one of large ones: without weights the small ones have two thirds of the say.
SIZES = [(SMALL, 4 * KIB), (SMALL, 64 * KIB), (LARGE, 64 * KIB)]
WORDS = "weighted by the file sizes of /srv/share"


def weights(*sizes: tuple[int, int]) -> dict[str, Any]:
    listed = [{"up_to_bytes": up_to, "files": files, "bytes": files * up_to} for up_to, files in sizes]
    return {"folder": "/srv/share", "errors": 0, "sizes": listed}


def weighed(*sizes: tuple[int, int]) -> Any:
    record = matrix_run(
        lambda test, file, size: 0.5 if file == SMALL else 2.0, tests=("read",), sizes=SIZES, spread=0.001
    )
    settings = {**record.plan.get("settings", {}), "weights": weights(*sizes) if sizes else None}
    return replace(record, plan={**record.plan, "settings": settings})


def compared(*sizes: tuple[int, int]) -> Comparison:
    return compare_run(weighed(*sizes))


def test_the_mean_is_that_of_a_sum_by_hand() -> None:
    # 1 of 4 files is small: ln r = (1 × ln 0.5 + 3 × ln 2) / 4, whatever the number of their cells.
    found = compared((SMALL, 1), (LARGE, 3))
    by_hand = math.exp((math.log(0.5) + 3 * math.log(2.0)) / 4)
    assert found.pairs[0].primary.ratio == pytest.approx(by_hand, rel=0.005)
    assert found.cells is not None
    overall = found.cells.pairs[0].overall
    assert overall.ratio == pytest.approx(found.pairs[0].primary.ratio)
    assert overall.low == pytest.approx(found.pairs[0].primary.low)
    assert overall.arithmetic == pytest.approx((0.5 + 3 * 2.0) / 4, rel=0.005)
    cells = [c for trial in weighed().trials if trial.contender == "nfs" for c in trial.workload["cells"]]
    log = {size: [math.log(c["rate_kib_s"]) for c in cells if c["file_bytes"] == size] for size in (SMALL, LARGE)}
    own = math.exp(sum(n * sum(log[size]) / len(log[size]) for size, n in ((SMALL, 1), (LARGE, 3))) / 4)
    assert next(c for c in found.contenders if c.name == "nfs").peak == pytest.approx(own * 1024 / 1e6)


def test_the_verdict_is_another_with_other_weights() -> None:
    def winner(found: Comparison) -> str | None:
        return found.pairs[0].primary.verdict.winner

    assert winner(compared()) == "nfs"
    assert winner(compared((SMALL, 9), (LARGE, 1))) == "nfs"
    assert winner(compared((SMALL, 1), (LARGE, 9))) == "cifs"


def test_sizes_outside_the_matrix_count_at_the_nearest_and_are_told() -> None:
    settings = weighed((KIB, 2), (SMALL, 1), (LARGE, 3), (1 << 30, 4)).planned.settings
    found = weights_of(settings, [SMALL, LARGE])
    assert found is not None
    assert dict(found.shares) == {SMALL: 0.3, LARGE: 0.7} and found.folded == 0.6
    texts = weights_sentence(found, [SMALL, LARGE])
    assert "60 % of them are of sizes outside the matrix and count at the nearest" in texts
    assert "30 % count at sizes that have no ratio" in weights_sentence(found, [LARGE])


def test_cells_that_the_share_has_no_files_of_count_nothing() -> None:
    found = compared((LARGE, 3))
    assert found.pairs[0].primary.ratio == pytest.approx(2.0, rel=0.005)
    assert "geometric mean of 1 cell, " in headline_of(found)[0]
    assert found.cells is not None
    assert (found.cells.pairs[0].overall.cells, len(found.cells.pairs[0].cells)) == (1, 3)


def test_every_sentence_that_uses_the_weights_names_them() -> None:
    record = weighed((SMALL, 1), (LARGE, 3), (1 << 30, 4))
    found = compare_run(record)
    assert WORDS in headline_of(found)[0]
    said = [text for text in headline_of(found) if " overall" in text or text.startswith("Geometric mean")]
    assert said and all("weighted by" in text for text in said)
    assert any("50 % of them are of sizes outside the matrix" in text for text in headline_of(found))
    plain = json.loads(to_json(found))
    assert WORDS in plain["pairs"][0]["primary"]["title"]
    assert plain["matrix"]["weights"]["folded_share"] == 0.5
    assert plain["matrix"]["weights"]["sizes"] == [{"file_kib": 64, "share": 0.125}, {"file_kib": 1024, "share": 0.875}]


def test_the_page_and_the_terminal_name_them() -> None:
    record = weighed((SMALL, 1), (LARGE, 3))
    found = compare_run(record)
    page = render_html(compose(record, found))
    for words in (f"geometric mean of the cells, {WORDS}", "Weights of the file sizes", "Means are weighted"):
        assert words in page
    assert "geometric means of cells, weighted by file sizes" in shown(record, width=200)


def test_a_region_whose_cells_weigh_nothing_is_named() -> None:
    # Its cells are those of small files with small records.
    named = (
        "No mean of the small office region (files to 2 MiB, records to 32 KiB): the folder has no files of its sizes"
    )
    assert named in page_of((LARGE, 3)) and named not in page_of((SMALL, 1), (LARGE, 3))


def page_of(*sizes: tuple[int, int]) -> str:
    record = weighed(*sizes)
    return render_html(compose(record, compare_run(record)))


def test_without_weights_nothing_is_said_of_them() -> None:
    assert "weighted" not in "\n".join(headline_of(compared()))
