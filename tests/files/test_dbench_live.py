"""Debian's dbench loadfile through `bakeoff run file-mix --loadfile` and through dbench itself: the same counts.

CI replays the first lines of it, all operations among them. `BAKEOFF_DBENCH_LINES=0` replays the whole file.
"""

import contextlib
import json
import math
import os
import re
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.control import PATIENCE_S
from tests.files.mounts import memory_of
from tests.forks import COMMAND

LOADFILE = Path("/usr/share/dbench/client.txt")
LINES = int(os.environ.get("BAKEOFF_DBENCH_LINES", "20000"))
# dbench goes through in so many times as long as we do, though it may be held up for some seconds.
TIMES, HELD_UP_S = 10, 5
DBENCH_NAMES = {
    "NTCreateX": "NTCreateX", "Close": "Close", "Rename": "Rename", "Unlink": "Unlink", "Deltree": "Deltree",
    "Mkdir": "Mkdir", "Qpathinfo": "QUERY_PATH_INFORMATION", "Qfileinfo": "QUERY_FILE_INFORMATION",
    "Qfsinfo": "QUERY_FS_INFORMATION", "Sfileinfo": "SET_FILE_INFORMATION", "Find": "FIND_FIRST",
    "WriteX": "WriteX", "ReadX": "ReadX", "LockX": "LockX", "UnlockX": "UnlockX", "Flush": "Flush",
}  # fmt: skip

# dbench's warm-up ends once every client has moved bytes; what was counted until then is forgotten.
WARMING = b"""NTCreateX "/warm" 0x40 0x2 5 NT_STATUS_OK
WriteX 5 0 65536 65536 NT_STATUS_OK
Close 5 NT_STATUS_OK
"""


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory: what is counted does not depend on the disk, and dbench must be through in its time."""
    with memory_of(tmp_path) as place:
        yield place


@pytest.fixture
def loadfile(tmp_path: Path) -> Path:
    """The loadfile, or its first lines."""
    if not LINES:
        return LOADFILE
    short = tmp_path / "client.txt"
    with LOADFILE.open("rb") as lines:
        short.write_bytes(b"".join(line for line, _ in zip(lines, range(LINES), strict=False)))
    return short


def dbench_counts(folder: Path, loadfile: Path, seconds: int) -> dict[str, int]:
    """Counts of dbench for exactly one pass, which it cannot be asked for: it reads the loadfile from a pipe
    that is fed after its warm-up, and has its end once it cleans up."""
    pipe, work = folder / "pipe", folder / "work"
    os.mkfifo(pipe)
    work.mkdir()
    command = ["dbench", "-t", str(seconds), "-c", str(pipe), "-D", str(work), "--skip-cleanup", "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    guard = threading.Timer(PATIENCE_S, os.killpg, (process.pid, signal.SIGKILL))
    guard.start()
    try:
        return _fed_counts(process, pipe, loadfile.read_bytes())
    finally:
        guard.cancel()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _fed_counts(process: subprocess.Popen[str], pipe: Path, lines: bytes) -> dict[str, int]:
    # dbench opens it twice: to look whether it is there, and in its client.
    os.close(os.open(pipe, os.O_WRONLY))
    counts: dict[str, int] = {}
    assert process.stdout is not None
    with pipe.open("wb") as out:

        def feed() -> None:
            out.write(lines)
            out.flush()

        fed = threading.Thread(target=feed, daemon=True)
        state = "warmup"
        for line in process.stdout:
            if state == "warmup" and "warmup" in line:
                out.write(WARMING)
                out.flush()
            elif state == "warmup" and "execute" in line:
                state = "fed"
                fed.start()
            elif state == "fed" and "cleanup" in line:
                state = "over"
                assert not fed.is_alive(), "the pass took longer than dbench's time"
                out.write(WARMING)  # with the next line it sees that its time is over
                out.flush()
            elif found := re.match(r"^ (\w+) +(\d+) +[\d.]+ +[\d.]+$", line):
                counts[DBENCH_NAMES[found[1]]] = int(found[2])
    assert state == "over"
    return counts


def bakeoff_trial(folder: Path, loadfile: Path, run_file: Path) -> dict[str, Any]:
    """The one trial of a run that goes through the loadfile once."""
    words = ["run", "file-mix", f"a={folder}", "--loadfile", str(loadfile), "--once", "--clients", "1", "--blocks", "1"]
    times = ["--length", "15min", "--ramp-up", "0s", "--ramp-down", "0s", "--stagger", "0s", "-o", str(run_file)]
    done = subprocess.run([*COMMAND, *words, *times], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    shown = subprocess.run([*COMMAND, "show", str(run_file), "--json"], capture_output=True, text=True, check=True)
    (trial,) = json.loads(shown.stdout)["trials"]
    return dict(trial)


def test_debians_loadfile_is_replayed_with_dbenchs_own_counts(memory: Path, loadfile: Path, tmp_path: Path) -> None:
    ours_in, theirs_in = memory / "ours", memory / "theirs"
    ours_in.mkdir()
    theirs_in.mkdir()
    trial = bakeoff_trial(ours_in, loadfile, tmp_path / "r.bakeoff")
    assert (trial["state"], trial["errors"]) == ("ok", {})
    ours = {name: figures["operations"] for name, figures in trial["per_operation"].items()}
    ours = {name: operations for name, operations in ours.items() if operations}
    words = Counter(line.split(maxsplit=1)[0] for line in loadfile.read_text().splitlines())
    assert ours == words and set(ours) == set(DBENCH_NAMES.values())
    assert ours == dbench_counts(theirs_in, loadfile, HELD_UP_S + math.ceil(TIMES * trial["window_s"]))
    assert list(ours_in.iterdir()) == []
