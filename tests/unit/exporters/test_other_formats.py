"""JSON is what `show` prints; lines of Go's benchmark format are one sample for each block."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.core.errors import PlanError
from bakeoff.formats.exporters.benchfmt import BENCHFMT
from bakeoff.store.records.run_records import ContenderRecord
from tests.unit.compare.synthetic import run
from tests.unit.store.builders import stored
from tests.unit.store.test_figures import SAMPLES, record_of

# <https://go.googlesource.com/proposal/+/master/design/14313-benchmark-format.md>
LINE = re.compile(r"Benchmark[A-Z]\S* [1-9]\d*( -?[0-9.e+-]+ \S+)+")


def test_json_is_the_document_of_show(tmp_path: Path) -> None:
    path = str(stored(run(load_steps=(4,), blocks=1), tmp_path / "x.bakeoff"))
    assert CliRunner().invoke(app, ["export", path, "--to", "json"]).exit_code == 0
    shown = CliRunner().invoke(app, ["show", path, "--json"]).stdout
    assert (tmp_path / "x.json").read_text() == shown and json.loads(shown)["trials"]


def test_a_line_for_each_trial_that_counts() -> None:
    record = run(load_steps=(4, 8), blocks=3)
    bad = replace(record.trials[0], state="failed", reason="dead")
    record = replace(record, trials=(bad, *record.trials[1:]))
    lines = [line for line in BENCHFMT.content(record).splitlines() if line.startswith("Benchmark")]
    assert len(lines) == len(record.trials) - 1 and all(LINE.fullmatch(line) for line in lines)
    trial = record.trials[1]
    name, count, mean, unit, *_ = lines[0].split()
    assert name.endswith(f"/contender={trial.contender}/clients={trial.load_step}") and unit == "ns/op"
    assert int(count) == trial.operations and float(mean) == pytest.approx(trial.service.mean_ns)
    assert BENCHFMT.notes(record) == (f"1 of {len(record.trials)} trials are left out: their figures do not count",)
    with pytest.raises(PlanError, match="nothing to export"):
        BENCHFMT.content(replace(record, trials=(bad,)))


def test_cells_are_names_and_their_rates_bytes() -> None:
    lines = BENCHFMT.content(record_of("file-matrix", SAMPLES["file-matrix"])).splitlines()
    found = [line for line in lines if "file_bytes=65536/record_bytes=4096 " in line]
    assert found and all(LINE.fullmatch(line) for line in found)
    assert float(found[0].split()[2]) == SAMPLES["file-matrix"]["cells"][0]["rate_kib_s"] * 1024


def test_hostile_names_stay_one_name() -> None:
    record = run(load_steps=(4,), blocks=1)
    trials = tuple(replace(t, contender="a b/c\n1 ns/op é") for t in record.trials[:1])
    contenders = (ContenderRecord("a b/c\n1 ns/op é", "http://x", None),)
    text = BENCHFMT.content(replace(record, trials=trials, contenders=contenders))
    (line,) = (line for line in text.splitlines() if line.startswith("Benchmark"))
    assert LINE.fullmatch(line) and "/contender=a_b_c_1_ns_op__/clients=4 " in line
