"""What the command loads before it does anything: whoever reads help or completes a word waits for it."""

import inspect
import json
import subprocess
import sys
from typing import Any

import pytest

from bakeoff.cli.verbs import VERBS, load
from tests.control import PATIENCE_S

# What takes a moment, and what only a run or a report needs.
HEAVY = {
    "numpy",
    "scipy",
    "altair",
    "pandas",
    "narwhals",
    "vl_convert",
    "jinja2",
    "bakeoff._engine",
    "bakeoff.compare",
    "ray",
}
# Beside Typer and Rich, which draw the page: the package, the command, its streams, its verbs.
OWN = {
    "bakeoff",
    "bakeoff.__main__",
    "bakeoff.cli",
    "bakeoff.cli.app",
    "bakeoff.cli.streams",
    "bakeoff.cli.verbs",
    "bakeoff.core",
    "bakeoff.core.errors",
    "bakeoff.core.system",
    "bakeoff.core.system.own_process",
    "bakeoff.core.timeouts",
    "bakeoff.core.system.lossy_stream",
    "bakeoff.core.sanitize",
}
SCRIPT = """
import json, sys
from bakeoff.cli import main
told = sys.stderr
for words in json.loads(sys.argv[1]):
    sys.argv = ["bakeoff", *words]
    try:
        main()
    except SystemExit as stop:
        assert not stop.code, words
    print(json.dumps(sorted(sys.modules)), file=told)
"""


def loaded_after(*commands: list[str]) -> list[set[str]]:
    """The modules of one process after each of the commands."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(commands)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    return [set(json.loads(line)) for line in done.stderr.splitlines()]


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_the_first_page_of_help_loads_no_verb(words: list[str]) -> None:
    (modules,) = loaded_after(words)
    assert {name for name in modules if name.split(".")[0] == "bakeoff"} <= OWN
    assert not HEAVY & modules
    assert not {"pydantic", "psutil", "sqlite3", "pygments", "markdown_it"} & modules


def test_the_first_page_is_drawn_as_with_all_that_typer_loads_for_it() -> None:
    drawn = []
    for before in ("", "import rich.markdown, rich.traceback; "):
        script = f"{before}import sys; from bakeoff.cli import main; sys.argv = ['bakeoff', '--help']; main()"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        drawn.append(done.stdout)
    assert drawn[0] == drawn[1] and "inventory" in drawn[0]


def test_the_help_of_no_verb_loads_what_runs_and_reports_need() -> None:
    words = [[name, "-h"] for name in VERBS]
    for (name, _), modules in zip(words, loaded_after(*words), strict=True):
        assert not HEAVY & modules, name


@pytest.mark.parametrize("name", VERBS)
def test_the_list_of_verbs_says_what_they_say_themselves(name: str) -> None:
    verb: Any = load(name)
    assert verb.name == name
    assert " ".join(inspect.cleandoc(verb.help).split("\n\n")[0].split()) == VERBS[name]
