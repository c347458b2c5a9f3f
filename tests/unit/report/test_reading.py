"""What is read first, and that it is the same everywhere: one direction of ratios, tables that stay tables."""

from __future__ import annotations

import math

import pytest

from bakeoff.compare import compare_run, wording
from bakeoff.compare.cell_words import faster
from bakeoff.report.depth import Depth
from bakeoff.store.records import RunRecord
from tests.unit.compare.synthetic import FAST, SLOW, Server, run
from tests.unit.report.shown import shown

CRAWL = Server("python-dev", 310.0, 9.0, spread=0.02)
FIELD = (
    FAST,
    SLOW,
    Server("caddy", 42_100.0, 0.09),
    CRAWL,
    Server("lighttpd", 38_000.0, 0.1),
    Server("h2o", 60_000.0, 0.06),
    Server("varnish-with-a-long-name", 30_000.0, 0.1),
    Server("flaky", 20_000.0, 0.2),
)


def field(contenders: int, blocks: int = 6) -> RunRecord:
    """A run of the first so many of `FIELD`."""
    return run(FIELD[:contenders], blocks=blocks)


@pytest.mark.parametrize(
    ("value", "text"),
    [(135.2, "135×"), (1 / 135.2, "1/135"), (0.0999, "1/10.0"), (0.5, "0.50×"), (1e-9, "< 1/1,000,000")],
)  # fmt: skip
def test_small_ratios_are_told_as_one_over(value: float, text: str) -> None:
    assert wording.ratio(value) == text


def test_nobody_is_a_hundred_percent_slower() -> None:
    assert faster(1 / 490) == "1/490 as fast"
    assert faster(0.4) == "0.400 times as fast"
    assert not any("slower" in faster(ratio) for ratio in (0.5, 0.1, 0.002))
    assert faster(0.9) == "10 % slower"


@pytest.mark.parametrize("baseline", ["nginx", "python-dev"])
def test_the_headline_has_the_ratio_of_the_tables(baseline: str) -> None:
    """135× in a sentence and 0.00739× in the table under it were one number."""
    comparison = compare_run(run((FAST, CRAWL)), baseline)
    end = comparison.pairs[0].primary
    ratio = wording.ratio(end.ratio, end.low, end.high)
    assert (end.ratio < 0.1) == (baseline == "nginx") and ratio.startswith("1/") == (baseline == "nginx")
    assert comparison.headline[0].startswith("nginx is better: ")
    assert f" serves {ratio} " in comparison.headline[0]
    text = shown(run((FAST, CRAWL)), comparison=comparison)
    row = next(line for line in text.splitlines() if line.startswith(f"{comparison.pairs[0].contender} ÷ "))
    assert ratio in row
    assert math.isclose(comparison.to_dict()["pairs"][0]["primary"]["ratio"], end.ratio, rel_tol=1e-6)


@pytest.mark.parametrize("contenders", [2, 4, 8])
@pytest.mark.parametrize("width", [80, 100])
def test_tables_stay_tables_and_no_line_is_longer(contenders: int, width: int) -> None:
    text = shown(field(contenders), Depth.COMPARISON, width, colours=False)
    tables = text[text.index("Peak and saturation") if contenders < 3 else 0 :]
    assert "\n  p99  " not in tables and "\n  verdict  " not in tables.lower(), "a stacked table"
    wide = [line for line in text.splitlines() if len(line) > width and "  " in line.strip()]
    assert wide == [], "a table wider than the terminal"
