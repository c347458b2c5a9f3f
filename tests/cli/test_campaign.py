"""A campaign from its file to its paper, on built-in servers and folders."""

import json
import re
import signal
import subprocess
from pathlib import Path

from tests.cli.conftest import COMMAND, Bakeoff, Serve
from tests.control import PATIENCE_S

SUITES = """
[[suite]]
suite = "web-url"
clients = "1,2"
operations = 100
length = "5m"

[[suite]]
suite = "file-mix"
weight = 2
clients = "1"
operations = 10
length = "5m"
"""


def campaign(tmp_path: Path, fast: str, slow: str, blocks: int = 2) -> Path:
    contenders = ""
    for name, address in (("fast", fast), ("slow", slow)):
        (tmp_path / name).mkdir()
        contenders += f'[[contender]]\nname = "{name}"\nweb = "{address}/page-256-0.html"\nfiles = "{name}"\n'
    path = tmp_path / "lab.toml"
    path.write_text(f'[campaign]\nname = "lab"\ntitle = "Two boxes"\nblocks = {blocks}\n{contenders}{SUITES}')
    return path


def test_all_suites_become_one_result_and_one_paper(bakeoff: Bakeoff, serve: Serve, tmp_path: Path) -> None:
    campaign(tmp_path, serve(), serve("--delay", "5ms"))
    planned = bakeoff("plan", "lab.toml")
    assert planned.returncode == 0 and "2 suites" in planned.stdout and "weight 2" in planned.stdout
    for flag in ("--toml", "--trials"):
        refused = bakeoff("plan", "lab.toml", flag)
        assert refused.returncode == 2 and f"{flag} is about one suite" in refused.stderr
    done = bakeoff("run", "lab.toml", "-o", "lab.bakeoff")
    assert done.returncode == 0, done.stderr
    turns = [line for line in done.stderr.splitlines() if ", block " in line and not line.startswith("[")]
    assert sorted(turns) == [f"{suite}, block {n} of 2" for suite in ("file-mix", "web-url") for n in (1, 2)]
    assert "resumed" not in done.stderr, "the next block of a suite goes on with nothing that stopped"
    checked = bakeoff("check", "lab.bakeoff")
    assert checked.returncode == 2 and "is a folder" in checked.stderr
    assert re.search(r"web-url, requests/s: slow ÷ fast \S+", done.stdout) and "file-mix, " in done.stdout
    assert "bakeoff report lab.bakeoff" in done.stdout
    files = sorted(path.name for path in (tmp_path / "lab.bakeoff").glob("*.bakeoff"))
    assert files == ["01-web-url.bakeoff", "02-file-mix.bakeoff"], "each is a run file of its own"
    assert bakeoff("show", f"lab.bakeoff/{files[0]}").returncode == 0
    document = json.loads(bakeoff("compare", "lab.bakeoff", "--json").stdout)
    assert [suite["name"] for suite in document["suites"]] == ["web-url", "file-mix"]
    assert all(suite["comparison"]["run"]["blocks_measured"] == 2 for suite in document["suites"])
    made = bakeoff("report", "lab.bakeoff", "-o", "paper.html")
    assert made.returncode == 0, made.stderr
    page = (tmp_path / "paper.html").read_text()
    assert "Two boxes" in page and "(web-url)" in page and "(file-mix)" in page
    again = bakeoff("run", "lab.toml", "-o", "lab.bakeoff")
    assert again.returncode == 2 and "exists already" in again.stderr
    left = bakeoff("resume", "lab.bakeoff")
    assert left.returncode == 0 and "[1/" not in left.stderr, "nothing was left to do"


def test_a_suite_that_cannot_start_does_not_stop_the_others(bakeoff: Bakeoff, serve: Serve, tmp_path: Path) -> None:
    campaign(tmp_path, serve(), serve())
    for name in ("fast", "slow"):
        (tmp_path / name).rmdir()
    done = bakeoff("run", "lab.toml", "-o", "lab.bakeoff")
    assert done.returncode == 4, done.stderr
    assert "file-mix is put aside" in done.stderr and "Traceback" not in done.stderr
    document = json.loads(bakeoff("compare", "lab.bakeoff", "--json").stdout)
    web, files = document["suites"]
    assert web["comparison"]["run"]["blocks_measured"] == 2 and files["comparison"] is None and files["missing"]
    page = bakeoff("report", "lab.bakeoff", "-o", "paper.txt")
    assert page.returncode == 0 and "file-mix has no figures" in (tmp_path / "paper.txt").read_text()


def test_who_is_not_there_is_missing_from_its_suite_alone(bakeoff: Bakeoff, serve: Serve, tmp_path: Path) -> None:
    campaign(tmp_path, serve(), serve())
    (tmp_path / "slow").rmdir()
    done = bakeoff("run", "lab.toml", "-o", "lab.bakeoff")
    assert done.returncode == 4, done.stderr
    assert "slow is missing from this run" in done.stderr and "put aside" not in done.stderr
    first = "slow could not be measured in file-mix, which runs without it: "
    assert done.stdout.startswith(first)
    document = json.loads(bakeoff("compare", "lab.bakeoff", "--json").stdout)
    web, files = document["suites"]
    assert web["absent"] == {} and list(files["absent"]) == files["dead"] == ["slow"]
    assert files["comparison"]["run"]["blocks_measured"] == 2 and files["comparison"]["pairs"] == []
    assert {place["contender"]: place["no_place"] for place in document["places"]}["slow"]["suites"] == ["file-mix"]
    for name in ("paper.html", "paper.pdf", "paper.md", "paper.txt"):
        made = bakeoff("report", "lab.bakeoff", "-o", name)
        assert made.returncode == 0 and made.stdout.startswith(first), made.stderr
        assert bakeoff("verify", name, "lab.bakeoff").returncode == 0
    assert first in (tmp_path / "paper.txt").read_text()


def test_an_interrupted_campaign_goes_on_where_it_was(bakeoff: Bakeoff, serve: Serve, tmp_path: Path) -> None:
    """Replies are held back for so long that what is left takes many seconds on any machine."""
    campaign(tmp_path, serve("--delay", "20ms"), serve("--delay", "20ms"))
    words = [*COMMAND, "run", "lab.toml", "-o", "lab.bakeoff"]
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("[1/"):
            process.send_signal(signal.SIGINT)
            break
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130 and "bakeoff resume lab.bakeoff" in said
    done = bakeoff("resume", "lab.bakeoff")
    assert done.returncode == 0, done.stderr
    document = json.loads(bakeoff("compare", "lab.bakeoff", "--json").stdout)
    for suite in document["suites"]:
        assert suite["comparison"]["run"]["blocks_measured"] == 2
        assert suite["comparison"]["run"]["trials"].get("ok") == (8 if suite["name"] == "web-url" else 4)


def test_a_folder_from_elsewhere_is_not_acted_on(bakeoff: Bakeoff, serve: Serve, tmp_path: Path) -> None:
    campaign(tmp_path, serve(), serve(), blocks=1)
    assert bakeoff("run", "lab.toml", "-o", "lab.bakeoff").returncode == 0
    subprocess.run(["cp", "-r", "lab.bakeoff", "copy.bakeoff"], cwd=tmp_path, check=True)
    refused = bakeoff("resume", "copy.bakeoff")
    assert refused.returncode == 2 and "--trust" in refused.stderr and "write, read and remove files" in refused.stderr
    (tmp_path / "copy.bakeoff" / "01-web-url.bakeoff").unlink()
    (tmp_path / "copy.bakeoff" / "02-file-mix.bakeoff").rename(tmp_path / "copy.bakeoff" / "01-web-url.bakeoff")
    mixed = bakeoff("compare", "copy.bakeoff")
    assert mixed.returncode == 2 and "is not the run" in mixed.stderr


def test_flags_beside_a_campaign_are_refused(bakeoff: Bakeoff, serve: Serve, tmp_path: Path) -> None:
    campaign(tmp_path, "http://127.0.0.1:1", "http://127.0.0.1:2")
    done = bakeoff("run", "lab.toml", "--length", "2s")
    assert done.returncode == 2 and "--length" in done.stderr and "Traceback" not in done.stderr
    other = bakeoff("soak", "lab.toml", "--for", "1h")
    assert other.returncode == 2 and "campaign" in other.stderr
