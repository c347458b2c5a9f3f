"""Wrong turns of a command line are led to the right one, before anything was done or printed."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.core.errors import BakeoffError


def refused(*words: str) -> tuple[str, str]:
    """What a refusal says, and what was printed before it."""
    done = CliRunner().invoke(app, list(words))
    assert isinstance(done.exception, BakeoffError)
    return str(done.exception), done.output


def test_a_suite_without_a_command() -> None:
    said, _ = refused("mail-pop", "a=mail.example", "--size", "quick")
    assert said == "mail-pop is a suite, not a command: bakeoff run mail-pop a=mail.example --size quick"


def test_a_flag_of_reports(tmp_path: Path) -> None:
    said, _ = refused("run", "file-matrix", f"a={tmp_path}", "--surfaces")
    assert said == "there is no --surfaces; in Bakeoff: bakeoff report RUN.bakeoff --surfaces, once it has run"


def test_iozone_refuses_a_record_that_does_not_fit_before_its_heading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "share").mkdir()
    monkeypatch.chdir(tmp_path / "share")
    said, before = refused("iozone", "-t", "1", "-s", "4k", "-r", "64k")
    assert (said, before) == ("-r: a record of 64 kB does not fit a file of 4 kB", "")


def test_accounts_that_are_not_there_are_as_many_as_the_size_needs(tmp_path: Path) -> None:
    words = ("mail-pop", "a=127.0.0.1", "--size", "quick", "--clients", "3", "--mailboxes", "5")
    said, _ = refused("plan", *words, "--users", str(tmp_path / "no.csv"))
    assert "bakeoff users new --count 15 --domain example.test" in said


@pytest.mark.parametrize(
    ("flag", "meant"),
    [
        ("-X", "--method POST"),
        ("--http2", "--http 2"),
        ("--tls", "https:// in the addresses"),
        ("--dry-run", "bakeoff plan with the same words"),
        ("--latency", "no flag: p50, p95 and p99 are always measured"),
    ],
)
def test_a_flag_of_another_load_generator(flag: str, meant: str) -> None:
    """Seen: "--tls: did you mean '--trials'", and a pause for who asked for percentiles."""
    said, _ = refused("plan", "web-url", "a=http://127.0.0.1:1/", flag)
    assert said.startswith(f"there is no {flag}; in Bakeoff: {meant}")


@pytest.mark.parametrize("flag", ["-o", "--output"])
def test_the_words_of_a_run_with_its_file_are_no_plan(flag: str) -> None:
    said, _ = refused("plan", "web-url", "a=http://127.0.0.1:1/", flag, "first.bakeoff")
    assert said.startswith(f"there is no {flag} of `bakeoff plan`, which writes no run file: leave it out")
