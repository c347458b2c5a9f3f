"""Runs on shares that lie, fill up, vanish, hang or are not to be touched: each is told in one sentence."""

import contextlib
import os
import re
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bakeoff.compare.run import compare_run
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from bakeoff.store.sqlite.read import read_run
from tests import forks
from tests.control import PATIENCE_S
from tests.files import mounts
from tests.files.mounts import memory_of
from tests.files.shares import share, tmpfs
from tests.files.test_matrix import KIB, MIB, cells, measure
from tests.patient import COMMAND
from tests.told import headline_of

SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The last byte of every 100th read of a file below BAD_FOLDER comes back with one bit flipped. */
static ssize_t spoil(int file, void *to, ssize_t read) {
    static int count;
    char link[64], path[PATH_MAX];
    const char *bad = getenv("BAD_FOLDER");
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (bad == NULL || length <= 0 || read <= 0) return read;
    path[length] = 0;
    if (strncmp(path, bad, strlen(bad)) == 0 && ++count % 100 == 0) ((unsigned char *)to)[read - 1] ^= 1;
    return read;
}

ssize_t pread(int file, void *to, size_t length, off_t offset) {
    static ssize_t (*real)(int, void *, size_t, off_t);
    if (!real) real = dlsym(RTLD_NEXT, "pread");
    return spoil(file, to, real(file, to, length, offset));
}

ssize_t pread64(int file, void *to, size_t length, off_t offset) { return pread(file, to, length, offset); }

/* Every other write of a file below LOSING_FOLDER that is as long already is acknowledged and forgotten. */
static int loses(int file, size_t length, off_t offset) {
    static int count;
    char link[64], path[PATH_MAX];
    struct stat facts;
    const char *losing = getenv("LOSING_FOLDER");
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t named = readlink(link, path, sizeof path - 1);
    if (losing == NULL || named <= 0) return 0;
    path[named] = 0;
    if (strncmp(path, losing, strlen(losing)) != 0 || fstat(file, &facts) != 0) return 0;
    return facts.st_size >= (off_t)(offset + length) && ++count % 2 == 0;
}

ssize_t pwrite(int file, const void *from, size_t length, off_t offset) {
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (!real) real = dlsym(RTLD_NEXT, "pwrite");
    return loses(file, length, offset) ? (ssize_t)length : real(file, from, length, offset);
}

ssize_t write(int file, const void *from, size_t length) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "write");
    off_t offset = lseek(file, 0, SEEK_CUR);
    if (offset < 0 || !loses(file, length, offset)) return real(file, from, length);
    lseek(file, length, SEEK_CUR);
    return length;
}

ssize_t pwrite64(int file, const void *from, size_t length, off_t offset) {
    return pwrite(file, from, length, offset);
}

ssize_t read(int file, void *to, size_t length) {
    static ssize_t (*real)(int, void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "read");
    return spoil(file, to, real(file, to, length));
}
"""

MATRIX = ("--file-sizes", "1MiB", "--record-sizes", "4KiB", "--tests", "write,read,random_read", "--blocks", "1")


def start(*words: str, **more: Any) -> subprocess.Popen[str]:
    return subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def run(suite: str, tmp_path: Path, *words: str, **more: Any) -> tuple[int, str, RunRecord | None]:
    """Exit code, standard error and the run file of `bakeoff run`."""
    output = tmp_path / "r.bakeoff"
    done = start("run", suite, *words, "-o", str(output), **more)
    _, printed = done.communicate(timeout=PATIENCE_S)
    return done.returncode, printed, read_run(output) if output.exists() else None


def refused(tmp_path: Path, *words: str, suite: str = "file-matrix") -> str:
    """The one message of a run that does not begin."""
    code, output, record = run(suite, tmp_path, *words)
    assert (code, record) == (2, None), output
    assert output.count("\n") == 1 and output.startswith("bakeoff: ") and "Traceback" not in output
    return output


def trials(record: RunRecord | None, contender: str) -> list[TrialRecord]:
    assert record is not None
    return [trial for trial in record.trials if trial.contender == contender]


def wait_for(what: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
    until = time.monotonic() + patience_s
    while not what():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.fixture
def good(tmp_path: Path) -> Iterator[Path]:
    """A sound folder, which every run must leave empty. It is in memory: a disk could be busy for seconds with the work
    of others.
    """
    with memory_of(tmp_path) as place:
        yield place
        assert list(place.iterdir()) == []


def test_direct_io_is_not_flagged_and_a_cached_second_read_is(tmp_path: Path) -> None:
    """On a disk of its own: what else the machine reads meanwhile counts on other devices."""
    pairs, tests = [[8 * MIB, 64 * KIB]], ["write", "read", "reread", "random_read"]
    with mounts.disk(tmp_path, "ext4") as own:
        place = own / "place"
        place.mkdir()
        cached = cells(measure(place, pairs=pairs, tests=tests, carrier="disk"))
        direct = cells(measure(place, pairs=pairs, tests=tests, carrier="disk", direct=True))
    assert [cell["cached"] for cell in cached[1:]] == [True] * 3
    assert [cell["cached"] for cell in direct[1:]] == [False] * 3
    assert "0 % of" in cached[2]["cached_reason"]
    assert all(cell["carried_bytes"] >= cell["bytes"] for cell in direct[1:])


def test_faster_than_the_stated_link_is_flagged(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    code, output, record = run("file-matrix", tmp_path, f"a={place}", *MATRIX, "--link-speed", "10kbit/s")
    assert code == 0, output
    for cell in trials(record, "a")[0].workload["cells"]:
        assert cell["cached"] is True and "more than the link carries" in cell["cached_reason"]


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shim")
    (folder / "shim.c").write_text(SHIM)
    library = folder / "shim.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(folder / "shim.c"), "-ldl"]
    subprocess.run(command, check=True)
    return library


@pytest.mark.parametrize(
    ("suite", "words"),
    [
        ("file-matrix", MATRIX),
        ("file-blocks", ("--block-sizes", "4KiB", "--region", "4MiB", "--cell-time", "50ms", "--blocks", "1")),
        ("file-mix", ("--clients", "1", "--operations", "3000", "--length", "5m", "--blocks", "1")),
    ],
)
def test_silent_corruption_is_caught_in_every_suite(
    suite: str, words: tuple[str, ...], tmp_path: Path, good: Path, shim: Path
) -> None:
    bad = tmp_path / "bad"
    bad.mkdir()
    faulty = {**os.environ, "LD_PRELOAD": str(shim), "BAD_FOLDER": f"{bad}/.bakeoff-"}
    code, output, record = run(suite, tmp_path, f"good={good}", f"bad={bad}", *words, env=faulty)
    assert code == 4, output
    assert [trial.state for trial in trials(record, "good")] == ["ok"]
    (trial,) = trials(record, "bad")
    assert trial.state == "failed" and re.search("not what was written|other bytes than", trial.reason), trial.reason
    assert list(bad.iterdir()) == [], "a failed trial removes its files as well"
    (tmp_path / "r.bakeoff").unlink()
    code, output, record = run(suite, tmp_path, f"bad={bad}", *words, "--no-verify", env=faulty)
    assert (code, [trial.state for trial in trials(record, "bad")]) == (0, ["ok"]), output
    assert list(bad.iterdir()) == []


@pytest.mark.parametrize(
    ("suite", "words"),
    [
        ("file-matrix", ("--tests", "write,rewrite,read", *MATRIX[:4], "--blocks", "1")),
        (
            "file-blocks",
            (
                # Of a place that is written twice while one transfer lasts, nobody can tell which came last: there are
                # so many places that this is rare, also where the machine holds a transfer up.
                *("--block-sizes", "4KiB", "--patterns", "random_write", "--region", "256MiB", "--cell-time", "1s"),
                *("--outstanding", "1", "--blocks", "1"),
            ),
        ),
        ("file-mix", ("--clients", "1", "--operations", "10000", "--length", "5m", "--blocks", "1")),
    ],
)
def test_writes_that_are_acknowledged_and_lost_disqualify(
    suite: str, words: tuple[str, ...], tmp_path: Path, good: Path, shim: Path
) -> None:
    bad = tmp_path / "bad"
    bad.mkdir()
    losing = {**os.environ, "LD_PRELOAD": str(shim), "LOSING_FOLDER": f"{bad}/.bakeoff-"}
    code, output, record = run(suite, tmp_path, f"good={good}", f"bad={bad}", *words, env=losing)
    assert code == 4 and record is not None, output
    assert [trial.state for trial in trials(record, "good")] == ["ok"], trials(record, "good")[0].reason
    (trial,) = trials(record, "bad")
    assert trial.state == "failed" and re.search("not what was written|other bytes|is not there", trial.reason)
    assert headline_of(compare_run(record))[0].startswith("bad is disqualified")


def test_free_space_is_checked_before_anything_is_written(tmp_path: Path, good: Path) -> None:
    with tmpfs(tmp_path / "small", "size=2m") as small:
        message = refused(tmp_path, f"small={small}", f"good={good}", "--file-sizes", "8MiB", "--blocks", "1")
        assert "MB free" in message and "small:" in message
        assert list(small.iterdir()) == []


def test_regions_that_stay_must_fit_together(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "small", "size=24m") as small:
        places = [small / name for name in "ab"]
        for place in places:
            place.mkdir()
        words = ("--region", "16MiB", "--block-sizes", "4KiB", "--blocks", "1")
        message = refused(tmp_path, *(f"{place.name}={place}" for place in places), *words, suite="file-blocks")
        assert "together they need" in message
        assert [list(place.iterdir()) for place in places] == [[], []]


def test_regions_that_are_there_need_no_room_again(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "small", "size=52m") as small:
        places = [small / name for name in "ab"]
        for place in places:
            place.mkdir()
        words = ("--region", "16MiB", "--block-sizes", "4KiB", "--patterns", "random_read", "--blocks", "1", "--keep")
        words += (
            "--clients",
            "1",
            "--cell-time",
            "50ms",
            "--ramp-up",
            "0s",
            *(f"{place.name}={place}" for place in places),
        )
        for _ in range(2):
            code, output, _ = run("file-blocks", tmp_path, *words)
            assert code == 0, output
            (tmp_path / "r.bakeoff").unlink()
        assert all(len(list(place.iterdir())) == 1 for place in places)


def test_a_share_that_fills_up_fails_the_trial_and_the_run_goes_on(tmp_path: Path, good: Path) -> None:
    with tmpfs(tmp_path / "small", "size=24m") as small:
        words = ("--file-sizes", "16MiB", "--record-sizes", "64KiB", "--blocks", "1", "--tests", "write,read")
        # Between the checks and the trial somebody else takes what was free: at the second call of the reset command.
        log, fill = tmp_path / "resets", f"head -c {20 * MIB} /dev/zero > {small}/other"
        words += ("--reset", f"small=echo x >> {log}; test $(wc -l < {log}) -lt 2 || {fill}")
        code, output, record = run("file-matrix", tmp_path, f"small={small}", f"good={good}", *words)
        (trial,) = trials(record, "small")
        assert code == 4, output
        assert trial.state == "failed" and ("full" in trial.reason or "MB free" in trial.reason), trial.reason
        assert [trial.state for trial in trials(record, "good")] == ["ok"]
        assert [path.name for path in small.iterdir()] == ["other"]


def test_a_full_file_system_in_the_middle_of_a_test_is_told(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "small", "size=4m,nr_inodes=50") as small:
        (small / "other").write_bytes(bytes(3 * MIB))
        result = measure(small, pairs=[[512 * KIB, 64 * KIB]], tests=["write"])
        assert result.fatal is None
        (small / "holes").mkdir()
        (small / "holes" / "inodes").touch()
        for index in range(60):
            try:
                (small / "holes" / str(index)).touch()
            except OSError:
                break
        measured = measure(small, pairs=[[512 * KIB, 64 * KIB]], tests=["write"]).fatal
        assert measured is not None and "full" in measured


def test_a_read_only_mount_is_refused(tmp_path: Path, good: Path) -> None:
    with tmpfs(tmp_path / "fixed", "ro") as fixed:
        message = refused(tmp_path, f"fixed={fixed}", f"good={good}", *MATRIX)
        assert "cannot be written to" in message and "mount it for writing" in message


def test_missing_folders_roots_and_homes_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert "does not exist" in refused(tmp_path, f"a={tmp_path}/none", *MATRIX)
    assert "is not a folder" in refused(tmp_path, f"a={file}", *MATRIX)
    assert "root of this machine" in refused(tmp_path, "a=/", *MATRIX)
    assert "home folder" in refused(tmp_path, f"a={Path.home()}", *MATRIX)


def test_a_mount_that_goes_away_under_eight_clients_fails_them_and_the_run_goes_on(tmp_path: Path, good: Path) -> None:
    with tmpfs(tmp_path / "gone", "size=400m") as gone:
        words = ("--clients", "1,8", "--length", "4s", "--blocks", "2", "--workspace", "2MB")
        process = start("run", "file-mix", f"gone={gone}", f"good={good}", *words, "-o", f"{tmp_path}/r.bakeoff")
        # The eighth client's folder is there while the second load step of this contender runs.
        wait_for(lambda: any(gone.glob(".bakeoff-mix-*/*7*")))
        time.sleep(0.5)
        subprocess.run(["umount", "-l", str(gone)], check=True)
        _, output = process.communicate(timeout=PATIENCE_S)
        record = read_run(tmp_path / "r.bakeoff")
        assert process.returncode == 4, output
        states = {(trial.block, trial.load_step.clients): trial for trial in trials(record, "gone")}
        failed = [trial for trial in states.values() if trial.state == "failed"]
        assert failed[0].load_step.clients == 8 and all(
            re.search("vanished|not mounted", trial.reason) for trial in failed
        )
        assert [trial.state for trial in trials(record, "good")] == ["ok"] * 4
        assert record.finished_at is not None
        assert list(gone.iterdir()) == [], "nothing was written below the mount point"


def test_a_server_that_dies_fails_the_trial_at_once(tmp_path: Path, good: Path) -> None:
    with share(tmp_path) as mounted:
        words = ("--clients", "2", "--length", "3600s", "--blocks", "1", "--workspace", "1MB")
        process = start("run", "file-mix", f"dead={mounted.point}", *words, "-o", f"{tmp_path}/r.bakeoff")
        wait_for(lambda: any((tmp_path / "behind").glob(".bakeoff-mix-*/*")))
        mounted.die()
        _, output = process.communicate(timeout=PATIENCE_S)
        (trial,) = read_run(tmp_path / "r.bakeoff").trials
        assert process.returncode == 4, output
        assert trial.state == "failed" and ("vanished" in trial.reason or "input/output" in trial.reason), trial.reason


def test_a_share_that_hangs_before_the_run_is_refused_in_time(tmp_path: Path, good: Path) -> None:
    with share(tmp_path) as mounted:
        mounted.stop()
        message = refused(tmp_path, f"hung={mounted.point}", f"good={good}", *MATRIX)
        assert "does not answer" in message


def read_until(process: subprocess.Popen[str], words: str) -> None:
    """Standard error up to a line with `words`. The kernel lets nobody end a process that waits for a hung share: why
    it does not end must show before.
    """
    assert process.stderr is not None
    texts = ""
    while words not in texts:
        line = process.stderr.readline()
        assert line, texts
        texts += line


def test_a_resumed_run_on_a_hung_share_says_why_it_does_not_end(tmp_path: Path) -> None:
    with share(tmp_path) as mounted:
        output = str(tmp_path / "r.bakeoff")
        words = ("--clients", "2", "--length", "5s", "--blocks", "2", "--reply-timeout", "5s", "--workspace", "1MB")
        process = start("run", "file-mix", f"hung={mounted.point}", *words, "-o", output)
        read_until(process, "[1/2]")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130
        process = start("resume", output)
        wait_for(lambda: any((tmp_path / "behind").glob(".bakeoff-mix-*/*")))
        mounted.stop()
        read_until(process, "does not answer: wait for it")
        mounted.go_on()
        process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 4
        assert [trial.state for trial in read_run(Path(output)).trials if trial.state != "interrupted"] == [
            "ok",
            "failed",
        ]


def test_iozone_interrupted_on_a_hung_share_says_why_it_does_not_end(tmp_path: Path) -> None:
    with share(tmp_path) as mounted:
        words = ("-s", "256m", "-r", "4k", "-i", "0", "-f", f"{mounted.point}/file")
        process = start("iozone", *words)
        wait_for(lambda: any((tmp_path / "behind").glob(".bakeoff-*/*")))
        mounted.stop()
        process.send_signal(signal.SIGINT)
        read_until(process, "does not answer: wait for it")
        mounted.go_on()
        process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130


def test_a_share_that_hangs_in_a_trial_fails_it_and_the_run_goes_on(tmp_path: Path, good: Path) -> None:
    with share(tmp_path) as mounted:
        words = ("--clients", "2", "--length", "5s", "--blocks", "1", "--reply-timeout", "5s", "--workspace", "1MB")
        contenders = (f"hung={mounted.point}", f"good={good}")
        process = start("run", "file-mix", *contenders, *words, "--seed", "3", "-o", f"{tmp_path}/r.bakeoff")
        wait_for(lambda: any((tmp_path / "behind").glob(".bakeoff-mix-*/*")))
        mounted.stop()
        read_until(process, "does not answer: wait for it")
        mounted.go_on()
        process.communicate(timeout=PATIENCE_S)
        record = read_run(tmp_path / "r.bakeoff")
        (trial,) = trials(record, "hung")
        assert process.returncode == 4 and record.finished_at is not None
        assert trial.state == "failed" and "answer for 5 s" in trial.reason
        assert [trial.state for trial in trials(record, "good")] == ["ok"]


def limit_file_size() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 * MIB, 4 * MIB))


def test_the_file_size_limit_is_told(tmp_path: Path, good: Path) -> None:
    words = (f"a={good}", "--file-sizes", "8MiB", "--record-sizes", "64KiB", "--tests", "write", "--blocks", "1")
    code, output, record = run("file-matrix", tmp_path, *words, preexec_fn=limit_file_size)
    (trial,) = trials(record, "a")
    assert (code, trial.state) == (4, "failed"), output
    assert "file-size limit" in trial.reason and "ulimit -f" in trial.reason


@pytest.mark.parametrize("suite", ["file-matrix", "file-blocks", "file-mix"])
def test_ctrl_c_removes_what_was_made_and_keeps_what_was_measured(suite: str, tmp_path: Path, good: Path) -> None:
    words = {
        "file-matrix": ("--file-sizes", "64MiB", "--record-sizes", "4KiB"),
        "file-blocks": ("--block-sizes", "4KiB", "--region", "16MiB", "--cell-time", "300ms"),
        "file-mix": ("--clients", "4", "--length", "2s"),
    }[suite]
    output = tmp_path / "r.bakeoff"
    process = start("run", suite, f"a={good}", *words, "--blocks", "50", "-o", str(output))
    assert process.stderr is not None
    texts = ""
    while "[1/50]" not in texts:
        texts += process.stderr.readline()
    wait_for(lambda: list(good.iterdir()) != [])
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, rest
    kept = [trial for trial in read_run(output).trials if trial.state == "ok"]
    assert 1 <= len(kept) < 50 and ("trials are kept" in rest or "trial is kept" in rest)


def test_keep_leaves_the_files_and_the_next_run_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    code, output, _ = run("file-matrix", tmp_path, f"a={folder}", *MATRIX, "--keep")
    (left,) = folder.iterdir()
    assert code == 0 and left.name.startswith(".bakeoff-") and [path.stat().st_size for path in left.iterdir()] == [MIB]
    (tmp_path / "r.bakeoff").unlink()
    code, output, _ = run("file-matrix", tmp_path, f"a={folder}", *MATRIX)
    assert code == 0 and f"left behind by an earlier run, remove it: {left.name}" in output
    assert [path.name for path in folder.iterdir()] == [left.name], "what a run has not made it does not remove"


def test_a_link_in_place_of_the_work_folder_is_not_followed(tmp_path: Path) -> None:
    folder, victim = tmp_path / "work", tmp_path / "victim"
    folder.mkdir()
    victim.mkdir()
    (victim / "precious").write_text("keep me")
    words = ("--clients", "1", "--length", "5m", "--operations", "50", "--blocks", "1", "--workspace", "1MB")
    run("file-mix", tmp_path, f"a={folder}", *words, "--keep")
    (left,) = folder.iterdir()
    subprocess.run(["rm", "-rf", str(left)], check=True)
    left.symlink_to(victim)
    (tmp_path / "r.bakeoff").unlink()
    for keep in (["--keep"], []):
        code, _, record = run("file-mix", tmp_path, f"a={folder}", *words, *keep)
        (trial,) = trials(record, "a")
        # Names of work folders are never used again: the link is neither followed nor in the way.
        assert (code, trial.state) == (0, "ok") and left.is_symlink()
        assert [path.name for path in victim.iterdir()] == ["precious"]
        assert (victim / "precious").read_text() == "keep me"
        (tmp_path / "r.bakeoff").unlink()


def _mix(place: Path, tmp_path: Path, *words: str) -> subprocess.Popen[str]:
    """The office mix of one and of six clients, twice: by the number of files there is room for one, and free bytes say
    nothing of that beforehand.
    """
    fixed = ("--clients", "1,6", "--blocks", "2", "--length", "5m", "--operations", "20000", "--workspace", "1MB")
    return start("run", "file-mix", f"a={place}", *fixed, *words, "-o", f"{tmp_path}/r.bakeoff")


def test_what_filled_a_share_leaves_with_its_trial(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "small", "size=200m,nr_inodes=300") as small:
        process = _mix(small, tmp_path)
        _, output = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 4, output
        record = read_run(tmp_path / "r.bakeoff")
        states = {(trial.block, trial.load_step.clients): trial.state for trial in record.trials}
        assert states == {(b, n): "failed" if n == 6 else "ok" for b in (1, 2) for n in (1, 6)}
        assert all("full" in trial.reason for trial in record.trials if trial.state == "failed")
        assert list(small.iterdir()) == []


def test_what_could_not_be_removed_is_named_and_not_charged(tmp_path: Path) -> None:
    """A file of the first trial that filled the share cannot be removed: the next that finds no room is void."""
    with tmpfs(tmp_path / "small", "size=200m,nr_inodes=300") as small:
        process, held = _mix(small, tmp_path), list[Path]()

        def hold() -> bool:
            held.extend(list(small.glob(".bakeoff-mix-*/c00000/*/FILE0000.DAT"))[:1])
            return bool(held)

        wait_for(hold)
        subprocess.run(["mount", "--bind", str(held[0]), str(held[0])], check=True)
        try:
            _, output = process.communicate(timeout=PATIENCE_S)
            record = read_run(tmp_path / "r.bakeoff")
            at_six = [trial for trial in record.trials if trial.load_step.clients == 6]
            assert [trial.state for trial in at_six] == ["failed", "voided"], output
            assert "of an earlier trial could not be removed" in at_six[1].reason
            assert any("could not be removed" in event.text for event in record.events)
        finally:
            subprocess.run(["umount", str(held[0])], check=True)


def test_a_run_that_went_on_elsewhere_names_what_differed_first(tmp_path: Path) -> None:
    """The folder is on another file system when the run goes on: facts are those of each trial."""
    place = tmp_path / "place"
    place.mkdir()
    folder = place / "folder"
    words = ("--blocks", "3", "--clients", "1", "--operations", "300", "--length", "5m", "--workspace", "1MB")
    output = str(tmp_path / "r.bakeoff")
    with mounts.disk(tmp_path, "ext4") as own, contextlib.ExitStack() as stack:
        subprocess.run(["mount", "--bind", str(own), str(place)], check=True)
        stack.callback(mounts.unmount, place)
        folder.mkdir()
        process = start("run", "file-mix", f"a={folder}", *words, "-o", output)
        read_until(process, "[1/3]")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
    done = sum(trial.state == "ok" for trial in read_run(Path(output)).trials)
    with tmpfs(place, "size=64m"):
        folder.mkdir()
        process = start("resume", output)
        _, printed = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, printed
    record = read_run(Path(output))
    kinds = [(trial.found or {}).get("file_system", "ext4") for trial in record.trials]
    assert kinds == ["ext4"] * done + ["tmpfs"] * (3 - done)
    first = headline_of(compare_run(record))[0]
    assert first.startswith("a was not the same in all of its trials") and f"tmpfs in {3 - done} trial" in first
    shown = subprocess.run([*forks.COMMAND, "show", output], capture_output=True, text=True, check=True).stdout
    assert "not the same in all of its trials" in shown
    subprocess.run([*forks.COMMAND, "report", output, "-o", f"{tmp_path}/r.md"], check=True, capture_output=True)
    page = (tmp_path / "r.md").read_text()
    assert page.index("not the same in all of its trials") < page.index("## ")
    assert f"a, {done} trial" in page and f"a, {3 - done} trial" in page
