"""Runs as Parquet and as OpenMetrics hold the figures of the run."""

from __future__ import annotations

import io
import re

import polars
import pytest

from bakeoff import api
from bakeoff.core.errors import GeneratorError
from bakeoff.formats.exporters import EXPORTERS
from tests.unit.compare.synthetic import change, run
from tests.unit.compare.synthetic_cells import matrix_run

SAMPLE = re.compile(r"^(\w+)\{(.*)\} (\S+) (\d+\.\d{3})$")


@pytest.mark.parametrize("record", [run(), matrix_run(lambda *_: 1.2, tests=("read",))], ids=["trials", "cells"])
def test_parquet_has_the_rows_of_the_table(record) -> None:  # type: ignore[no-untyped-def]
    content = EXPORTERS["parquet"].content(record, "trials")
    assert isinstance(content, bytes)
    frame = polars.read_parquet(io.BytesIO(content))
    assert frame["operations"].to_list() == [trial.operations for trial in record.trials]
    assert frame["contender"].to_list() == [trial.contender for trial in record.trials]


def test_without_polars_the_advice_is_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "is_installed", lambda name: False)
    with pytest.raises(GeneratorError, match=r"bakeoff\[parquet\]"):
        EXPORTERS["parquet"].content(run())


def test_openmetrics_has_a_sample_for_each_trial_with_its_labels() -> None:
    record = change(run(), "apache", 8, (1,), state="failed", reason="refused")
    text = EXPORTERS["openmetrics"].content(record)
    assert isinstance(text, str) and text.endswith("# EOF\n")
    samples = [found.groups() for line in text.splitlines() if (found := SAMPLE.match(line))]
    rates = [sample for sample in samples if sample[0] == "bakeoff_operations_per_second"]
    assert [float(value) for _, _, value, _ in rates] == pytest.approx([t.operations_per_s for t in record.trials])
    assert sum('state="failed"' in labels for _, labels, _, _ in rates) == 1
    assert all(line.startswith("#") or SAMPLE.match(line) for line in text.splitlines())
    seconds = next(float(value) for name, _, value, _ in samples if name == "bakeoff_service_p99_seconds")
    assert seconds == pytest.approx((record.trials[0].service.p99_ns or 0) / 1e9)


def test_names_cannot_end_a_label() -> None:
    record = run()
    hostile = record.__class__(**{**record.__dict__, "name": 'a"} 1\n# EOF\\'})
    text = EXPORTERS["openmetrics"].content(hostile)
    assert isinstance(text, str) and text.count("# EOF\n") == 1 and r'run="a\"} 1\n# EOF\\"' in text
