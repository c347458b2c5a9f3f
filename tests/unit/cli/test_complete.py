"""What bash, zsh and fish are offered for values."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from tests.unit.compare.synthetic import run
from tests.unit.store.builders import stored


def by_bash(words: list[str]) -> dict[str, str]:
    return {
        "COMP_WORDS": " ".join(["bakeoff", *words]),
        "COMP_CWORD": str(len(words)),
        "_BAKEOFF_COMPLETE": "complete_bash",
    }


def by_zsh(words: list[str]) -> dict[str, str]:
    return {"_TYPER_COMPLETE_ARGS": " ".join(["bakeoff", *words]), "_BAKEOFF_COMPLETE": "complete_zsh"}


def by_fish(words: list[str]) -> dict[str, str]:
    return by_zsh(words) | {"_BAKEOFF_COMPLETE": "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}


def offered(environment: dict[str, str]) -> str:
    return CliRunner().invoke(app, [], env=environment, prog_name="bakeoff").output


@pytest.mark.parametrize(
    ("words", "there", "absent"),
    [
        (["run", "web-u"], ["web-url"], ["web-static"]),
        (["run", "plan"], ["plan.toml"], ["plan.txt"]),
        (["run", "file-mix", "a=fol"], ["a=folder/"], ["plan"]),
        (["run", "web-url", "--size", "m"], ["medium"], ["quick"]),
        (["run", "web-url", "--arrivals", "p"], ["poisson"], ["constant"]),
        (["run", "file-matrix", "--tests", "write,re"], ["write,reread"], ["write,write"]),
        (["run", "web-url", "--ca-file", "fol"], ["folder/"], []),
        (["suites", "mail"], ["mail-pop"], ["web-url"]),
        (["explain", "late"], ["late-start"], ["few-operations"]),
        (["show", "r"], ["run.bakeoff"], ["plan.toml"]),
        (["resume", "run.bakeoff", "--plan", "p"], ["plan.toml"], ["run.bakeoff"]),
        (["export", "run.bakeoff", "--to", "io"], ["iometer-csv"], []),
        (["compare", "run.bakeoff", "--baseline", ""], ["nginx", "apache"], []),
        (["compare", "none.bakeoff", "--baseline", ""], [], ["Traceback", "Error"]),
        (["check", "r"], ["run.bakeoff"], ["plan.toml"]),
        (["challenge", "r"], ["run.bakeoff"], ["plan.toml"]),
        (["report", "run.bakeoff", "--sign", "p"], ["plan.toml"], []),
        (["check", "run.bakeoff", "--baseline", ""], ["nginx", "apache"], []),
        (["check", "run.bakeoff", "--also", "p99,p9"], ["p99,p95"], ["p99,p99"]),
    ],
)
@pytest.mark.parametrize("shell", [by_bash, by_zsh, by_fish])
def test_values(
    shell: object,
    words: list[str],
    there: list[str],
    absent: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("plan.toml", "plan.txt"):
        (tmp_path / name).touch()
    stored(run(blocks=2), tmp_path / "run.bakeoff")
    monkeypatch.chdir(tmp_path)
    text = offered(shell(words))  # type: ignore[operator]
    assert all(word in text for word in there), text
    assert not any(word in text for word in absent), text
