"""What IOzone printed becomes a run that can be compared, and says what nobody stated."""

from __future__ import annotations

import math
import random
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.compare import compare_run
from bakeoff.core.errors import BakeoffError, PlanError
from bakeoff.formats.foreign.table import ForeignTable
from bakeoff.formats.importers import FORMATS, importer
from bakeoff.formats.importers.as_run.cells import KIB, cell_samples
from bakeoff.report.compose import compose
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.report.renderers.html import render_html
from bakeoff.store.sqlite.read import pending, read_run
from tests.told import headline_of
from tests.unit.importers.reading import table_of
from tests.unit.report.shown import shown

SAMPLES = Path(__file__).parents[2] / "data/iozone"
MATRICES = sorted(path for path in SAMPLES.glob("*.txt") if "throughput" not in path.name)


def printed(name: str) -> str:
    return (SAMPLES / f"{name}.txt").read_text()


def read(text: str) -> ForeignTable:
    return table_of("iozone", text)


def cells(text: str) -> dict[tuple[str, int, int], float]:
    (sample,) = cell_samples([("a", read(text))])
    return {
        (c["test"], c["file_bytes"] // KIB, c["record_bytes"] // KIB): c["rate_kib_s"] for c in sample.workload["cells"]
    }


def faster(text: str, factor: float) -> str:
    """The same output with higher figures in its rows."""

    def row(found: re.Match[str]) -> str:
        return found[1] + re.sub(r"\d+", lambda n: str(round(int(n[0]) * factor)).rjust(len(n[0])), found[2])

    return re.sub(r"(?m)^( {8,15}\d+ +\d+)( .*)$", row, text)


def test_the_registry_has_what_an_importer_needs() -> None:
    for name in FORMATS:
        assert callable(importer(name).read) and callable(importer(name).sniff)
    with pytest.raises(PlanError, match="there is no format 'base'"):
        importer("base")


@pytest.mark.parametrize("path", MATRICES, ids=lambda path: path.stem)
def test_every_figure_of_a_matrix_is_read_and_no_other(path: Path) -> None:
    text = path.read_text()
    rows = [line.split() for line in text.splitlines() if re.match(r" {8,15}\d+ +\d+ ", line)]
    wanted = [int(word) for row in rows for word in row[2:] if int(word)]
    found = cells(text)
    assert len(found) == len(wanted) > 0
    if not {"ops", "usec"} & set(path.stem.split("-")):
        assert sorted(found.values()) == sorted(wanted)


def test_figures_stand_under_their_tests() -> None:
    found = cells(printed("auto-excel"))
    assert found["write", 64, 4] == 674790 and found["refread", 128, 64] == 8036304
    assert found["record_rewrite", 128, 32] == 33050
    assert set(cells(printed("random"))) == {
        (test, 64, 4) for test in ("write", "rewrite", "random_read", "random_write")
    }
    extended = cells(printed("extended"))
    assert extended["pwrite", 256, 16] == 4350555 and extended["repread", 256, 16] == 7314033


def test_the_head_tells_tool_moment_and_command() -> None:
    head = (
        "\tIozone: Performance Test of File I/O\n\t        Version $Revision: 3.489 $\n\n"
        "\tRun began: Sun Nov 22 04:59:00 2026\n"
    )
    found = read(head + printed("random"))
    assert found.tool == "IOzone 3.489" and found.stated["command line"] == "iozone -s 64k -r 4k -i 0 -i 2"
    assert found.began is not None and found.began.startswith("2026-11-22T04:59:00.000")
    assert read(printed("random")).began is None


def test_other_units_become_rates() -> None:
    assert cells(printed("usec"))["write", 1024, 1024] == pytest.approx(1024 / 180e-6)
    per_second = next(line.split() for line in printed("ops").splitlines() if re.match(r" {8,15}\d+ +\d+ ", line))
    record = int(per_second[1])
    assert cells(printed("ops"))["write", int(per_second[0]), record] == int(per_second[2]) * record


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "line 1: IOzone has printed no result"),
        (printed("random") + printed("random"), "there twice"),
        (printed("random").replace("537079   987600", "537079987600000"), "columns"),
        (printed("random").replace("64       4", " 4      64"), "do not make a file"),
        (printed("random").replace("537079", "5370x9"), "no figure|columns"),
    ],
)
def test_what_cannot_be_told_is_refused_with_its_line(text: str, word: str) -> None:
    with pytest.raises(PlanError, match=word) as refusal:
        read(text)
    assert str(refusal.value).startswith("line ")


def test_no_bytes_break_it() -> None:
    chance, sample = random.Random(5), printed("auto-excel").encode()
    for _ in range(400):
        damaged = bytearray(sample)
        for _ in range(chance.randrange(1, 30)):
            damaged[chance.randrange(len(damaged))] = chance.choice(b" 0123456789abc\n\t\x00\xff-")
        text = bytes(damaged[chance.randrange(200) :]).decode("utf-8", "replace")
        try:
            assert all(rate > 0 for rate in cells(text).values())
        except BakeoffError as error:
            assert "\n" not in str(error)


def make(folder: Path, blocks: int, *more: str) -> Path:
    """A run file of two contenders, of which the second is a fifth faster."""
    words = []
    for block in range(1, blocks + 1):
        for name, factor in (("nfs", 1.0), ("smb", 1.2)):
            path = folder / f"{name}-{block}.txt"
            path.write_text(faster(printed("auto-excel"), factor * (1 + block / 1000)))
            words.append(f"{name}={path}")
    target = folder / "shares.bakeoff"
    result = CliRunner().invoke(app, ["import", *words, "-o", str(target), *more])
    assert result.exit_code == 0, result.output
    return target


def test_an_imported_run_is_compared_and_says_what_was_not_stated(tmp_path: Path) -> None:
    path = make(tmp_path, 6)
    run = read_run(path)
    assert (run.kind, run.plan, run.imported_from, len(run.trials)) == ("file-matrix", {}, "IOzone", 12)
    assert run.finished_at is not None and pending(path) == ()
    comparison = compare_run(run)
    (pair,) = comparison.pairs
    assert pair.primary.verdict.winner == "smb" and pair.primary.ratio == pytest.approx(1.2, rel=1e-4)
    audits = {audit.name: audit for audit in comparison.audits}
    for name in ("Counts", "Bytes", "Rates"):
        assert (audits[name].checked, audits[name].not_stated, audits[name].deviating) == (0, 12, ())
    assert audits["Same content"].checked == 12 and audits["Same content"].not_stated == 0
    assert "Bakeoff did not measure this" in warnings_of(comparison)[0].text
    text = shown(run)
    assert text.count("not stated") >= 3 and "No plan; δ = 5 %" in text
    page = render_html(compose(run, comparison))
    assert "What was imported" in page and "Not stated: IOzone says neither how busy its machine was" in page
    assert "once, in random order" not in page and "null rate" not in page.partition("application/json")[0]


def test_what_was_not_stated_is_in_no_listing(tmp_path: Path) -> None:
    path = make(tmp_path, 1)
    listing = CliRunner().invoke(app, ["show", str(path)]).output
    assert "imported from IOzone, without a plan" in listing
    plain = CliRunner().invoke(app, ["show", str(path), "--json"]).output
    assert '"generator_cpu_share":null' in plain and '"fairness_jain":null' in plain
    assert CliRunner().invoke(app, ["resume", str(path)]).exit_code == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--as", "netperf", "a=x.txt"], "no format 'netperf'"),
        (["=x.txt"], "write NAME=FILE"),
        (["a=nowhere.txt"], "cannot be read"),
    ],
)
def test_bad_words_are_refused(tmp_path: Path, words: list[str], why: str) -> None:
    result = CliRunner().invoke(app, ["import", *words, "-o", str(tmp_path / "x.bakeoff")])
    assert isinstance(result.exception, PlanError) and why in str(result.exception)
    assert not (tmp_path / "x.bakeoff").exists()


def test_cells_that_only_one_file_has_are_told_both_ways(tmp_path: Path) -> None:
    whole = printed("auto-excel")
    few = "\n".join(line for line in whole.splitlines() if not re.match(r" +128 +\d+ ", line))
    for order in (("few", "all"), ("all", "few")):
        words = []
        for name in order:
            for block in (1, 2):
                path = tmp_path / f"{name}-{block}.txt"
                path.write_text(whole if name == "all" else few)
                words.append(f"{name}={path}")
        target = tmp_path / f"{order[0]}.bakeoff"
        result = CliRunner().invoke(app, ["import", *words, "-o", str(target)])
        assert "warning: all: 65 of its 130 cells are not in the files of all others" in result.output
        comparison = compare_run(read_run(target))
        same = next(audit for audit in comparison.audits if audit.name == "Same content")
        assert len(same.deviating) == 2 and "65 cells of all not tried by few" in sentence(same.deviating[0])
        texts = [warning.text for warning in warnings_of(comparison) if warning.first]
        assert any("Contenders were measured in different cells: all has 65 of 130 alone" in text for text in texts)


def test_errors_that_no_tool_stated_are_not_none(tmp_path: Path) -> None:
    run = read_run(make(tmp_path, 2))
    comparison = compare_run(run)
    assert "Errors: those of nfs are not stated; those of smb are not stated." in headline_of(comparison)
    assert all(math.isnan(one.error_share) for one in comparison.contenders)
    assert "No operation failed" not in shown(run)


def test_files_that_records_do_not_fill_are_no_fault_of_the_contender(tmp_path: Path) -> None:
    text = printed("random").replace("              64       4 ", "              66       4 ")
    (sample,) = cell_samples([("a", read(text))])
    assert {(cell["operations"], cell["bytes"]) for cell in sample.workload["cells"]} == {(16, 64 * KIB)}
    path = tmp_path / "a.txt"
    path.write_text(text)
    target = tmp_path / "r.bakeoff"
    CliRunner().invoke(app, ["import", f"a={path}", f"b={path}", "-o", str(target)])
    assert all(not audit.deviating for audit in compare_run(read_run(target)).audits)


def test_cells_that_are_faster_than_the_link_came_from_a_cache(tmp_path: Path) -> None:
    run = read_run(make(tmp_path, 6, "--link-speed", "100Mbit/s"))
    cells = [cell for trial in run.trials for cell in trial.workload["cells"]]
    assert all(cell["cached"] and "more than the link carries (11.9 MiB/s)" in cell["cached_reason"] for cell in cells)
    assert "all of it cache: 130 of 130 cells" in headline_of(compare_run(run))[0]
    fast = tmp_path / "fast"
    fast.mkdir()
    unmarked = read_run(make(fast, 1, "--link-speed", "1000Gbit/s"))
    assert not any(cell.get("cached") for trial in unmarked.trials for cell in trial.workload["cells"])
    refused = CliRunner().invoke(app, ["import", "a=b", "-o", "c", "--link-speed", "fast"])
    assert isinstance(refused.exception, PlanError)
