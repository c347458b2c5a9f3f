"""The script of the example paper: real servers of three boxes, one block, and a paper that `verify` holds."""

import subprocess
import sys
from pathlib import Path

from tests.control import PATIENCE_S

ROOT = Path(__file__).parents[2]


def test_the_example_paper_can_be_made(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "scripts.paper", "--to", str(tmp_path), "--blocks", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("says what boxes.bakeoff gives") == 2
    page = (tmp_path / "paper.html").read_text()
    for part in ("(web-static)", "(file-mix)", "(mail-pop)", "Features", "Disclosure", "Resources"):
        assert part in page, part
    assert (tmp_path / "paper.png").read_bytes().startswith(b"\x89PNG")
