"""Plain tables: what stands in them is read, what is doubtful is asked about, and nothing is made up."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.compare import compare_run
from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign.grids import grid_of
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignTable
from bakeoff.formats.importers import sniffed
from bakeoff.report.compose import compose
from bakeoff.report.renderers.html import render_html
from bakeoff.store.sqlite.read import read_run
from tests.told import headline_of
from tests.unit.importers.reading import table_of
from tests.unit.report.shown import shown

CLIENTS = "Throughput (MB/s)\nclients,nginx,apache\n1,12.5,11.0\n8,80.25,70.5\n64,238.57,190.2\n"


def values(table: ForeignTable) -> dict[tuple[str, str, str, str], float]:
    """By contender, load, part and metric, in base units."""
    return {
        (row.contender, row.where(), row.part, name): value.value
        for row in table.rows
        for name, value in row.values.items()
    }


def workbook(sheet: str, texts: tuple[str, ...] = (), more: dict[str, str] | None = None) -> bytes:
    """An .xlsx file with one sheet."""
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    sheets = '<sheets><sheet name="One" r:id="rId1"/></sheets>'
    target = '<Relationship Id="rId1" Target="worksheets/s.xml"/>'
    parts = {
        "xl/workbook.xml": f'<workbook xmlns:r="{relation}">{sheets}</workbook>',
        "xl/_rels/workbook.xml.rels": f"<Relationships>{target}</Relationships>",
        "xl/worksheets/s.xml": f"<worksheet><sheetData>{sheet}</sheetData></worksheet>",
        "xl/sharedStrings.xml": f"<sst>{''.join(f'<si><t>{escape(text)}</t></si>' for text in texts)}</sst>",
        **(more or {}),
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return made.getvalue()


def test_one_column_is_one_contender() -> None:
    found = table_of("table", CLIENTS)
    assert values(found)["nginx", "64 clients", "", "throughput"] == pytest.approx(238.57e6)
    value = found.rows[-2].values["throughput"]
    assert (value.line, value.column, value.heading, value.unit.name) == (5, 2, "nginx", "MB/s")
    assert (value.low, value.high) == (pytest.approx(238.565e6), pytest.approx(238.575e6))
    assert found.stated["title"] == "Throughput (MB/s)" and "how many operations failed" in found.missing


def test_one_file_is_one_contender_where_columns_are_metrics() -> None:
    text = "clients\treq/s\tp99 (ms)\terrors\n1\t1000\t1.5\t0\n8\t8000\t2.5\t3\n"
    found = values(table_of("table", text, contender="nginx"))
    assert found["nginx", "8 clients", "", "rate"] == 8000
    assert found["nginx", "8 clients", "", "p99"] == pytest.approx(0.0025)
    assert found["nginx", "8 clients", "", "errors"] == 3


def test_a_column_may_name_the_contenders() -> None:
    found = values(table_of("table", "server,clients,IOPS\nA,1,100\nB,1,120\n"))
    assert found == {("A", "1 client", "", "rate"): 100, ("B", "1 client", "", "rate"): 120}


def test_markdown_is_read_with_its_decimal_comma() -> None:
    text = (
        "Words.\n\n| Clients | **A** ms | B ms |\n|--:|--:|:-:|\n| 1 | 1,5 | 2,1 |\n| 8 | 3,2 | – |\n\nmore | words\n"
    )
    found = table_of("table", text)
    assert values(found) == {
        ("A", "1 client", "", "response time"): 0.0015,
        ("B", "1 client", "", "response time"): pytest.approx(0.0021),
        ("A", "8 clients", "", "response time"): 0.0032,
    }
    assert found.stated["numbers"].startswith("decimal comma")


def test_sizes_of_files_and_records_are_cells() -> None:
    found = table_of("table", "file\\record (KB),4,8\n64,100,200\n128,110,210\n", contender="a", unit="KB/s")
    assert values(found)["a", "file size 128KiB, record size 8KiB", "", "throughput"] == 210_000


def test_rows_of_text_are_parts_of_the_work() -> None:
    found = values(table_of("table", "test;A;B\nSequential read;120 MB/s;100 MB/s\nRandom read;12 MB/s;14 MB/s\n"))
    assert found["B", "", "Random read", "throughput"] == 14e6


def test_a_spreadsheet_is_read_by_its_stored_values() -> None:
    sheet = (
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>A (MB/s)</t></is></c></row>'
        '<row r="2"><c r="A2"><v>8</v></c><c r="B2"><f>1+1</f><v>238.57</v></c></row>'
        '<row r="4"><c r="A4"><v>64</v></c><c r="B4"><v>0.1</v></c></row>'
    )
    found = table_of("table", workbook(sheet, ("clients",)), suffix=".xlsx")
    assert values(found)["A", "8 clients", "", "throughput"] == pytest.approx(238.57e6)
    assert found.rows[-1].line == 4 and found.rows[0].values["throughput"].number.text == "238.57"


@pytest.mark.parametrize(
    ("code", "stored", "shown"),
    [
        ("0.00", "1.1", "1.10"),
        ("0.00", "1.1047000000000001", "1.1047"),  # what a format hides is kept
        ("#,##0.0", "1234", "1234.0"),
        ('0.0" MB/s";[Red]-0.0', "12", "12.0"),
        ("0.0#", "2.5", "2.5"),
        ("0.00%", "0.123", "12.30%"),
        ("0%", "0.07", "7%"),
        ("0%", "12", "1200%"),
        ("0.0%", "1e-7", "0.00001%"),
        ("0.00", "1e+20", "1e+20"),
        ("0.00E+00", "1100", "1100"),
        ("General", "1.10", "1.1"),
        ("yyyy-mm-dd", "45000", "45000"),
        ("0.0,", "1234567", "1234567"),
    ],
)
def test_a_cell_has_the_decimals_that_it_shows(code: str, stored: str, shown: str, tmp_path: Path) -> None:
    formats = f'<numFmts><numFmt numFmtId="170" formatCode="{escape(code, {chr(34): "&quot;"})}"/></numFmts>'
    styles = f'<styleSheet>{formats}<cellStyleXfs><xf numFmtId="2"/></cellStyleXfs><cellXfs><xf/><xf numFmtId="170"/>'
    others = '<c r="B1" s="0"><v>1.1</v></c><c r="C1" s="9"><v>2</v></c>'
    sheet = f'<row r="1"><c r="A1" s="1"><v>{stored}</v></c>{others}</row>'
    path = tmp_path / "x.xlsx"
    path.write_bytes(workbook(sheet, more={"xl/styles.xml": f"{styles}</cellXfs></styleSheet>"}))
    assert grid_of(Source(path)).rows[0].cells == (shown, "1.1", "2")


@pytest.mark.parametrize(
    ("text", "said", "why"),
    [
        ("clients,A\n1,100\n", {}, r"line 2: column 2 \(A\) has no unit: say it with --unit"),
        ("clients,A\n1,100\n", {"unit": "furlongs"}, "is no unit that Bakeoff knows"),
        ("clients,A (%)\n1,10\n", {}, "say which way is better with --better"),
        ('clients,A (MB/s)\n1,"1,234"\n', {}, "--decimal point or comma"),
        ("clients,A (MB/s)\n1,12x\n", {}, "line 2: column 2 .*'x' behind the number is no unit"),
        ("clients,A (MB/s)\n1,fast\n", {}, "line 2: column 2 .*a number was expected, not 'fast'"),
        ("clients,A (MB/s)\n1,-5\n", {}, "less than nothing"),
        ("clients,A (MB/s)\n0.5,5\n", {}, "no number of clients"),
        (",A (MB/s)\n1,5\n", {}, "--rows clients"),
        ("x,4,8\n64,1,2\n", {"unit": "MB/s"}, "--columns 'record size'"),
        ("clients,A (MB/s)\n1,-\n", {}, "no row below this heading holds a number"),
        ("clients,A (MB/s)\n", {}, "no table|no row"),
        ("one\ntwo\n", {}, "no table"),
    ],
)
def test_what_is_doubtful_is_asked_about(text: str, said: dict[str, str], why: str) -> None:
    with pytest.raises(PlanError, match=why) as refusal:
        table_of("table", text, **said)
    assert "\n" not in str(refusal.value)


def test_what_the_user_says_is_taken() -> None:
    found = table_of("table", "n,A\n1,1.234\n8,2.345\n", rows="clients", unit="MB/s", decimal="comma")
    assert values(found)["A", "8 clients", "", "throughput"] == 2345e6
    share = table_of("table", "clients,A (%)\n1,10\n", better="lower")
    assert share.better == {"share": "lower"}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (workbook("<row r='1'><c r='A1'><f>NOW()</f></c></row>"), "cell A1 is a formula without a stored value"),
        (workbook("<row r='1'><c r='A1' t='s'><v>9</v></c></row>"), "names a text that is not there"),
        (workbook("<row r='1'><c r='ZZZ1'><v>9</v></c></row>"), "more than 1,000 columns"),
        (workbook("<row r='1'><c r='A1'>" + "x" * (70 << 20) + "</c></row>"), "unpacks to more than 64 MiB"),
        # Two cells far apart: who keeps all between them needs 412 GB.
        (
            workbook("<row r='1'><c r='A1'/></row><row r='1048576'><c r='XFD1048576'><v>2</v></c></row>"),
            "1,000 columns",
        ),
        (workbook("", more={"xl/styles.xml": "<!DOCTYPE x>"}), "document type"),
        (workbook("")[:300], "no whole .xlsx file"),
        (
            workbook("", more={"xl/workbook.xml": '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'}),
            "document type",
        ),
        (workbook("", more={"xl/workbook.xml": "<x>" * 200}), "nested deeper"),
        (b"PK\x03\x04nothing", "no whole .xlsx file"),
        (b"\xd0\xcf\x11\xe0old", "old binary sort"),
    ],
)
def test_hostile_spreadsheets_are_refused(content: bytes, why: str) -> None:
    with pytest.raises(PlanError, match=why):
        table_of("table", content, suffix=".xlsx")


def test_rows_of_a_spreadsheet_end_at_their_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bakeoff.formats.foreign.grids.grid.MOST_ROWS", 100)
    with pytest.raises(PlanError, match="line 101: the table is larger than 100 rows"):
        table_of("table", workbook("<row><c><v>1</v></c></row>" * 10_000), suffix=".xlsx")


def test_a_run_of_a_table_says_what_nobody_stated(tmp_path: Path) -> None:
    (tmp_path / "paper.csv").write_text(CLIENTS)
    target = tmp_path / "paper.bakeoff"
    done = CliRunner().invoke(app, ["import", str(tmp_path / "paper.csv"), "-o", str(target)])
    assert done.exit_code == 0 and "paper.csv: table (a table), 6 rows of nginx and apache" in done.output
    run = read_run(target)
    comparison = compare_run(run)
    (pair,) = comparison.pairs
    assert pair.primary.ratio == pytest.approx(0.8578, abs=1e-3) and pair.primary.verdict.winner is None
    text = shown(run)
    assert "no verdict" in text and headline_of(comparison)[-1].startswith("Errors: those of nginx are not stated")
    page = render_html(compose(run, comparison))
    assert "Each figure is a single sample: it has no interval" in page and "Differences in percent, both ways" in page
    assert "No operation failed" not in page and "How many operations failed is not stated" in page
    assert "−20.3 %" in page and "how many operations failed" in page
    plain = CliRunner().invoke(app, ["show", str(target), "--json"]).output
    assert '"operations":null' in plain and '"window_s":null' in plain and '"bytes_per_s":null' in plain
    listing = CliRunner().invoke(app, ["show", str(target)]).output
    rows = [line for line in listing.splitlines() if line.endswith("ok   ")]  # a date may have any digits
    assert len(rows) == 6 and not any("0.0" in row or " 0 B" in row for row in rows)


def test_several_files_of_a_contender_are_repeated_samples(tmp_path: Path) -> None:
    words = []
    for block in range(1, 8):
        for name, factor in (("a", 1.0), ("b", 1.5)):
            path = tmp_path / f"{name}{block}.csv"
            rate = 1000 * factor * (1 + block / 1000)
            rows = f"1,{rate:.2f},{1 / factor:.3f}\n8,{7 * rate:.2f},{2 / factor:.3f}\n"
            path.write_text(f"clients,req/s,mean (ms)\n{rows}")
            words.append(f"{name}={path}")
    target = tmp_path / "x.bakeoff"
    assert CliRunner().invoke(app, ["import", *words, "-o", str(target)]).exit_code == 0
    run = read_run(target)
    assert len(run.trials) == 28 and run.blocks_planned == 7
    (pair,) = compare_run(run).pairs
    assert pair.primary.verdict.winner == "b" and pair.primary.ratio == pytest.approx(1.5, rel=1e-3)
    assert pair.primary.low > 1.4


def test_a_table_is_told_from_what_is_none(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text(CLIENTS)
    assert sniffed(Source(path)) == "table"
    for content, why in ((b"", "empty"), (b"just words\n", "none that Bakeoff knows"), (bytes(200), "none that")):
        path.write_bytes(content)
        with pytest.raises(PlanError, match=why):
            sniffed(Source(path))


def test_the_average_of_a_rate_is_the_rate() -> None:
    found = table_of(
        "table", "server,Avg Bandwidth (MB/s),Average IOPS,Avg Latency (ms)\na,12.5,100,3.1\nb,13.5,108,2.9\n"
    )
    assert found.metrics() == ("throughput", "rate", "mean")
