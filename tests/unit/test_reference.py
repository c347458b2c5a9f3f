"""The reference says what the code is, and what is installed beside the command works."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from scripts.reference import completion, man
from scripts.reference.pages import FOLDER, README, pages, readme

from bakeoff.cli.verbs import VERBS

SCHEMAS = [f"{verb}.schema.json" for verb in ("show", "compare", "audit", "history")]
BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    "name",
    ["commands.md", "settings.md", "run-file.md", "json.md", "csv.md", "audits.md", "formats.md", *SCHEMAS],
)
def test_the_reference_is_what_the_code_makes_of_it(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == pages()[name], f"docs/reference/{name}: run `make docs`"


def test_the_costs_in_readme_are_what_the_code_makes_of_them() -> None:
    assert README.read_text(encoding="utf-8") == readme(), "README.md: run `make docs`"


def test_no_page_is_made_that_no_test_holds() -> None:
    made = {path.name for path in FOLDER.glob("*.md") if "Made by `make docs`" in path.read_text(encoding="utf-8")}
    assert made | set(SCHEMAS) == set(pages())


def test_links_within_a_page_lead_somewhere() -> None:
    for name, text in pages().items():
        anchors = {re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-") for head in
                   re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)}  # fmt: skip
        assert set(re.findall(r"\]\(#([^)]*)\)", text)) <= anchors, name


def test_each_number_of_a_decision_is_given_once_and_stands_above_it() -> None:
    decisions = sorted((FOLDER.parent / "decisions").glob("0*.md"))
    numbers = [int(path.name[:4]) for path in decisions]
    assert len(set(numbers)) == len(numbers) > 20
    heads = [path.read_text(encoding="utf-8").partition("\n")[0] for path in decisions]
    for path, number, head in zip(decisions, numbers, heads, strict=True):
        assert re.match(rf"# 0*{number}\b", head), f"{path.name}: {head}"


def test_every_command_has_a_man_page_that_roff_reads_without_a_warning(tmp_path: Path) -> None:
    found = man.files()
    assert {f"man/man1/bakeoff-{verb}.1" for verb in VERBS} | {"man/man1/bakeoff.1"} <= set(found)
    for name, text in found.items():
        assert text.isascii(), name
        path = tmp_path / Path(name).name
        path.write_text(text)
    read = ["groff", "-man", "-ww", "-Tutf8", "-rLL=100n", *map(str, sorted(tmp_path.iterdir()))]
    done = subprocess.run(read, capture_output=True, text=True, check=True)
    assert not done.stderr
    plain = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)
    assert "--keep-alive / --close" in plain and "Which of these servers is faster" in plain


def test_bash_completes_by_what_is_installed(tmp_path: Path) -> None:
    script = tmp_path / "bakeoff"
    script.write_text(completion.files()["bash-completion/completions/bakeoff"])
    words = "COMP_WORDS=(bakeoff comp); COMP_CWORD=1; _bakeoff_completion bakeoff; echo ${COMPREPLY[@]}"
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    command = ["bash", "--norc", "-c", f"source {script}; {words}"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.split() == ["compare"]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("bakeoff exp", "export"),
        ("bakeoff corpus web-s", "web-static"),
        ("bakeoff serve nu", "null"),
        ("bakeoff run web-url --size me", "medium"),
        ("bakeoff httperf --num-c", "--num-conns"),
    ],
)
def test_zsh_and_fish_are_answered_too(words: str, wanted: str) -> None:
    for shell in ("zsh", "fish"):
        asked = {"_BAKEOFF_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": words}
        asked |= {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}
        environment = {**os.environ, **asked}
        done = subprocess.run([BIN / "bakeoff"], capture_output=True, text=True, env=environment, check=True)
        assert wanted in done.stdout, shell
