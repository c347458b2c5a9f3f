"""`bakeoff disclose`: leave is given by word or terminal, what was collected is a paper file, and ssh is a real one."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bakeoff.disclosure.paper.read import read_paper
from tests.cli.conftest import Bakeoff
from tests.ports import free_port
from tests.unit.collect.fake import program

PAPER = """\
[contenders.a.disclosure]
collect = "command: touch {touched}; echo memory = 1 GiB"
memory = "2 GiB"
[contenders.b]
pros = ["none"]
"""


def test_a_paper_file_is_not_acted_on_without_leave(bakeoff: Bakeoff, tmp_path: Path) -> None:
    paper, touched, output = tmp_path / "paper.toml", tmp_path / "touched", tmp_path / "told.toml"
    paper.write_text(PAPER.format(touched=touched))
    refused = bakeoff("disclose", str(paper), "-o", str(output))
    assert refused.returncode == 2 and not touched.exists() and not output.exists()
    assert f"a: run here: touch {touched}" in refused.stderr and "--trust" in refused.stderr
    done = bakeoff("disclose", str(paper), "--trust", "-o", str(output))
    assert done.returncode == 0 and touched.exists(), done.stderr
    tables = tomllib.loads(output.read_text())
    assert tables["contenders"]["a"]["collected"]["facts"] == {"memory": "1 GiB"} and "b" not in tables["contenders"]
    again = bakeoff("disclose", str(paper), "--trust", "-o", str(output))
    assert again.returncode == 2 and "exists already" in again.stderr
    paper.write_text('[paper]\ndisclosure = "told.toml"\n' + PAPER)
    read = read_paper(paper).contenders["a"]
    assert read.disclosure.fields == {"memory": "2 GiB"} and read.collected and not read.collected.edited


def test_fields_to_be_filled_in_go_where_they_are_wanted(bakeoff: Bakeoff, tmp_path: Path) -> None:
    printed = bakeoff("disclose", "--template")
    done = bakeoff("disclose", "--template", "-o", "paper.toml")
    assert done.returncode == 0 and done.stdout == "Disclosure: paper.toml\n", done.stderr
    assert (tmp_path / "paper.toml").read_text().strip() == printed.stdout.strip()
    assert read_paper(tmp_path / "paper.toml")


def test_who_does_not_answer_is_named_and_the_others_are_written(bakeoff: Bakeoff, tmp_path: Path) -> None:
    plan, output = tmp_path / "plan.toml", tmp_path / "told.toml"
    plan.write_text(
        '[plan]\nsuite = "web-url"\n[[contender]]\nname = "x=y"\naddress = "http://h/"\n'
        '[[contender]]\nname = "z"\naddress = "http://g/"\n'
    )
    words = ["--collect", "x=y=command: echo memory = 1 GiB", "--collect", "z=command: exit 7", "-o", str(output)]
    done = bakeoff("disclose", str(plan), *words)
    assert done.returncode == 2 and "bakeoff: z: command: exit 7 gave no facts (it ended with 7)" in done.stderr
    assert set(tomllib.loads(output.read_text())["contenders"]) == {"x=y"}


def test_a_relative_path_on_this_machine_is_one_from_here(bakeoff: Bakeoff, tmp_path: Path) -> None:
    plan, output = tmp_path / "plan.toml", tmp_path / "told.toml"
    plan.write_text('[plan]\nsuite = "web-url"\n[[contender]]\nname = "a"\naddress = "http://h/"\n')
    (tmp_path / "own.conf").write_text("workers 4\n")
    done = bakeoff("disclose", str(plan), "--collect", "a=local", "--config", "a=own.conf", "-o", str(output))
    assert done.returncode == 0, done.stderr
    assert f'path = "{tmp_path}/own.conf"' in output.read_text() and "workers 4" in output.read_text()


def test_who_interrupts_keeps_what_was_said(bakeoff: Bakeoff, tmp_path: Path) -> None:
    plan, output = tmp_path / "plan.toml", tmp_path / "told.toml"
    plan.write_text("".join(f'[[contender]]\nname = "{name}"\naddress = "http://h/"\n' for name in "ab"))
    ways = ["--collect", "a=command: echo memory = 1 GiB", "--collect", "b=command: kill -INT $PPID; sleep 60"]
    done = bakeoff("disclose", str(plan), *ways, "-o", str(output))
    assert done.returncode == 130 and "interrupted: nothing was collected of b" in done.stderr, done.stderr
    assert set(tomllib.loads(output.read_text())["contenders"]) == {"a"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["disclose"], "say what is wanted"),
        (["disclose", "--template", "--collect", "a=local"], "leave out what is to be collected"),
        (["disclose", "--template", "--config", "a=/etc/x"], "leave out what is to be collected"),
        (["disclose", "--template", "-o", "plan.toml"], "exists already"),
        (["disclose", "PLAN"], "there is no way to ask a: add --collect 'a=local'"),
        (["disclose", "PLAN", "--collect", "b=local"], "no contender is called 'b'"),
        (["disclose", "PLAN", "--collect", "local"], "--collect wants NAME="),
        (["disclose", "PLAN", "--collect", "a=telnet://x"], "is no way to collect facts"),
        (["disclose", "PLAN", "--collect", "a=local", "--collect", "a=local"], "names a contender twice"),
        (["disclose", "PLAN", "--collect", "a=ssh://u@127.0.0.1", "--config", "a=etc/x"], "begin it with /"),
        (["disclose", "PLAN", "--collect", "a=local", "--config", "a=/etc/shadow"], "holds secrets"),
        (["disclose", "PLAN", "--config", "a=/etc/x"], "there is no way to ask"),
        (["disclose", "none.bakeoff", "--collect", "a=local"], "none.bakeoff"),
    ],
)
def test_bad_input_is_one_sentence(bakeoff: Bakeoff, tmp_path: Path, words: list[str], message: str) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('[plan]\nsuite = "web-url"\n[[contender]]\nname = "a"\naddress = "http://h/"\n')
    done = bakeoff(*(str(plan) if word == "PLAN" else word for word in words))
    assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr, done.stderr


@contextmanager
def ssh_server(base: Path) -> Iterator[Path]:
    """A server of ssh on loopback; gives the folder of an `ssh` that has its own key and knows this server."""
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(base / name)], check=True)
    Path("/run/sshd").mkdir(exist_ok=True)
    port = free_port()
    settings = {
        "Port": port,
        "ListenAddress": "127.0.0.1",
        "HostKey": base / "host",
        "AuthorizedKeysFile": base / "user.pub",
        "StrictModes": "no",
        "PidFile": "none",
    }
    words = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    sshd = shutil.which("sshd") or "/usr/sbin/sshd"
    server = subprocess.Popen([sshd, "-D", "-e", "-f", "/dev/null", *words], stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None and "listening" in server.stderr.readline()
        (base / "config").write_text(
            f"Host *\n Port {port}\n IdentityFile {base / 'user'}\n IdentitiesOnly yes\n"
            f" UserKnownHostsFile {base / 'known'}\n GlobalKnownHostsFile /dev/null\n"
        )
        program(base / "bin", "ssh", f'exec {shutil.which("ssh")} -F {base / "config"} "$@"')
        yield base / "bin"
    finally:
        server.kill()
        server.wait()


def test_a_host_by_a_real_ssh(bakeoff: Bakeoff, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With key and known host it answers; a host that is not known, or a key that it does not, is one sentence."""
    plan = tmp_path / "plan.toml"
    plan.write_text('[plan]\nsuite = "web-url"\n[[contender]]\nname = "a"\naddress = "http://h/"\n')
    words = ("disclose", str(plan), "--collect", "a=ssh://127.0.0.1", "--config", f"a={tmp_path}/odd.conf")
    (tmp_path / "odd.conf").write_text("workers 4\n")
    with ssh_server(tmp_path) as folder:
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        unknown = bakeoff(*words)
        assert unknown.returncode == 2 and "is not known here: log in once with `ssh 127.0.0.1`" in unknown.stderr
        port = (tmp_path / "config").read_text().split("Port ")[1].split()[0]
        key = (tmp_path / "host.pub").read_text()
        (tmp_path / "known").write_text(f"[127.0.0.1]:{port} {key}")
        result = bakeoff(*words)
        assert result.returncode == 0, result.stderr
        collected = tomllib.loads(result.stdout)["contenders"]["a"]["collected"]
        assert collected["way"] == "ssh://127.0.0.1" and "Linux" in collected["facts"]["operating_system"]
        assert collected["sysctls"]["net.core.somaxconn"] == Path("/proc/sys/net/core/somaxconn").read_text().strip()
        assert {file["path"]: file.get("text") for file in collected["files"]}[f"{tmp_path}/odd.conf"] == "workers 4\n"
        (tmp_path / "user.pub").write_text(key)
        refused = bakeoff(*words)
        assert refused.returncode == 2 and "wants a password or another key" in refused.stderr
