"""Each format: its file is known by its content, and each figure is that of the file."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from bakeoff.audit.audit import audit
from bakeoff.compare import compare_run
from bakeoff.core.errors import BakeoffError, PlanError
from bakeoff.formats.exporters import EXPORTERS
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignTable
from bakeoff.formats.importers import FORMATS, importer, sniffed
from bakeoff.formats.importers.as_run.write import Given, write_import
from bakeoff.formats.importers.base import Options
from bakeoff.load.load_step import Clients
from bakeoff.report.compose import compose
from bakeoff.report.renderers.html import render_html
from bakeoff.store.sqlite.read import read_run
from tests.unit.compare.synthetic import change, run
from tests.unit.importers.reading import table_of

SAMPLES = Path(__file__).parents[2] / "data/foreign"
OTHERS = Path(__file__).parents[2] / "data/iozone"
# By file: its format, a contender's part of the work, its load, and figures in base units.
KNOWN: dict[str, tuple[str, str, str, dict[str, float]]] = {
    "ab.txt": (
        "ab",
        "",
        "8 clients",
        {
            "rate": 44496.85,
            "mean": 0.00018,
            "operations": 2000,
            "errors": 0,
            "throughput": 54925.80 * 1024,
            "p99": 0.004,
        },
    ),
    "ab.csv": ("ab", "", "", {"p50": 0.000102, "p99": 0.004236, "maximum": 0.004938, "minimum": 0.000075}),
    "ab-failed.txt": ("ab", "", "4 clients", {"operations": 0, "errors": 300, "requests": 300}),
    "wrk.txt": (
        "wrk",
        "",
        "8 clients",
        {"rate": 65412.77, "p99": 0.00573, "requests": 131441, "throughput": 78.85 * 2**20, "deviation": 0.00122},
    ),
    "wrk-errors.txt": ("wrk", "", "4 clients", {"errors": 78151, "requests": 78151}),
    "wrk2.txt": ("wrk", "", "16 clients", {"p99.9": 0.00512, "p99.999": 0.0084, "errors": 3, "rate": 2000.12}),
    "httperf.txt": (
        "httperf",
        "",
        "offered 200 conn/s",
        {"operations": 1200, "duration": 5.996, "rate": 1200 / 5.996, "first byte mean": 0.0009, "errors": 0},
    ),
    "httperf-sessions.txt": ("httperf", "", "offered 20 sessions/s", {"operations": 100, "connections": 20}),
    "h2load.txt": (
        "h2load",
        "",
        "4 clients",
        {"rate": 39938.49, "throughput": 43.81 * 2**20, "mean": 0.000709, "bytes in": 2300196, "errors": 0},
    ),
    "hey.csv": ("hey", "", "", {"operations": 200, "errors": 0, "maximum": 0.0121, "p50": 0.0002}),
    "hey.txt": ("hey", "", "", {"rate": 13272.8964, "p99": 0.0047, "operations": 2000, "duration": 0.1507}),
    "vegeta.json": ("vegeta", "", "", {"rate": 200.40773675510678, "p99": 0.003837273, "errors": 0, "requests": 400}),
    "vegeta.txt": ("vegeta", "", "", {"rate": 200.41, "p99": 0.003837, "errors": 0, "maximum": 0.008014}),
    "vegeta-failed.json": ("vegeta", "", "", {"rate": 0, "errors": 50, "operations": 0}),
    "hdr-percentiles.txt": ("hdr", "", "", {"operations": 400, "p50": 0.000226174, "maximum": 0.00801361}),
    "oha.json": (
        "oha",
        "",
        "",
        {"rate": 2756.7488001836655, "p99": 0.011646985, "operations": 180, "errors": 20},
    ),
    "k6-export.json": ("k6", "", "10 clients", {"rate": 119.875, "mean": 0.00525, "errors": 12, "operations": 1188}),
    "k6-summary.json": ("k6", "", "10 clients", {"p99.9": 0.0385, "duration": 10.0105, "errors": 12}),
    "locust_stats.csv": ("locust", "", "", {"requests": 125, "errors": 36, "p99": 0.13, "rate": 63.813109847234514}),
    "jmeter.jtl": (
        "jmeter",
        "",
        "4 clients",
        {"operations": 87, "errors": 9, "mean": 3.329 / 96, "rate": 96 / 0.983, "p50": 0.016, "bytes in": 100968},
    ),
    "fio-mix.json": (
        "fio",
        "read",
        "block size 4KiB, 1 in flight, 1 client",
        {"rate": 12287.712288, "bytes": 50380800},
    ),
    "fio-jobs.json": (
        "fio",
        "",
        "block size 64KiB, 1 in flight, 2 clients",
        {"throughput": 14857024254, "operations": 227607, "completion p99": 9.536e-6},
    ),
    "fio-depths.json": ("fio", "", "block size 4KiB, 1 in flight, 1 client", {"rate": 11503.496503}),
    "dbench.txt": ("dbench", "Flush", "2 clients", {"operations": 1394, "mean": 0.002542, "maximum": 0.021718}),
    "iometer-2006.csv": (
        "iometer",
        "",
        "1 in flight, 2 clients",
        {"rate": 2560, "throughput": 10 * 2**20, "operations": 25600, "mean": 0.00078, "errors": 0},
    ),
    "elbencho.csv": (
        "elbencho",
        "read",
        "4 clients, 1 in flight, block size 1MiB",
        {"rate": 1000, "throughput": 1000 * 2**20, "mean": 0.0039, "duration": 1.024},
    ),
    "elbencho.json": (
        "elbencho",
        "read",
        "4 clients, 1 in flight, block size 1MiB",
        {"rate": 1000, "throughput": 1000 * 2**20, "mean": 0.0039, "duration": 1.024, "bytes": 2**30},
    ),
    "prometheus.txt": (
        "prometheus",
        "method GET, status 200, url http://127.0.0.1:18080/k",
        "",
        {"requests": 138, "bytes in": 141312, "bytes out": 0, "mean": 0.5557953090000002 / 138},
    ),
    "prometheus-server.txt": (
        "prometheus",
        "handler /-/healthy",
        "",
        {"requests": 20, "mean": 0.001021328 / 20},
    ),
    "vdbench.html": ("vdbench", "rd1", "2 clients, block size 4KiB", {"rate": 2600, "throughput": 10.1562 * 2**20}),
    "vdbench-files.html": ("vdbench", "", "8 clients, block size 4KiB", {"rate": 10240, "throughput": 40 * 2**20}),
    "phoronix.xml": ("phoronix", "Timed build", "", {"result in Seconds": 61.4}),
    "postal.txt": ("postal", "", "", {"operations": 118, "rate": 118 / 60, "bytes out": 518 * 1024}),
    "smtp-source.txt": ("smtp-source", "", "4 clients", {"duration": 0.921, "rate": 2000 / 0.921}),
}
FILES = [*(SAMPLES / name for name in KNOWN), SAMPLES / "hdr.hlog", *sorted(OTHERS.glob("*.txt"))]


def read(path: Path) -> ForeignTable:
    source = Source(path)
    said = Options(unit="us") if path.name == "hdr.hlog" else Options()
    return importer(sniffed(source)).read(source, said)


@pytest.mark.parametrize("name", KNOWN)
def test_a_file_is_known_and_its_figures_are_those_of_the_file(name: str) -> None:
    format_, part, where, figures = KNOWN[name]
    assert sniffed(Source(SAMPLES / name)) == format_
    table = read(SAMPLES / name)
    row = next(row for row in table.rows if row.part == part and row.where() == where)
    assert {key: row.values[key].value for key in figures} == pytest.approx(figures, rel=1e-6)
    assert table.missing and table.format == format_ and table.tool


def test_every_sample_has_a_known_answer_and_every_format_a_sample() -> None:
    there = {path.name for path in SAMPLES.iterdir()} - {"README.md", "hdr.hlog"}
    assert there == set(KNOWN)
    assert {format_ for format_, *_ in KNOWN.values()} | {"iozone", "table"} == set(FORMATS)
    text = (SAMPLES / "README.md").read_text()
    assert all(f"`{name}`" in text for name in there | {"hdr.hlog"})


def test_places_are_those_of_the_file() -> None:
    text = (SAMPLES / "wrk.txt").read_text().splitlines()
    (row,) = read(SAMPLES / "wrk.txt").rows
    for value in row.values.values():
        assert value.number.text in text[value.line - 1]
    assert (row.values["rate"].low, row.values["rate"].high) == (pytest.approx(65412.765), pytest.approx(65412.775))


def test_a_log_of_histograms_comes_to_what_its_writer_says() -> None:
    (row,) = read(SAMPLES / "hdr.hlog").rows
    found = {
        name: row.values[name].number.value for name in ("mean", "p50", "p90", "p99", "p99.9", "minimum", "maximum")
    }
    wanted = {"mean": 4744.06, "p50": 2823, "p90": 9991, "p99": 32303, "p99.9": 80703, "minimum": 89, "maximum": 162815}
    assert found == pytest.approx(wanted, rel=1e-3)
    assert (row.values["operations"].value, row.values["duration"].value) == (3000, 3.0)
    with pytest.raises(PlanError, match="give it with --unit"):
        table_of("hdr", (SAMPLES / "hdr.hlog").read_bytes())


def test_iozones_blocks_and_throughput_mode_are_read() -> None:
    matrix, whole = read(OTHERS / "auto-excel.txt"), (OTHERS / "auto-excel.txt").read_text()
    blocks = table_of("iozone", whole[whole.index("Excel output") :])
    wanted = {(row.part, row.where()): row.values["throughput"].value for row in matrix.rows}
    assert {(row.part, row.where()): row.values["throughput"].value for row in blocks.rows} == wanted
    rows = read(OTHERS / "throughput-range.txt").rows
    assert [(row.part, row.load["clients"].value) for row in rows[:2]] == [("write", 1), ("rewrite", 1)]
    assert {row.load["clients"].value for row in rows} == {1, 2}
    assert rows[0].values["throughput by the parent"].value == pytest.approx(19298.78 * 1024)


def test_rates_of_other_tools_are_not_said_to_leave_failures_out(tmp_path: Path) -> None:
    table = read(SAMPLES / "wrk-errors.txt")
    write_import(tmp_path / "x.bakeoff", [Given("a", SAMPLES / "wrk-errors.txt", table), Given("b", SAMPLES, table)])
    record = read_run(tmp_path / "x.bakeoff")
    page = render_html(compose(record, compare_run(record)))
    assert "Its rate may count failed operations" in page and "exclude failed operations" not in page
    assert "planned trials ran" not in page and "all 2 imported samples count" in page


def test_what_ran_together_is_added_up() -> None:
    read_, write, whole = (
        next(row for row in read(SAMPLES / "fio-mix.json").rows if row.part == part) for part in ("read", "write", "")
    )
    for name in ("rate", "throughput", "operations", "bytes"):
        assert whole.values[name].value == pytest.approx(read_.values[name].value + write.values[name].value)
    assert "mean" not in whole.values


def test_parts_of_iometer_are_there_to_be_added_up_and_are_compared_with_nothing() -> None:
    rows = read(SAMPLES / "iometer-2006.csv").rows
    workers = [row for row in rows if row.part.startswith("worker")]
    assert sum(row.values["rate"].value for row in workers) == rows[0].values["rate"].value
    assert all(row.breakdown for row in workers) and [row.load["in flight"].value for row in rows if not row.part] == [
        1,
        8,
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_file_becomes_a_run(path: Path, tmp_path: Path) -> None:
    table = read(path)
    write_import(tmp_path / "x.bakeoff", [Given("a", path, table), Given("b", path, table)])
    record = read_run(tmp_path / "x.bakeoff")
    assert record.imported_from == table.tool and record.trials
    assert len(record.contenders) == 2


def damaged(chance: random.Random, data: bytes) -> bytes:
    """A file with a few bytes changed, cut off, or with a part of it twice."""
    found = bytearray(data)
    for _ in range(chance.randrange(1, 12)):
        found[chance.randrange(len(found))] = chance.choice(b' 0123456789abz\n\t\x00\xff-.,:{}[]"<>%')
    if chance.random() < 0.3:
        del found[chance.randrange(len(found)) :]
    if chance.random() < 0.2:
        at = chance.randrange(len(found) + 1)
        found[at:at] = found[chance.randrange(len(found) + 1) :][:2000]
    return bytes(found)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_bytes_break_it(path: Path, tmp_path: Path) -> None:
    chance, data, format_ = random.Random(path.name), path.read_bytes(), sniffed(Source(path))
    target = tmp_path / "x"
    for _ in range(40):
        target.write_bytes(damaged(chance, data))
        for name in (format_, "table"):
            try:
                table = importer(name).read(Source(target), Options(unit="us" if name == "hdr" else None))
                assert all(0 <= value.value < 1e300 for row in table.rows for value in row.values.values())
                assert all(
                    value.low <= value.value <= value.high for row in table.rows for value in row.values.values()
                )
                (tmp_path / "x.bakeoff").unlink(missing_ok=True)
                write_import(tmp_path / "x.bakeoff", [Given("a", target, table)])
            except BakeoffError as error:
                assert "\n" not in str(error)


@pytest.mark.parametrize("name", FORMATS)
def test_files_that_are_none_end_in_a_sentence(name: str, tmp_path: Path) -> None:
    for content in (
        b"",
        b"\n" * 500,
        b"words\n",
        bytes(1000),
        b"\xff\xfe" + b"x\x00" * 300,
        b"[" * 5000,
        b"{}",
        b"a,b\n",
    ):
        (tmp_path / "x").write_bytes(content)
        with pytest.raises(PlanError) as refusal:
            importer(name).read(Source(tmp_path / "x"), Options())
        assert "\n" not in str(refusal.value) and len(str(refusal.value)) < 400
    with pytest.raises(PlanError, match="cannot be read"):
        importer(name).read(Source(tmp_path / "nowhere"), Options())


@pytest.mark.parametrize("name", FORMATS)
def test_one_endless_line_ends_in_a_sentence(name: str, tmp_path: Path) -> None:
    """A file of 1 GB without a line's end, of which no more than is needed is read."""
    head = {"jmeter": b"timeStamp,elapsed,label,success\n1,2,", "hey": b"response-time,DNS"}.get(name, b"a,b\nc,")
    with (tmp_path / "x").open("wb") as file:
        file.write(head + b"x" * 100_000)
        file.truncate(1 << 30)
    with pytest.raises(PlanError) as refusal:
        importer(name).read(Source(tmp_path / "x"), Options())
    assert "\n" not in str(refusal.value) and len(str(refusal.value)) < 400


def test_json_of_too_many_parts_is_refused_before_it_is_held() -> None:
    with pytest.raises(PlanError, match="more than 3,000,000 values"):
        table_of("k6", '{"metrics": [' + "[],[]," * 1_000_000 + "[],[],[]]}")
    with pytest.raises(PlanError, match="nested too deep"):
        table_of("k6", "[" * 100_000)


def test_a_long_log_is_read_in_bounded_memory(tmp_path: Path) -> None:
    """JMeter's samples are counted, not kept: what is held does not grow with the file."""
    import tracemalloc

    heading = "timeStamp,elapsed,label,success,bytes,allThreads\n"
    peaks = []
    for lines in (20_000, 100_000):
        with (tmp_path / "x.jtl").open("w") as file:
            file.write(heading)
            file.writelines(f"{1795700000000 + n},{n % 500},page,true,100,8\n" for n in range(lines))
        tracemalloc.start()
        table = importer("jmeter").read(Source(tmp_path / "x.jtl"), Options())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert table.rows[0].values["operations"].value == lines
    assert peaks[1] < 1.5 * peaks[0] < 30e6


def test_bakeoffs_own_openmetrics_come_back_as_they_were() -> None:
    record = change(run(), "apache", 8, (1,), state="failed", reason="refused")
    text = EXPORTERS["openmetrics"].content(record)
    found = table_of("prometheus", text)
    ok = [trial for trial in record.trials if trial.state == "ok"]
    assert len(found.rows) == len(ok) == len(record.trials) - 1
    by_place = {(row.contender, row.load["clients"].value): [] for row in found.rows}
    for row in found.rows:
        by_place[row.contender, row.load["clients"].value].append(row.values["rate"].value)
    for (contender, clients), rates in by_place.items():
        wanted = [t.operations_per_s for t in ok if (t.contender, t.load_step) == (contender, Clients(int(clients)))]
        assert sorted(rates) == pytest.approx(sorted(wanted), rel=1e-6)
    assert not audit([found]).impossible


def test_of_prometheus_text_a_histogram_gives_a_mean_and_no_percentile() -> None:
    row = read(SAMPLES / "prometheus.txt").rows[0]
    assert set(row.values) == {"requests", "bytes in", "bytes out", "mean"}


def test_what_a_program_tells_of_itself_is_no_load() -> None:
    """Pauses of its garbage collector are no response times, and failed scrapes are no errors of requests."""
    rows = [row for name in ("prometheus.txt", "prometheus-server.txt") for row in read(SAMPLES / name).rows]
    assert not any(name in row.values for row in rows for name in ("errors", "p50", "minimum"))
    assert not any("cause" in row.part for row in rows)


def test_labels_of_prometheus_text_are_contenders_and_loads() -> None:
    labels = 'server="nginx",clients="8"'
    name = "http_request_duration_seconds"
    text = (
        f'# TYPE {name} summary\n{name}{{{labels},quantile="0.99"}} 0.0188\n'
        f"{name}_sum{{{labels}}} 78\n{name}_count{{{labels}}} 12000\n"
        f"# TYPE http_request_errors_total counter\nhttp_request_errors_total{{{labels}}} 3\n"
        f"# TYPE http_requests_received_total counter\nhttp_requests_received_total{{{labels}}} 12000\n"
    )
    (row,) = table_of("prometheus", text).rows
    assert (row.contender, row.where()) == ("nginx", "8 clients")
    found = {name: value.value for name, value in row.values.items()}
    assert found == pytest.approx({"p99": 0.0188, "mean": 0.0065, "requests": 12000, "errors": 3})


@pytest.mark.parametrize("name", ["MiBps (Binary)", "MBps (Binary)"])
def test_iometer_calls_mebibytes_by_two_names(name: str) -> None:
    text = (SAMPLES / "iometer-2006.csv").read_text().replace(",MBps,", f",{name},")
    assert table_of("iometer", text).rows[0].values["throughput in MiB/s"].value == 10 * 2**20


@pytest.mark.parametrize("name", ["elbencho.csv", "elbencho.json"])
def test_reads_beside_writes_are_rows_and_threads_those_of_all_hosts(name: str) -> None:
    rows = [row for row in read(SAMPLES / name).rows if row.part.startswith("rwmix70")]
    assert [(row.part, row.values["rate"].value, row.values["mean"].value) for row in rows] == [
        ("rwmix70 write", 300, pytest.approx(0.0081)),
        ("rwmix70 read", 700, pytest.approx(0.0036)),
    ]
    assert all(row.load["clients"].value == 8 and row.values["duration"].value == 1.024 for row in rows)
    rate = rows[0].values["rate"]
    assert rate.low == 300 and rate.high == pytest.approx(301)  # cut, not rounded


def test_of_file_systems_vdbench_tells_no_mean_of_writes_that_did_not_happen() -> None:
    (row,) = read(SAMPLES / "vdbench-files.html").rows
    assert row.values["read mean"].value == pytest.approx(0.00078) and "write mean" not in row.values


def test_requests_that_the_end_of_ohas_time_cut_off_are_no_failures() -> None:
    text = (SAMPLES / "oha.json").read_text()
    errors = re.search(r'"errorDistribution": \{[^}]*\}', text)
    assert errors is not None
    text = text.replace(errors[0], '"errorDistribution": {"aborted due to deadline": 50, "timeout": 2}')
    text = re.sub(r'"statusCodeDistribution": \{[^}]*\}', '"statusCodeDistribution": {"200": 3990, "404": 8}', text)
    text = re.sub(r'"total": [0-9.]+', '"total": 2.5', text)
    (row,) = table_of("oha", text).rows
    found = {name: row.values[name].value for name in ("operations", "errors", "rate")}
    assert found == pytest.approx({"operations": 3990, "errors": 10, "rate": 4000 / 2.5})


def test_a_part_of_a_minute_is_no_minute_of_postal() -> None:
    lines = (SAMPLES / "postal.txt").read_text().splitlines(keepends=True)
    assert len(read(SAMPLES / "postal.txt").rows) == 1 and lines[1].startswith("00:09,80,")
    with pytest.raises(PlanError, match="more than two minutes"):
        table_of("postal", "".join(lines[:2]))


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("http_requests_total{server=nginx} 1", "its labels are not"),
        ("http_requests_total 1 2 3 4", "a sample was expected"),
        ("bakeoff_operations 1 1.2.3", "a sample was expected"),
        ("http_requests_total many", "no value of a sample"),
        ("http_requests_total -3", "less than nothing"),
    ],
)
def test_a_line_of_prometheus_text_that_cannot_be_told_is_named(line: str, what: str) -> None:
    with pytest.raises(PlanError, match=f"line 2: .*{what}"):
        table_of("prometheus", f"# TYPE http_requests_total counter\n{line}\n")


def test_labels_are_read_as_they_were_written_and_nan_is_no_value() -> None:
    text = '# TYPE requests_total counter\nrequests_total{server="a\\"b,}"} 5\nrequests_total{server="c"} NaN\n'
    assert [(row.contender, row.values["requests"].value) for row in table_of("prometheus", text).rows] == [
        ('a"b,}', 5)
    ]


def test_an_old_workbook_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "old.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    source = Source(tmp_path / "old.xls")
    with pytest.raises(PlanError, match=r"\(\.xls\): save it as \.xlsx or CSV"):
        importer(sniffed(source)).read(source, Options())
