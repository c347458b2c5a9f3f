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
name = "slow"
web = "{slow}/page-256-0.html"
files = "slow"

[[contender]]
name = "gone"
web = "{gone}/page-256-0.html"
files = "gone"

[[suite]]
suite = "web-url"
mixes = "1"
length = "1s"

[[suite]]
suite = "file-mix"
mixes = "1"
length = "300ms"
"""


def test_a_paper_is_challenged_stopped_resumed_and_verified(
    bakeoff: Bakeoff, serve: Serve, corpus: Path, tmp_path: Path
) -> None:
    """At one client a server that waits 120 ms answers 8 times a second at most, others twice and four times as often:
    mine is held against gone over slow, which is there on both days.
    """
    for name in ("slow", "gone", "mine"):
        (tmp_path / name).mkdir()
    slow, mine = serve("--delay", "120ms"), serve("--delay", "30ms")
    with ExitStack() as stack:
        words = ("web", "--root", str(corpus), "--port", str(free_port()), "--delay", "60ms")
        (tmp_path / "lab.toml").write_text(LAB.format(slow=slow, gone=stack.enter_context(target(*words))))
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
    told = json.loads(bakeoff("compare", "new.bakeoff", "--json").stdout)
    assert told["title"] == "Two boxes: challenged by mine" and told["challenge"]["challenger"] == "mine"
    web, files = (suite["comparison"] for suite in told["suites"])
    assert [c["name"] for c in web["contenders"]] == ["slow", "mine"]
    assert [c["name"] for c in files["contenders"]] == ["slow", "gone", "mine"]
    assert 2.0 < web["pairs"][0]["primary"]["ratio"] < 6.0
    over = next(one for one in web["challenge"]["ratios"] if one["then"] == "gone")
    assert over["over"] == ["slow"] and 1.3 < over["ratio"] < 3.0
    assert not any(one["winner"] for one in told["overall"]), "two blocks, and gone is not in both suites"
    assert bakeoff("report", "new.bakeoff", "-o", "new.txt").returncode == 0
    checked = bakeoff("verify", "new.txt", "new.bakeoff")
    assert checked.returncode == 0, checked.stdout
    assert "The challenge, suite by suite" in (tmp_path / "new.txt").read_text()
