"""What limits a machine, against made-up machines: each check is tripped alone."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bakeoff.agents.base import Facts
from bakeoff.agents.machine.quota import memory_limit_bytes, quota_cores
from bakeoff.agents.machine.socket_capacity import Demand, Machine, open_files
from bakeoff.agents.machine.vitals import Vitals, take_vitals, time_waits
from bakeoff.cli.app import app
from bakeoff.cli.machines import doctor as verb
from bakeoff.run.checks.doctor import CHECKS, LEVELS, examine, findings_object, sessions_within

SOUND = Vitals(
    environment={"cpu": {"logical": 4, "governor": "performance", "mhz": 3400.0}, "clocksource": "tsc"},
    sockets=Machine(ports=64_512, reuse=2, listen_queue=4096),
    cores=4,
    open_files=1_048_576,
    busy_share=0.01,
    stolen_share=0.0,
    stolen_since_boot=0.0,
    clock_ns=40.0,
    clock_sources=("tsc", "hpet"),
    time_waits=3,
    memory_free_bytes=8_000_000_000,
    disk_free_bytes=50_000_000_000,
    io_uring_disabled=0,
)
FACTS = Facts(environment={}, build={}, processors=(0, 1), addresses=())
ASKED = SOUND.environment
GUEST = {**ASKED, "hypervisor": "KVM"}


def test_a_sound_machine_has_nothing_to_mend() -> None:
    found = examine(SOUND)
    assert len(found) == len(CHECKS)
    assert {finding.level for finding in found} == {"good"}
    assert not any(finding.mend for finding in found)


@pytest.mark.parametrize(
    ("change", "name", "level", "text", "mend"),
    [
        ({"busy_share": 0.4}, "other load", "mend", "40% of 4 cores busy with other processes", "top"),
        ({"stolen_share": 0.03}, "stolen time", "mend", "3.0% now, 0.0% since boot", "quieter host"),
        ({"stolen_since_boot": 0.05}, "stolen time", "mend", "0.0% now, 5.0% since boot", "quieter host"),
        ({"cores": 1}, "processors", "mend", "1", "two or more"),
        ({"cores": 2}, "processors", "note", "2 of 4", "taskset -cp 0-3 $$"),
        ({"quota_cores": 1.5}, "processors", "mend", "1.5 of 4 allowed by a control group", "cpu.max"),
        ({"environment": {**ASKED, "cpu": {"logical": 4, "governor": "powersave"}}}, "governor", "mend", "powersave",
         "echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"),
        ({"environment": {**ASKED, "clocksource": "hpet"}, "clock_ns": 900.0}, "clock", "mend",
         "hpet, 900 ns a reading", "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"),
        ({"environment": {**ASKED, "clocksource": "hpet"}, "clock_sources": ("hpet",)}, "clock", "note", "hpet", "tsc"),
        ({"environment": GUEST}, "virtual machine", "note", "KVM", "without a hypervisor"),
        ({"memory_free_bytes": 100_000_000}, "free memory", "mend", "100 MB", "top"),
        ({"open_files": 1024}, "open files", "mend", "1,024", "ulimit -Hn 1048576"),
        ({"open_files": 20_000}, "open files", "note", "20,000", "ulimit -Hn 1048576"),
        ({"sockets": Machine(600, 2, 4096)}, "local ports", "mend", "600", "ip_local_port_range='1024 65535'"),
        ({"sockets": Machine(28_232, 2, 4096)}, "local ports", "note", "28,232", "ip_local_port_range='1024 65535'"),
        ({"time_waits": 40_000}, "time-wait", "mend", "40,000 sockets", "sleep 60"),
        ({"sockets": Machine(64_512, 0, 4096)}, "time-wait", "note", "never used again early", "tcp_tw_reuse=2"),
        ({"sockets": Machine(64_512, 2, 128)}, "listen queue", "mend", "128", "sysctl -w net.core.somaxconn=4096"),
        ({"io_uring_disabled": 2}, "io_uring", "note", "switched off", "sysctl -w kernel.io_uring_disabled=0"),
        ({"disk_free_bytes": 1000}, "free disk", "mend", "1 kB", "df -h"),
    ],
)  # fmt: skip
def test_each_check_is_tripped_alone(change: dict[str, Any], name: str, level: str, text: str, mend: str) -> None:
    first, *others = examine(replace(SOUND, **change))
    assert (first.name, first.level) == (name, level)
    assert text in first.text and mend in first.mend
    assert {other.level for other in others} == {"good"}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"busy_share": None}, "other load"),
        ({"stolen_share": None}, "stolen time"),
        ({"environment": {"clocksource": "tsc"}}, "governor"),
        ({"clock_ns": None}, "clock"),
        ({"memory_free_bytes": None}, "free memory"),
        ({"sockets": Machine(None, 2, 4096)}, "local ports"),
        ({"time_waits": None}, "time-wait"),
        ({"sockets": Machine(64_512, 2, None)}, "listen queue"),
        ({"io_uring_disabled": None}, "io_uring"),
        ({"disk_free_bytes": None}, "free disk"),
    ],
)
def test_what_a_machine_does_not_tell_is_not_guessed(change: dict[str, Any], name: str) -> None:
    *others, last = examine(replace(SOUND, **change))
    assert (last.name, last.level, last.value, last.mend) == (name, "unknown", None, "")
    assert {other.level for other in others} == {"good"}


def test_the_most_important_comes_first() -> None:
    found = examine(replace(SOUND, environment=GUEST, disk_free_bytes=1, busy_share=0.5, time_waits=None))
    assert [finding.name for finding in found[:2]] == ["other load", "free disk"]
    assert [LEVELS.index(finding.level) for finding in found] == sorted(LEVELS.index(f.level) for f in found)


@pytest.mark.parametrize("files", [1, 128, 193, 1024, 20_000, 1_048_576])
def test_sessions_are_as_many_as_the_check_before_a_run_allows(files: int) -> None:
    sessions = sessions_within(files)
    assert sessions == 0 or open_files(Demand(sessions)) <= files
    assert open_files(Demand(sessions + 1)) > files


def test_control_groups_of_both_versions(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("3:cpuset:/a\n2:cpu,cpuacct:/a\n0::/b/c\n")
    assert quota_cores(tmp_path) is None
    outer, inner = tmp_path / "sys/fs/cgroup/b", tmp_path / "sys/fs/cgroup/b/c"
    inner.mkdir(parents=True)
    (outer / "cpu.max").write_text("400000 100000\n")
    (inner / "cpu.max").write_text("max 100000\n")
    assert quota_cores(tmp_path) == 4.0
    first = tmp_path / "sys/fs/cgroup/cpu,cpuacct/a"
    first.mkdir(parents=True)
    (first / "cpu.cfs_quota_us").write_text("150000\n")
    (first / "cpu.cfs_period_us").write_text("100000\n")
    assert quota_cores(tmp_path) == 1.5
    (first / "cpu.cfs_quota_us").write_text("-1\n")
    assert quota_cores(tmp_path) == 4.0


@pytest.mark.parametrize(
    ("text", "count"),
    [("sockets: used 9\nTCP: inuse 7 orphan 0 tw 14 alloc 7\n", 14), ("TCP: inuse 7 orphan 0 tw", None), ("", None)],
)
def test_sockets_in_time_wait(text: str, count: int | None) -> None:
    assert time_waits(text) == count


def test_this_machine_can_be_looked_at(tmp_path: Path) -> None:
    found = take_vitals(FACTS, tmp_path, sleep=lambda _: None)
    assert found.cores >= 1 and found.clock_ns is not None and found.clock_ns > 0
    assert found.disk_free_bytes is not None and found.memory_free_bytes is not None
    assert take_vitals(FACTS, tmp_path / "none", sleep=lambda _: None, system=tmp_path).disk_free_bytes is None


@pytest.mark.parametrize(("machine", "code"), [(SOUND, 0), (replace(SOUND, cores=1), 1)])
def test_the_command_tells_and_its_exit_code_says_whether_to_mend(
    machine: Vitals, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verb, "take_vitals", lambda *_: machine)
    plain = CliRunner().invoke(app, ["doctor"], env={"COLUMNS": "200"})
    assert plain.exit_code == code
    assert all(finding.name in plain.output for finding in examine(machine))
    result = CliRunner().invoke(app, ["doctor", "--json"])
    assert result.exit_code == code
    assert json.loads(result.output) == findings_object(examine(machine))
    assert json.loads(result.output)["mend"] == code


def test_memory_is_that_of_the_least_control_group(tmp_path: Path) -> None:
    assert memory_limit_bytes(tmp_path) is None
    group = tmp_path / "sys/fs/cgroup/a/b"
    group.mkdir(parents=True)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/a/b\n")
    (group / "memory.max").write_text("max\n")
    assert memory_limit_bytes(tmp_path) is None
    (group.parent / "memory.max").write_text("1073741824\n")
    assert memory_limit_bytes(tmp_path) == 1 << 30
    (tmp_path / "sys/fs/cgroup/memory/c").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("4:memory:/c\n")
    (tmp_path / "sys/fs/cgroup/memory/c/memory.limit_in_bytes").write_text("4096\n")
    assert memory_limit_bytes(tmp_path) == 4096
