"""A soak writes rows for days: who writes them needs no more memory for it."""

import os
import subprocess
import sys
from pathlib import Path

from tests.control import PATIENCE_S
from tests.unit.store.builders import header, planned, soak_interval

ROWS, BLOB_BYTES, MOST_BYTES = 300, 5_000, 500_000


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def grown_bytes(path: Path) -> int:
    """By how much the memory of this process grows from a tenth of the rows to the last."""
    from bakeoff.store.sqlite.write import RunWriter

    before = 0
    with RunWriter.create(path, header(), planned()) as writer:
        for number in range(ROWS):
            writer.add_soak_interval(soak_interval(number=number), os.urandom(BLOB_BYTES), os.urandom(BLOB_BYTES))
            before = resident_bytes() if number == ROWS // 10 else before
        return resident_bytes() - before


def test_rows_of_a_soak_leave_no_memory_behind(tmp_path: Path) -> None:
    """Seen: 1.2 MB an hour at a row a minute, until SQLite's cache was full."""
    program = (
        "import sys, pathlib; from tests.unit.store.test_memory import *; print(grown_bytes(pathlib.Path(sys.argv[1])))"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "x.bakeoff")]
    root = Path(__file__).parents[3]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert int(done.stdout) < MOST_BYTES
