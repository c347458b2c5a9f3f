"""A campaign's report is challenged by a server of known speed and a folder, from its page to that of the new one."""

import json
import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path

from tests.cli.conftest import COMMAND, Bakeoff, Serve, target
from tests.control import PATIENCE_S
from tests.ports import free_port

LAB = """
[campaign]
name = "lab"
title = "Two boxes"
blocks = 2

[[contender]]
name = "there"
web = "{there}/page-256-0.html"
files = "there"

[[contender]]
name = "gone"
web = "{gone}/page-256-0.html"
files = "gone"

[[suite]]
suite = "web-url"
clients = "1"
operations = 40
length = "5m"

[[suite]]
suite = "file-mix"
clients = "1"
operations = 10
length = "5m"
"""


def test_a_paper_is_challenged_stopped_resumed_and_verified(
    bakeoff: Bakeoff, serve: Serve, corpus: Path, tmp_path: Path
) -> None:
    """There and mine hold each of 40 replies back for 30 ms, gone for 120 ms: mine, which is as fast as there, is held
    against gone over there, which was measured on both days. A fourth part or none of a ratio of 4 would show, though
    the machine stood still for as long as a trial takes.
    """
    for name in ("there", "gone", "mine"):
        (tmp_path / name).mkdir()
    there, mine = serve("--delay", "30ms"), serve("--delay", "30ms")
    with ExitStack() as stack:
        words = ("web", "--root", str(corpus), "--port", str(free_port()), "--delay", "120ms")
        (tmp_path / "lab.toml").write_text(LAB.format(there=there, gone=stack.enter_context(target(*words))))
        first = bakeoff("run", "lab.toml", "-o", "lab.bakeoff")
        assert first.returncode == 0, first.stderr
    assert bakeoff("report", "lab.bakeoff", "-o", "paper.pdf", "--brief").returncode == 0
    given = ["paper.pdf", f"mine:web={mine}/page-256-0.html", "mine:files=mine", "-o", "new.bakeoff"]
    process = subprocess.Popen(
        [*COMMAND, "challenge", *given, "--trust"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("[1/"):
            process.send_signal(signal.SIGINT)
            break
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130 and "bakeoff resume new.bakeoff" in said
    done = bakeoff("resume", "new.bakeoff")
    assert done.returncode == 0, done.stderr
    assert "mine challenges paper." in done.stdout and "gone was not measured again in web-url" in done.stdout
    document = json.loads(bakeoff("compare", "new.bakeoff", "--json").stdout)
    assert document["title"] == "Two boxes: challenged by mine" and document["challenge"]["challenger"] == "mine"
    web, files = (suite["comparison"] for suite in document["suites"])
    assert [c["name"] for c in web["contenders"]] == ["there", "mine"]
    assert [c["name"] for c in files["contenders"]] == ["there", "gone", "mine"]
    assert 0.4 < web["pairs"][0]["primary"]["ratio"] < 2.5
    over = next(one for one in web["challenge"]["ratios"] if one["reference"] == "gone")
    assert over["over"] == ["there"] and 1.8 < over["ratio"] < 9.0
    assert not any(one["winner"] for one in document["overall"]), "two blocks, and gone is not in both suites"
    assert bakeoff("report", "new.bakeoff", "-o", "new.txt").returncode == 0
    checked = bakeoff("verify", "new.txt", "new.bakeoff")
    assert checked.returncode == 0, checked.stdout
    assert "The challenge, suite by suite" in (tmp_path / "new.txt").read_text()
