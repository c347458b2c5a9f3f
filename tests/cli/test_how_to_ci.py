"""The workflow of the how-to on build servers: it is YAML, and its steps do what they say of two branches."""

import os
import re
import shlex
import signal
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests.control import PATIENCE_S
from tests.forks import COMMAND
from tests.ports import free_port

PAGE = Path(__file__).parents[2] / "docs/how-to/ci.md"
# As GitHub's runners start a step.
SHELL = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
# So far apart that no machine is too busy to see it: the slow one takes two seconds for each trial.
QUICK, SLOW = "1ms", "100ms"
LOAD = "--clients 2 --operations 40 --length 5m --blocks"


def workflow() -> dict[Any, Any]:
    """The workflow of the page."""
    found = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(found) == 1
    read: dict[Any, Any] = yaml.safe_load(found[0])
    return read


def program(path: Path, text: str) -> None:
    """A shell script that can be called."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def checked_out(folder: Path, side: str, delay: str) -> None:
    """A checkout whose build makes a server that holds replies back for so long."""
    serve = f'exec {shlex.join(COMMAND)} serve web --delay {delay} "$@"'
    program(folder / side / "make-server", f"printf '#!/bin/sh\\n%s\\n' '{serve}' > server; chmod +x server")


def follow(folder: Path, environment: dict[str, str]) -> tuple[dict[str, int], dict[str, str]]:
    """Exit codes and outputs of the steps that are shell commands, by name; after a fault only those for any case."""
    codes: dict[str, int] = {}
    table: dict[str, str] = {}
    for step in workflow()["jobs"]["speed"]["steps"]:
        name = step.get("name", "")
        fault = any(codes.values())
        if "run" not in step or name == "Install Bakeoff" or (fault and "if" not in step):
            continue
        done = subprocess.run(
            [*SHELL, step["run"]], cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_S
        )
        codes[name], table[name] = done.returncode, done.stdout + done.stderr
    return codes, table


@pytest.mark.parametrize(
    ("main", "branch", "blocks", "more", "code", "outcome"),
    [
        (SLOW, QUICK, "5", "+1", 0, "::notice title=Check passed::"),
        (QUICK, SLOW, "6", "none", 1, "::error title=Worse than allowed::"),
    ],
)
def test_steps(main: str, branch: str, blocks: str, more: str, code: int, outcome: str, tmp_path: Path) -> None:
    """The first one is too short to tell, and goes on."""
    for side, delay in (("main", main), ("branch", branch)):
        checked_out(tmp_path, side, delay)
    program(tmp_path / "bin/bakeoff", f'exec {shlex.join(COMMAND)} "$@"')
    program(tmp_path / "bin/gh", f'echo "$@" >> {tmp_path}/gh.txt')
    own = {name: str(value) for name, value in workflow()["env"].items()}
    changed = {"BUILD": "./make-server", "LOAD": f"{LOAD} {blocks}", "MORE": more}
    changed |= {"MAIN_PORT": str(free_port()), "BRANCH_PORT": str(free_port())}
    assert set(changed) < set(own)
    environment = {
        **os.environ,
        **own,
        **changed,
        "PATH": f"{tmp_path}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "CHANGE": "the-change",
    }
    try:
        codes, observed = follow(tmp_path, environment)
    finally:
        for pid in tmp_path.glob("*.pid"):
            with suppress(ProcessLookupError):
                os.kill(int(pid.read_text()), signal.SIGTERM)
    assert codes == {
        "Build both": 0, "Start both": 0, "Measure": 0, "Check": code, "Report": 0, "Comment": 0, "Stop both": 0,
    }, observed  # fmt: skip
    assert ("at least 6 blocks are needed" in observed["Check"]) == (blocks == "5")
    assert f"\n{outcome}Requests/s: branch is at " in observed["Check"]
    case = ElementTree.parse(tmp_path / "speed.xml").getroot().find(".//testcase")
    assert case is not None
    assert (case.find("failure") is not None) == bool(code)
    assert "# main against branch" in (tmp_path / "summary.md").read_text()
    assert (tmp_path / "gh.txt").read_text() == "pr comment the-change --edit-last --body-file speed.md\n"
    assert (tmp_path / "speed.html").stat().st_size > 100_000


def test_what_others_may_write_is_in_no_command() -> None:
    """Expressions in commands are how names of branches become commands; and only the comment needs to write."""
    read = workflow()
    steps = read["jobs"]["speed"]["steps"]
    assert not [step["run"] for step in steps if "${{" in step.get("run", "")]
    assert read[True] == "pull_request"  # `on`, as YAML 1.1 has it
    assert read["permissions"] == {"contents": "read", "pull-requests": "write"}


def codes_of(section: str) -> set[int]:
    return {int(code) for code in re.findall(r"^\| (\d+) \|", section, re.MULTILINE)}


def test_the_tables_of_exit_codes_are_those_of_the_commands() -> None:
    from bakeoff.cli.measure.result import EXIT_MISSED, EXIT_UNDECIDED
    from bakeoff.compare.limits.check_model import EXIT_CODES

    of_check, of_objective = PAGE.read_text().split("## One server and a limit")
    assert codes_of(of_check) == {*EXIT_CODES.values(), 2}
    assert codes_of(of_objective.split("\n## ")[0]) == {0, EXIT_MISSED, EXIT_UNDECIDED, 2}
