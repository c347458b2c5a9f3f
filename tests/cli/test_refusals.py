"""Bad input: one clear message that says what to do, exit code 2, no traceback, nothing written."""

import re
import sqlite3
from pathlib import Path

import pytest

from bakeoff.cli.verbs import GROUPS
from bakeoff.kinds import KINDS
from bakeoff.plan.input.foreign_flags import FOREIGN_FLAGS
from bakeoff.plan.kind import plan_part
from bakeoff.store.sqlite.schema import SCHEMA_VERSION
from bakeoff.store.sqlite.write import RunWriter
from tests.cli.conftest import Bakeoff, Serve
from tests.unit.store.builders import header, planned

UNREACHABLE = "a=http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "web-static", UNREACHABLE], "a (127.0.0.1:1): connection refused: start the server"),
        (["run", "web-static", "a=http://no.such.host.invalid"], "cannot be resolved"),
        (["run", "web-statik", UNREACHABLE], "did you mean 'web-static'?"),
        (["run", "web-static"], "name at least one contender"),
        (["run", "web-static", "nginx"], "write NAME=ADDRESS"),
        (["run", "web-static", "a=ftp://h"], "is not a web address"),
        (["run", "web-static", UNREACHABLE, "--length", "10 bananas"], "--length: '10 bananas' is not a duration"),
        (["run", "web-static", UNREACHABLE, "--lenght", "10s"], "there is no --lenght: did you mean '--length'?"),
        (["run", "web-static", UNREACHABLE, "--length"], "Option '--length' requires an argument"),
        (
            ["run", "web-static", UNREACHABLE, "--user", "a:b"],
            "there is no --user; in Bakeoff: --basic-auth USER:PASSWORD",
        ),
        (["run", "mail-pop", "a=h", "--user", "u.csv"], "there is no --user: did you mean '--users'?"),
        (["run", "mail-pop", "a=h", "--imap"], "there is no --imap of mail-pop: `bakeoff run mail-pop --help` lists"),
        (["run", "web-static", UNREACHABLE, "--duration", "10s"], "there is no --duration; in Bakeoff: --length 30s"),
        (["run", "web-static", UNREACHABLE, "--duration=10s"], "there is no --duration; in Bakeoff: --length 30s"),
        (["run", "web-static", UNREACHABLE, "-c", "10"], "there is no -c; in Bakeoff: --clients 1,4,8"),
        (["run", "web-static", UNREACHABLE, "-d10"], "there is no -d; in Bakeoff: --length 30s"),
        (["run", "web-static", UNREACHABLE, "-t", "2"], "there is no -t; in Bakeoff: --load-threads 2"),
        (
            ["run", "web-static", UNREACHABLE, "--timeout", "1"],
            "--timeout: belongs to suites of kind httperf: in Bakeoff: --rep",
        ),
        (["run", "web-static", UNREACHABLE, "--blocks", "many"], "--blocks: 'many' is not a whole number"),
        (
            ["run", "web-static", UNREACHABLE, "--size", "huge"],
            "--size: 'huge' does not fit: input should be 'quick', 'medium', 'long', 'full'",
        ),
        (["run", "web-static", UNREACHABLE, "--corpus", "none"], "make one with `bakeoff corpus web-static"),
        (["run", "web-static", UNREACHABLE, "-o", "no/such/folder/r.bakeoff"], "choose another place with -o"),
        (["run", "plan.toml"], "plan.toml does not exist"),
        (["run", "bad.toml"], "bad.toml [settings] lenght: unknown key: did you mean 'length'?"),
        (["run"], "Missing argument"),
        (["show", "none.bakeoff"], "none.bakeoff does not exist"),
        (["show", "bad.toml"], "is not a run file"),
        (["resume", "none.bakeoff"], "none.bakeoff does not exist"),
        (["compare", "none.bakeoff"], "none.bakeoff does not exist"),
        (["report", "none.bakeoff", "-o", "r.html"], "none.bakeoff does not exist"),
        (["corpus", "web-statik", "x"], "did you mean 'web-static'?"),
        (["corpus", "web-static", "."], "is not empty"),
        (["suites", "mail"], "there is no suite 'mail'"),
        (
            ["run", "web-static", UNREACHABLE, "--delay", "5ms"],
            "there is no --delay; in Bakeoff: --stagger 5s (clients begin",
        ),
        (["serve", "web", "--root", "none"], "is not a folder"),
        (["serve", "web", "--stagger", "5ms"], "`bakeoff serve web` has no --stagger; of a server it is --delay 5ms"),
        (["serve", "null", "--delya", "5ms"], "`bakeoff serve null` has no --delya"),
        (["frobnicate"], "No such command 'frobnicate'"),
    ],
)
def test_one_message(bakeoff: Bakeoff, tmp_path: Path, words: list[str], message: str) -> None:
    (tmp_path / "bad.toml").write_text(
        '[plan]\nsuite = "web-static"\n[settings]\nlenght = "3s"\n[[contender]]\nname = "a"\naddress = "http://127.0.0.1:1"\n'
    )
    done = bakeoff(*words)
    assert done.returncode == 2
    assert message in done.stderr and done.stderr.startswith("bakeoff: ")
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) <= 2
    assert done.stdout == ""
    assert [p.name for p in tmp_path.iterdir()] == ["bad.toml"]


@pytest.mark.parametrize("verb", ["show", "resume", "compare", "report"])
def test_a_run_file_of_a_newer_version(bakeoff: Bakeoff, tmp_path: Path, verb: str) -> None:
    path = tmp_path / "r.bakeoff"
    RunWriter.create(path, header(), planned()).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    before = path.read_bytes()
    done = bakeoff(verb, "r.bakeoff")
    assert done.returncode == 2 and f"has run file version {SCHEMA_VERSION + 1}" in done.stderr
    assert "the Bakeoff that wrote it" in done.stderr and "Traceback" not in done.stderr
    assert path.read_bytes() == before


def test_a_contender_without_the_corpus(bakeoff: Bakeoff, serve: Serve) -> None:
    done = bakeoff("run", "web-static", f"a={serve()}")
    assert done.returncode == 2 and "make it with `bakeoff corpus web-static DIR`" in done.stderr


def test_a_contender_that_damages_files(bakeoff: Bakeoff, serve: Serve, tmp_path: Path) -> None:
    done = bakeoff("run", "web-dynamic", f"good={serve()}", f"bad={serve('--corrupt', '1')}")
    assert done.returncode == 2 and "bad" in done.stderr and "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_port_in_use(bakeoff: Bakeoff, serve: Serve) -> None:
    port = serve().rpartition(":")[2]
    done = bakeoff("serve", "web", "--port", port)
    assert done.returncode == 2 and "Traceback" not in done.stderr and done.stderr.startswith("bakeoff: ")


def test_version_and_help(bakeoff: Bakeoff) -> None:
    assert bakeoff("--version").stdout == "bakeoff 0.1.0\n"
    text = bakeoff("run", "--help-all").stdout
    for flag in (
        "--keep-alive",
        "--close",
        "--ramp-up",
        "--clients",
        "--virtual-users",
        "--load-threads",
        "--insecure",
        "--size",
        "--output",
    ):
        assert flag in text, flag


@pytest.mark.parametrize("verb", ["run", "plan", "capacity", "soak", "aa"])
def test_the_help_of_a_suite_is_a_page_of_what_is_given_most(bakeoff: Bakeoff, verb: str) -> None:
    for suite in ("web-url", "mail-pop", "file-blocks", "replay"):
        text = bakeoff(verb, suite, "--help").stdout
        assert len(text.splitlines()) <= 60 and f"bakeoff {verb} {suite} old=" in text
        assert "--blocks" in text and f"bakeoff {verb} {suite} --help-all" in " ".join(text.split())
    assert len(bakeoff(verb, "--help").stdout.splitlines()) <= 60


def test_the_whole_help_of_a_suite_has_its_settings_alone(bakeoff: Bakeoff) -> None:
    for verb in ("run", "plan", "capacity", "soak"):
        text = bakeoff(verb, "web-url", "--help-all").stdout
        assert "Options given most" in text and "--keep-alive" in text and "--think" in text
        for other in ("--mailboxes", "--workspace", "--num-conns", "--speed"):
            assert other not in text, (verb, other)
        assert text.index("--clients") < text.index("--http") < text.index("--think")
    assert "--mailboxes" in bakeoff("run", "--help-all").stdout


def test_the_help_of_all_verbs_is_in_groups(bakeoff: Bakeoff) -> None:
    text = bakeoff("--help").stdout
    places = [text.index(f"─ {group} ─") for group in GROUPS]
    assert places == sorted(places) and len(text.splitlines()) <= 60


def test_the_help_of_a_plan_file_is_that_of_its_suite(bakeoff: Bakeoff, tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text('[plan]\nsuite = "mail-pop"\n')
    text = bakeoff("run", "p.toml", "--help").stdout
    assert "--mailboxes" in text and "--keep-alive" not in text
    (tmp_path / "p.toml").write_text("no plan at all")
    assert bakeoff("run", "p.toml", "--help").returncode == 0


def test_what_is_meant_by_flags_of_other_tools_is_there(bakeoff: Bakeoff) -> None:
    flags = {word for kind in KINDS for word in _flags(kind)} | {"--blocks"}
    flags |= set(re.findall(r"--[a-z-]+", bakeoff("report", "--help").stdout))
    for text in FOREIGN_FLAGS.values():
        named = [word.rstrip(",;") for word in text.split() if word.startswith("--")]
        verbs = re.findall(r"bakeoff ([a-z]+)", text)
        assert (named or verbs) and set(named) <= flags, text
        assert all(f"bakeoff {verb} " in bakeoff(verb, "--help").stdout for verb in verbs), text


def _flags(kind: str) -> list[str]:
    fields = plan_part(kind).settings.model_fields
    return [f"--{(field.alias or name).replace('_', '-')}" for name, field in fields.items()]


def test_what_is_given_most_is_a_setting_of_the_kind() -> None:
    for kind in KINDS:
        part = plan_part(kind)
        assert all(len(text) <= 50 for text in part.common_settings.values()), kind
        assert set(part.common_settings) <= {
            field.alias or name for name, field in part.settings.model_fields.items()
        }, kind
