from pathlib import Path

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.cli.plan import smallest_p
from bakeoff.plan.load import read_plan_file, resolve_plan


def output(*words: str) -> str:
    outcome = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert outcome.exit_code == 0
    return outcome.output


def test_a_plan_shows_trials_order_duration_and_blocks() -> None:
    text = output("plan", "web-static", "a=http://127.0.0.1:1", "b=http://127.0.0.1:2")
    assert "36 trials = 2 contenders x 3 mixes x 6 blocks" in text
    assert "duration: about 1m" in text
    assert "(assumed) Shares of the request classes" in text
    assert "fewest for a verdict" in text and "0.0625" in text and "0.0312" in text


def test_few_blocks_are_called_what_they_are() -> None:
    assert "5 blocks give numbers but no verdict" in output("plan", "web-static", "--blocks", "5")
    assert "One contender: figures only" in output("plan", "web-static", "a=http://h")
    assert "enough for the verdict of the suite and for single mixes" in output("plan", "web-static", "--blocks", "13")


def test_the_order_can_be_listed() -> None:
    words = ["web-static", "--blocks", "1", "--mixes", "3"]
    rows = [line.split() for line in output("plan", *words, "--order").splitlines()]
    assert ["0", "1", "A", "3"] in rows or ["0", "1", "B", "3"] in rows
    assert ["1", "1", "A", "3"] in rows or ["1", "1", "B", "3"] in rows


def test_the_plan_as_a_file(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(
        output("plan", "web-static", "a=http://h", "b=http://i", "--length", "3s", "--keep-alive", "--toml")
    )
    plan = resolve_plan(read_plan_file(path))
    assert (plan.settings.length_s, [c.name for c in plan.contenders]) == (3.0, ["a", "b"])


@pytest.mark.parametrize(("blocks", "p"), [(1, 1.0), (3, 0.25), (4, 0.125), (5, 0.0625), (6, 0.03125), (8, 0.0078125)])
def test_smallest_p(blocks: int, p: float) -> None:
    assert smallest_p(blocks) == p


def test_suites_are_listed_with_every_setting() -> None:
    assert "WebBench 3.0 STATIC" in output("suites")
    text = output("suites", "web-static")
    for name in ("ramp_up", "receive_buffer", "keep_alive", "check_every", "mixes"):
        assert name in text
    assert "(assumed)" in text


def test_a_length_that_is_a_limit_is_called_one(tmp_path: Path) -> None:
    text = output("plan", "file-matrix", f"a={tmp_path}/a", f"b={tmp_path}/b", "--blocks", "1")
    assert "each ends when its work is done, or at the latest after 10m" in text
    assert "duration: at most 20m" in text
    assert "duration: about" not in text
    assert "each ends after 7 operations" in output("plan", "web-static", "--operations", "7")
