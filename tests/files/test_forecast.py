"""Forecasts of file work hold: against folders of known speed, and against what a run moves."""

import os
import threading
from dataclasses import replace
from importlib import import_module
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.spec import TrialSpec
from bakeoff.cli.measure.plan import typed_acts
from bakeoff.core.errors import ContenderError
from bakeoff.kinds.files.foresee import CALIBRATION_BYTES, CALIBRATION_S, Cost, _settle, fitted
from bakeoff.plan.design.durations import CELL_S, OVERHEAD_S, SETUP_TEARDOWN_S
from bakeoff.plan.design.work import TrialWork
from bakeoff.plan.load import PlanInput, resolve_plan
from bakeoff.plan.model import Plan
from bakeoff.run.driver import start_run
from bakeoff.run.kind import Foreseen, run_part
from bakeoff.store.sqlite.read import read_run
from tests.unit.run.fake import Notebook

WORK: dict[str, dict[str, Any]] = {
    "file-matrix": {"file_sizes": "64KiB,1MiB,16MiB,64MiB", "record_sizes": "4KiB,64KiB,1MiB"},
    "file-blocks": {"cell_time": "150ms", "ramp_up": "20ms", "region": "256MiB"},
}


def plan_of(suite: str, folder: Path, **settings: Any) -> Plan:
    head = {"suite": suite, "blocks": "1"}
    return resolve_plan(PlanInput("", head, settings, [{"name": "a", "address": str(folder)}]))


def foreseen(plan: Plan, calibrate: bool = True, acts: bool = False) -> Foreseen:
    return run_part(plan.kind).foresee(plan, calibrate, acts)


@pytest.mark.parametrize("suite", WORK)
def test_a_forecast_is_what_a_folder_of_known_speed_takes(
    suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How well a real folder keeps to it is a matter of its speed in other moments: benchmarks/forecasts.py."""
    cost = Cost(1e-3, 2e-6, 3e-10, 4e-10, 0.02)
    plan = plan_of(suite, tmp_path, **WORK[suite])
    tries = cycle(parts_of(plan))

    def tried(agent: Any, spec: TrialSpec, until: float) -> float:
        part = next(tries)
        assert spec.workload == part.workload
        return time_of(part.work, cost)

    monkeypatch.setattr("bakeoff.kinds.files.foresee.CALIBRATION_S", 60.0)  # of slow machines, too
    monkeypatch.setattr("bakeoff.kinds.files.foresee._tried", tried)
    expected = foreseen(plan).expected
    assert expected.how == "measured"
    between_s = plan.trials * (OVERHEAD_S + cells_of(plan) * CELL_S)
    assert expected.measuring_s == pytest.approx(cost.trial_s(plan) + cost.layout_s(plan) + between_s, rel=0.02)
    assert expected.run_s >= expected.measuring_s + SETUP_TEARDOWN_S


def test_the_work_of_a_plan_is_what_its_run_does(tmp_path: Path) -> None:
    plan = plan_of("file-matrix", tmp_path, file_sizes="64KiB,1MiB", record_sizes="4KiB,64KiB,1MiB", clients="1,2")
    path = tmp_path / "r.bakeoff"
    start_run(plan, path, [LocalAgent()], Notebook())
    for trial in read_run(path).trials:
        work = plan.settings.work(trial.load_step)
        assert work is not None
        assert (work.calls, work.bytes) == (trial.operations, trial.bytes_in + trial.bytes_out)


def cells_of(plan: Plan) -> int:
    work = plan.settings.work(plan.settings.load_steps[0])
    assert work is not None
    return work.cells


def parts_of(plan: Plan) -> list[Any]:
    """The parts that are tried in the folder of the only contender."""
    workload = LocalAgent().check(plan).workload(plan.contenders[0], ())
    clients = plan.settings.load_steps[-1].clients * plan.settings.virtual_users
    return list(import_module(f"bakeoff.kinds.{plan.kind.replace('-', '_')}.run").samples(workload, clients))


def emptying_of(plan: Plan) -> Any:
    """The part before which caches are emptied."""
    workload = LocalAgent().check(plan).workload(plan.contenders[0], ())
    clients = plan.settings.load_steps[-1].clients * plan.settings.virtual_users
    return import_module(f"bakeoff.kinds.{plan.kind.replace('-', '_')}.run").emptying(workload, clients)


def time_of(work: TrialWork, cost: Cost) -> float:
    each_s = work.cells * cost.cell_s + work.calls * cost.call_s + work.bytes * cost.byte_s
    emptied_s = work.cache_drops * cost.emptied_s
    return work.timed_s + each_s + work.layout_bytes * cost.laid_s_per_byte + cost.trial_fixed_s + emptied_s


def test_a_folder_that_is_mounted_read_only_is_refused_in_a_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounted = SimpleNamespace(f_flag=os.ST_RDONLY)
    monkeypatch.setattr("bakeoff.kinds.files.foresee.os.statvfs", lambda folder: mounted)
    with pytest.raises(ContenderError, match=r"cannot be written to .*: mount it for writing"):
        foreseen(plan_of("file-mix", tmp_path))


def test_costs_are_those_that_made_the_times() -> None:
    cost = Cost(1e-3, 2e-6, 3e-10, 4e-10, 0.02)
    works = [TrialWork(13, 0.0, 1 << 20, 20), TrialWork(104, 0.0, 1 << 20, 400), TrialWork(13, 0.1, 1 << 26, 100)]
    works += [TrialWork(13, 0.0, 1 << 26, 90_000), TrialWork(1, 0.05, 0, 0, 1 << 25), TrialWork(3, 0.15, 0, 0, 1 << 22)]
    times_s = [
        w.timed_s + w.cells * 1e-3 + w.calls * 2e-6 + w.bytes * 3e-10 + w.layout_bytes * 4e-10 + 0.02 for w in works
    ]
    found = fitted(works, times_s)
    for name in ("cell_s", "call_s", "byte_s", "laid_s_per_byte", "trial_fixed_s"):
        assert getattr(found, name) == pytest.approx(getattr(cost, name), rel=1e-3), name


@pytest.mark.parametrize("suite", ["file-matrix", "file-blocks", "file-mix"])
def test_folders_that_are_not_there_or_too_small_are_refused(
    suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ContenderError, match=f"there is no folder {tmp_path}/no: mount the share, or make the folder"):
        foreseen(plan_of(suite, tmp_path / "no"))
    full = SimpleNamespace(total=1 << 30, free=1 << 20)
    monkeypatch.setattr("bakeoff.kinds.files.foresee.shutil.disk_usage", lambda _: full)
    with pytest.raises(ContenderError, match=r"has 1\.05 MB free, the run needs .*: free some space"):
        foreseen(plan_of(suite, tmp_path))


def test_two_regions_on_one_file_system_need_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contenders = [{"name": name, "address": str(tmp_path / name)} for name in "ab"]
    for contender in contenders:
        Path(contender["address"]).mkdir()
    plan = resolve_plan(PlanInput("", {"suite": "file-blocks"}, {"region": "256MiB"}, contenders))
    room = SimpleNamespace(total=1 << 30, free=400 << 20)
    monkeypatch.setattr("bakeoff.kinds.files.foresee.shutil.disk_usage", lambda _: room)
    with pytest.raises(ContenderError, match=r"a, b: .* the run needs 537 MB"):
        foreseen(plan, calibrate=False)


@pytest.mark.parametrize("suite", ["file-matrix", "file-blocks"])
def test_caches_that_a_try_leaves_alone_are_told_beside_the_duration(suite: str, tmp_path: Path) -> None:
    """Seen: "about 9s" for a run of 2m10s that dropped the caches of the machine before each cell."""
    plain = foreseen(plan_of(suite, tmp_path, cache="cold"), calibrate=False)
    dropped = plan_of(suite, tmp_path, cache="cold", drop_caches=True)
    times = sum(
        work.cache_drops
        for load_step in dropped.settings.load_steps
        if (work := dropped.settings.work(load_step)) is not None
    )
    cells = cells_of(dropped)
    assert times == (cells if suite == "file-blocks" else cells * 12 // 13)  # not before the test that makes its file
    observed = foreseen(dropped, calibrate=False).lines[-1]
    assert observed.startswith(f"all caches of this machine are dropped {times:,} times, before cells: that comes on")
    command = foreseen(plan_of(suite, tmp_path, cache="cold", cold_command="true"), calibrate=False).lines[-1]
    assert command.startswith("the cold command runs ") and not any("on top" in line for line in plain.lines)


@pytest.mark.parametrize("suite", ["file-matrix", "file-blocks"])
def test_a_forecast_has_what_a_command_before_each_cell_takes(
    suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = tmp_path / "runs"
    few = {"file-matrix": {"file_sizes": "64KiB", "record_sizes": "64KiB"}, "file-blocks": {"block_sizes": "4KiB"}}
    settings = few[suite] | {"cache": "cold", "cold_command": f"echo >> {runs}"}
    plan = plan_of(suite, tmp_path, **settings)
    monkeypatch.setattr("bakeoff.kinds.files.foresee.ROUNDS", 1)
    refused = foreseen(plan)
    assert refused.lines[-1].startswith("the cold command runs ") and not runs.exists()
    monkeypatch.setattr("bakeoff.kinds.files.foresee.CALIBRATION_S", 60.0)  # of slow machines, too
    monkeypatch.setattr("bakeoff.kinds.files.foresee.EMPTYING_S", 0.0)
    found = foreseen(plan, acts=True)
    assert found.expected.how == "measured" and not any("on top" in line for line in found.lines)
    assert len(runs.read_text()) == 1  # more often only while there is time for it
    works, cost = cycle([part.work for part in parts_of(plan)]), Cost(1e-3, 2e-6, 3e-10, 4e-10, 0.02, 0.7)

    def tried(agent: Any, spec: TrialSpec, until: float) -> float:
        work = next(works) if spec.workload.cold_command is None else emptying_of(plan).work
        return time_of(work, cost)

    monkeypatch.setattr("bakeoff.kinds.files.foresee._tried", tried)
    known = foreseen(plan, acts=True).expected
    between_s = plan.trials * (OVERHEAD_S + cells_of(plan) * CELL_S)
    assert known.measuring_s == pytest.approx(cost.trial_s(plan) + cost.layout_s(plan) + between_s, rel=0.02)


def test_only_what_was_typed_is_tried_by_a_plan(tmp_path: Path) -> None:
    """Somebody who looks at a plan file of others must not carry out its commands by that."""
    settings = {"cache": "cold", "cold_command": "true", "drop_caches": "yes"}
    given = PlanInput("", {"suite": "file-matrix"}, settings, [{"name": "a", "address": str(tmp_path)}])
    plan = resolve_plan(given)
    typed = {("settings", key): "--" + key for key in settings}
    assert typed_acts(replace(given, flags=typed), plan)
    assert not typed_acts(given, plan)
    assert not typed_acts(replace(given, flags={("settings", "drop_caches"): "--drop-caches"}), plan)


@pytest.mark.parametrize("suite", ["file-matrix", "file-blocks"])
def test_a_try_is_bounded_and_without_one_nothing_is_written(
    suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(suite, tmp_path, clients="4")
    monkeypatch.setattr("bakeoff.kinds.files.foresee.CALIBRATION_S", 0.0)
    slow = foreseen(plan)
    assert slow.expected.how != "measured" and "did not end in time" in slow.lines[-1]
    before = tmp_path.stat().st_mtime_ns
    assert foreseen(plan, calibrate=False).expected.how != "measured"
    assert tmp_path.stat().st_mtime_ns == before and CALIBRATION_S <= 2.0
    spec = LocalAgent().check(plan)
    workload = spec.workload(plan.contenders[0], ())
    parts = list(import_module(f"bakeoff.kinds.{suite.replace('-', '_')}.run").samples(workload, 4))
    assert all(max(part.work.layout_bytes, largest(part.workload) * 4) <= CALIBRATION_BYTES for part in parts)


def largest(workload: Any) -> int:
    """The largest file of a client of a matrix, nothing for others."""
    return max((file for file, _ in getattr(workload, "pairs", ())), default=0)


def test_a_disk_of_others_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    hung = threading.Event()
    monkeypatch.setattr("bakeoff.kinds.files.foresee.os.sync", hung.wait)
    monkeypatch.setattr("bakeoff.kinds.files.foresee.SETTLING_S", 0.01)
    _settle()
    hung.set()
