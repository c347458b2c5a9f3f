"""A host that hangs, asks, floods, dies or is not known costs one sentence, and nothing is left running."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from bakeoff.core.errors import GeneratorError, PlanError
from bakeoff.disclosure.collect.answer import HEAD
from bakeoff.disclosure.collect.ask import ask
from bakeoff.disclosure.collect.machines import collect
from bakeoff.disclosure.collect.ways import Way, way_of
from tests.control import PATIENCE_S
from tests.unit.collect.fake import program

SSH = way_of("ssh://root@box:2222")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is about to end is waited for, however busy the machine is."""
    monkeypatch.setattr("bakeoff.disclosure.collect.ask.GRACE_S", PATIENCE_S)


def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Way:
    """A program `ssh` that does as told."""
    program(tmp_path / "bin", "ssh", script)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return SSH


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (
            "echo 'Host key verification failed.' >&2; exit 255",
            "is not known here: log in once with `ssh -p 2222 root@box`",
        ),
        ("echo 'No ED25519 host key is known for [box]:2222' >&2; exit 255", "is not known here"),
        ("echo 'WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!' >&2; exit 255", "not the one that was known"),
        ("echo 'root@box: Permission denied (publickey,password).' >&2; exit 255", "wants a password or another key"),
        ("printf 'Password: ' >/dev/tty && read p </dev/tty; exit 255", "gave no facts"),
        (
            "echo 'ssh: Could not resolve hostname box' >&2; exit 255",
            r"Could not resolve hostname box\): try `ssh -p 2222",
        ),
        ("printf 'a\\033[31mb\\n' >&2; exit 1", "a␛"),
        ("exit 3", "it ended with 3"),
        ("kill -9 $$", "it ended with -9"),
        ("cat >/dev/null; echo Welcome; echo restricted", "is not a shell that takes a script"),
        ("exit 0", "is not a shell that takes a script"),
        ("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", "answered with more than"),
    ],
)
def test_each_fault_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, sentence: str
) -> None:
    way = stub(tmp_path, monkeypatch, script)
    with pytest.raises(GeneratorError, match=sentence) as raised:
        collect(way)
    assert "\n" not in str(raised.value) and str(raised.value).startswith("ssh://root@box:2222")


def test_who_hangs_is_ended_with_all_that_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them holds a pipe open: it has an end when none of them lives."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    way = stub(tmp_path, monkeypatch, f"exec 7>{pipe}\nsleep {PATIENCE_S} & sleep {PATIENCE_S}")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(GeneratorError, match=r"did not answer within 0.5 s: try `ssh -p 2222 root@box true`"):
        ask(way, b"true\n", 0.5)
    os.set_blocking(reader, True)
    assert os.read(reader, 1) == b""
    os.close(reader)


def test_who_closes_its_output_and_goes_on_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    way = stub(tmp_path, monkeypatch, f"echo '{HEAD.decode()}'; exec >/dev/null 2>&1; sleep {PATIENCE_S}")
    monkeypatch.setattr("bakeoff.disclosure.collect.ask.GRACE_S", 0.2)
    assert HEAD in ask(way, b"true\n")


def test_an_answer_that_breaks_off_says_so_and_greetings_do_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = f"echo Hello; echo '{HEAD.decode()}'; echo '@/proc/meminfo'; echo ' MemTotal: 1048576 kB'"
    result = collect(stub(tmp_path, monkeypatch, f"cat >/dev/null; {said}"))
    assert result.facts == {"memory": "1.0 GiB"} and "the end of the answer: it broke off" in result.missing


def test_ssh_may_neither_ask_nor_wait_nor_trust_whoever_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = tmp_path / "words"
    way = stub(tmp_path, monkeypatch, f'printf "%s\\n" "$@" "$SSH_ASKPASS_REQUIRE" "[$DISPLAY]" >{texts}; exit 1')
    monkeypatch.setenv("DISPLAY", ":0")
    with contextlib.suppress(GeneratorError):
        ask(way, b"")
    words = texts.read_text().splitlines()
    assert {"BatchMode=yes", "ConnectTimeout=10", "NumberOfPasswordPrompts=0", "StrictHostKeyChecking=yes"} <= set(
        words
    )
    assert words[-7:] == ["-p", "2222", "--", "root@box", "sh -s", "never", "[]"]


def test_a_missing_ssh_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GeneratorError, match=r"ssh cannot be started .* install it"):
        ask(SSH, b"")


@pytest.mark.parametrize(
    "text",
    [
        "ssh://-oProxyCommand=x", "ssh://a@-b", "ssh://-l@h", "ssh://h/path", "ssh://u:pw@h", "ssh://h:99999", "ssh://",
        "ssh://u x@h", "ftp://h", "locall", "", "command:", "command: a\nb", "x" * 2000, "ssh://[::1", "ssh://h?x=1",
        "ssh://a;b@h", "ssh://$(x)", "ssh://h\x00",
    ],
)  # fmt: skip
def test_what_is_no_way_is_refused(text: str) -> None:
    with pytest.raises(PlanError) as raised:
        way_of(text)
    assert "pw" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("ssh://root@10.0.0.2", "root@10.0.0.2", None),
        ("ssh://Box-1.example.org:22/", "Box-1.example.org", 22),
        ("ssh://u@[fe80::1%eth0]:22", "u@fe80::1%eth0", 22),
    ],
)
def test_ways_by_ssh(text: str, host: str, port: int | None) -> None:
    way = way_of(text)
    assert (way.host, way.port) == (host, port) and way.argv[-3:] == ("--", host, "sh -s")
