"""`bakeoff iozone`: the rows, columns and blocks that scripts for IOzone expect."""

import subprocess
import sys
from pathlib import Path

import pytest

from bakeoff.compat.iozone.options import parse
from tests.control import PATIENCE_S


@pytest.mark.parametrize(("words", "rows"), [(["-a"], 126), (["-a", "-z"], 146)])
def test_automatic_mode_has_as_many_rows_as_iozone(words: list[str], rows: int) -> None:
    options = parse(words)
    kept = [pair for pair in options.pairs() if not options.cut_off(*pair)]
    assert len(kept) == rows


def test_a_small_matrix_is_printed_as_iozone_prints_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bakeoff", "iozone", "-a", "-n", "64k", "-g", "128k", "-i", "0", "-i", "1", "-R"]
    done = subprocess.run(
        [*command, "-f", str(tmp_path / "t.tmp")], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    rows = [line.split() for line in lines if line.split() and line.split()[0].isdigit()]
    assert [(int(row[0]), int(row[1])) for row in rows] == [
        (file, record) for file in (64, 128) for record in (4, 8, 16, 32, 64, 128) if record <= file
    ]
    assert all(len(row) == 6 and all(int(rate) > 0 for rate in row[2:]) for row in rows)
    assert '"Writer report"' in done.stdout
    assert "iozone test complete." in done.stdout
    assert list(tmp_path.iterdir()) == []
