"""Counts past 2³² and 2⁵³ stay whole from the JSON of the engine to records, sums over agents and lines of text."""

import json

import pytest

from bakeoff.agents.merge import merged_snapshot
from bakeoff.agents.result import IntervalResult, OperationCount, RecentResult, Snapshot
from bakeoff.load.load_step import Clients
from bakeoff.run.observe.observer import trial_line
from bakeoff.run.outcome.judge import to_record
from bakeoff.store.records.run_records import PlannedTrial
from tests.unit.run.fake import SOME, WEB, result


@pytest.mark.parametrize("count", [2**32 + 1, 2**53 + 1])
def test_from_the_result_to_the_record(count: int) -> None:
    observed = result(operations=count, bytes_in=count, errors={"refused": count}, errors_total=count)
    record = to_record(PlannedTrial(0, "a", Clients(2), 1, 1), "2026-11-20T10:00:00+00:00", observed, 1.0, None, WEB)
    assert (record.operations, record.bytes_in, record.errors) == (count, count, {"refused": count})
    assert f"{count:,} errors" in trial_line(record)
    row = {"number": 0, "start_s": 0.0, "length_s": 3600.0, "operations": count, "errors": {"refused": count}}
    row |= {"bytes_in": count, "bytes_out": count, "service": {**SOME, "count": count}, "cpu_share": 0.5}
    row |= {"run_delay_share": 0.0, "stolen_s": 0.0, "rss_bytes": 1}
    read = IntervalResult.model_validate_json(json.dumps(row))
    assert (read.operations, read.errors["refused"], read.service.count) == (count, count, count)


@pytest.mark.parametrize("count", [2**32 + 1, 2**53 + 1])
def test_snapshots_of_several_agents_add_up_to_the_unit(count: int) -> None:
    one = Snapshot(
        elapsed_s=1.0, phase="window", operations=count, errors=count, bytes_in=count,
        per_operation=(OperationCount(name="a", operations=count, errors=count),),
        recent=RecentResult(operations=count, times=((5, count),)),
    )  # fmt: skip
    both = merged_snapshot([("one", one), ("two", one)])
    assert (both.operations, both.errors, both.bytes_in) == (2 * count,) * 3
    assert (both.per_operation[0].operations, both.recent.operations) == (2 * count, 2 * count)
