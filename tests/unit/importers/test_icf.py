"""Iometer files: all versions are read, what is written is read back, nonsense is told."""

import contextlib
import random
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bakeoff.core.errors import PlanError
from bakeoff.formats.importers.file.icf import Cycling, Icf, Manager, Worker, parse_icf, read_icf, write_icf
from bakeoff.plan.settings.access import shipped, spec_of

NEW = """Version 1.1.0
'TEST SETUP ====================================================================
'Test Description
\tnight run
'Run Time
'\thours      minutes    seconds
\t1          2          30
'Ramp Up Time (s)
\t15
'Default Disk Workers to Spawn
\tNUMBER_OF_CPUS
'Default Network Workers to Spawn
\t0
'Record Results
\tALL
'Worker Cycling
'\tstart      step       step type
\t1          1          LINEAR
'Disk Cycling
'\tstart      step       step type
\t1          2          EXPONENTIAL
'Queue Depth Cycling
'\tstart      end        step       step type
\t1          32         2          EXPONENTIAL
'Test Type
\tCYCLE_OUTSTANDING_IOS
'END test setup
'RESULTS DISPLAY ===============================================================
'Record Last Update Results,Update Frequency,Update Type
\tDISABLED,1,LAST_UPDATE
'Bar chart 1 statistic
\tTotal I/Os per Second
'END results display
'ACCESS SPECIFICATIONS =========================================================
'Access specification name,default assignment
\tMine,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
\t512,10,80,100,0,1,0,0
\t65536,90,50,25,5,8,4096,1024
'Access specification name,default assignment
\tIdle like,ALL
'size,% of size,% reads,% random,delay,burst,align,reply
\t2048,100,67,100,1000,1,0,0
'END access specifications
'MANAGER LIST ==================================================================
'Manager ID, manager name
\t1,HOST
'Manager network address
\t
'Worker
\tWorker 1
'Worker type
\tDISK
'Default target settings for worker
'Number of outstanding IOs,test connection rate,transactions per connection,use fixed seed,fixed seed value
\t16,ENABLED,7,DISABLED,3
'Disk maximum size,starting sector,Data pattern
\t4096,8,2
'End default target settings for worker
'Assigned access specs
\tMine
'End assigned access specs
'Target assignments
'Target
\tC: "Data"
'Target type
\tDISK
'End target
'End target assignments
'End worker
'End manager
'END manager list
Version 1.1.0
"""

OLD = """Version 2004.07.30
'test setup ====================================================================
'TEST DESCRIPTION

'Run Time
'\thours      minutes    seconds
\t0          0          30
'Ramp Up Time (seconds)
\t0
'Default Disk Workers to Spawn
\t4
'END Test Setup
'Results Display ===============================================================
'Record Last Update Results,Update Frequency
\tDISABLED,0
'END results display
'ACCESS SPECIFICATIONS =========================================================
'ACCESS SPECIFICATION NAME,default assignment
\tOld one,2
'size,% of size,% reads,% random,delay,burst,align,reply
\t4096,100,100,100,0,1,0,0
'End access specifications
'Manager List ==================================================================
'Manager ID, manager name
\t1,BOX
'Manager network address
\t10.0.0.1
'Worker
\tWorker 1
'Worker type
\tNETWORK,TCP
'Default target settings for worker
'Number of outstanding IOs,test connection rate,transactions per connection
\t8,DISABLED,1
'Disk maximum size,starting sector
\t0,0
'End default target settings for worker
'Assigned access specs
\tOld one
'End assigned access specs
'End worker
'End manager
'End manager list
"""


def test_every_field_of_a_new_file_is_read() -> None:
    icf = parse_icf(NEW)
    assert (icf.version, icf.description, icf.run_time_s, icf.ramp_up_s) == ("1.1.0", "night run", 3750, 15)
    assert icf.disk_cycling == Cycling(1, None, 2, "EXPONENTIAL")
    assert icf.queue_cycling == Cycling(1, 32, 2, "EXPONENTIAL")
    assert icf.test_type == "CYCLE_OUTSTANDING_IOS"
    assert icf.specs[0] == (
        spec_of("Mine", [(512, 10, 80, 100, 0, 1, 0, 0), (65536, 90, 50, 25, 5, 8, 4096, 1024)]),
        "NONE",
    )
    assert icf.specs[1][1] == "ALL"
    worker = Worker("Worker 1", "DISK", 16, True, 7, False, 3, 4096, 8, 2, ("Mine",), (('C: "Data"', "DISK"),))
    assert icf.managers == (Manager(1, "HOST", "", (worker,)),)
    assert [spec.name for spec in icf.used_specs()] == ["Mine", "Idle like"]


def test_old_files_have_fewer_fields_digits_and_other_capitals() -> None:
    icf = parse_icf(OLD)
    assert (icf.version, icf.disk_workers, icf.run_time_s) == ("2004.07.30", "4", 30)
    assert [(spec.name, assigned) for spec, assigned in icf.specs] == [("Old one", "DISK")]
    worker = icf.managers[0].workers[0]
    assert (icf.managers[0].address, worker.type, worker.outstanding, worker.data_pattern) == (
        "10.0.0.1",
        "NETWORK,TCP",
        8,
        0,
    )


def test_lines_without_align_and_reply_and_names_without_assignment_are_read() -> None:
    head = "Version 1998.10.08\n'ACCESS SPECIFICATIONS\n'Access specification name\n"
    icf = parse_icf(head + "\tX\n'size\n\t512,100,50,0,0,1\n")
    assert icf.specs == ((spec_of("X", [(512, 100, 50, 0, 0, 1)]), "NONE"),)


@pytest.mark.parametrize("text", [NEW, OLD])
def test_what_is_written_is_read_back(text: str) -> None:
    once = parse_icf(text)
    again = parse_icf(write_icf(once))
    assert again == parse_icf(write_icf(again))
    for name in ("description", "run_time_s", "ramp_up_s", "specs", "managers", "queue_cycling", "test_type"):
        assert getattr(again, name) == getattr(once, name), name


def test_all_shipped_specifications_survive_the_round_trip(tmp_path: Path) -> None:
    specs = tuple((spec, "NONE") for spec in shipped().values())
    path = tmp_path / "all.icf"
    path.write_text(write_icf(Icf(specs=specs)), encoding="utf-8")
    assert read_icf(path).specs == specs


def test_files_of_other_systems_are_read(tmp_path: Path) -> None:
    path = tmp_path / "windows.icf"
    path.write_bytes(b"\xef\xbb\xbf" + NEW.replace("\n", "\r\n").encode())
    assert read_icf(path).specs == parse_icf(NEW).specs
    path.write_bytes(NEW.replace("night run", "n\xe4chtlich").encode("cp1252"))
    assert read_icf(path).description == "nächtlich"


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (("512,10,80,100", "512,11,80,100"), "101"),
        (("512,10,80,100", "512,10,180,100"), "line 38: read"),
        (("512,10,80,100,0,1,0,0", "512,10,x,100,0,1,0,0"), "'x'"),
        (("512,10,80,100,0,1,0,0", "512,10"), "8 fields"),
        (("CYCLE_OUTSTANDING_IOS", "SIDEWAYS"), "line 26"),
        (("1          2          30", "1 2"), "line 7"),
        (("Version 1.1.0\n", ""), "Version"),
    ],
)
def test_faults_are_told_with_their_line(change: tuple[str, str], part: str) -> None:
    with pytest.raises(PlanError, match=r"line|begin") as caught:
        parse_icf(NEW.replace(*change))
    assert part in str(caught.value)


def test_missing_and_huge_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="cannot be read"):
        read_icf(tmp_path / "none.icf")
    huge = tmp_path / "huge.icf"
    with huge.open("wb") as file:
        file.truncate(17 << 20)
    with pytest.raises(PlanError, match="16 MiB"):
        read_icf(huge)


@given(st.binary(max_size=400))
@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_random_bytes_are_read_or_refused(raw: bytes) -> None:
    with contextlib.suppress(PlanError):
        parse_icf(raw.decode("cp1252", errors="replace"))


def test_shuffled_and_changed_lines_are_read_or_refused() -> None:
    rng, refused = random.Random(1), 0
    for _ in range(400):
        lines = NEW.splitlines()
        for _ in range(rng.randrange(1, 8)):
            one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[one] = rng.choice([lines[other], "", "\t" + "9" * 30, lines[one][::-1], "'", ",,,,,,,"])
        try:
            parse_icf("\n".join(lines))
        except PlanError:
            refused += 1
    assert 0 < refused < 400


def test_what_network_workers_run_is_not_for_disks() -> None:
    text = write_icf(
        Icf(
            specs=tuple((spec_of(name, [[512, 100, 100, 0, 0, 1, 0, 0]]), "NONE") for name in ("disk", "net")),
            managers=(Manager(1, "x", "", (Worker("a", specs=("disk",)), Worker("b", "NETWORK,TCP", specs=("net",)))),),
        )
    )
    assert [spec.name for spec in parse_icf(text).used_specs()] == ["disk"]


def test_a_file_of_very_many_workers_is_read_in_time_that_grows_with_it() -> None:
    def seconds(workers: int) -> float:
        lines = "'Worker\n\tw\n'Assigned access specs\n\tx\n'Target\n\tt\n" * workers
        before = time.process_time()
        icf = parse_icf(f"Version 1.1.0\n'MANAGER LIST\n'Manager ID, manager name\n\t1,m\n{lines}")
        assert len(icf.managers[0].workers) == workers
        return time.process_time() - before

    # In turn, so that what else the machine does is done to both.
    pairs = [(seconds(8_000), seconds(1_000)) for _ in range(5)]
    assert min(many for many, _ in pairs) < 30 * min(few for _, few in pairs), pairs
