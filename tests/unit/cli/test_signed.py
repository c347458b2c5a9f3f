"""Reports are signed by a tool that people have; whatever is not right with a signature is told in one sentence."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from bakeoff.core.errors import BakeoffError, GeneratorError, PlanError
from bakeoff.report.signatures.ssh import sign
from tests.unit.cli.test_verify import call
from tests.unit.compare.synthetic import run
from tests.unit.store.builders import stored


def keys(place: Path) -> None:
    """Keys, allowed signers, and what is none of these."""

    def do(*words: object) -> None:
        subprocess.run([str(word) for word in words], check=True, capture_output=True)

    for name, passphrase in (("alice", ""), ("mallory", ""), ("locked", "correct horse")):
        do("ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", name, "-f", place / name)
    public = (place / "alice.pub").read_text().strip()
    for name, line in {
        "allowed": f"alice@example.org {public}",
        "expired": f'alice@example.org valid-before="20200101" {public}',
        "future": f'alice@example.org valid-after="20990101" {public}',
        "elsewhere": f'alice@example.org namespaces="git" {public}',
        "unknown": f"mallory@example.org {(place / 'mallory.pub').read_text().strip()}",
        "junk": "neither a key nor a signer",
    }.items():
        (place / name).write_text(f"# {name}\n{line}\n")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a signed report."""
    place = tmp_path_factory.mktemp("signed")
    keys(place)
    stored(run(), place / "demo.bakeoff")
    done = call("report", place / "demo.bakeoff", "-o", place / "ssh.html", "--sign", place / "alice")
    assert done.exit_code == 0, done.output
    return place


def checked(lab: Path, report: Path | str, signers: Path | str, *runs: Path) -> tuple[int, str]:
    done = call("verify", lab / report, *runs, "--signed-by", signers)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def test_whoever_is_trusted_is_named_and_the_numbers_are_held_against_the_run(lab: Path) -> None:
    code, text = checked(lab, "ssh.html", lab / "allowed", lab / "demo.bakeoff")
    assert code == 0 and "alice@example.org" in text and "SHA256:" in text and "all of its" in text
    for signers in (lab / "alice.pub", (lab / "alice.pub").read_text().strip()):
        code, text = checked(lab, "ssh.html", signers)
        assert code == 0 and "all of its" in text and "trials that it holds" in text


def test_the_tool_itself_checks_it_too(lab: Path) -> None:
    words = ["ssh-keygen", "-Y", "verify", "-f", "allowed", "-I", "alice@example.org", "-n", "bakeoff-report"]
    with (lab / "ssh.html").open("rb") as report:
        subprocess.run([*words, "-s", "ssh.html.sig"], stdin=report, cwd=lab, check=True, capture_output=True)


def test_a_changed_byte_breaks_it(lab: Path, tmp_path: Path) -> None:
    content = bytearray((lab / "ssh.html").read_bytes())
    content[-2] ^= 1
    (tmp_path / "it.html").write_bytes(content)
    shutil.copy(lab / "ssh.html.sig", tmp_path / "it.html.sig")
    code, text = checked(tmp_path, "it.html", lab / "allowed")
    assert code == 1 and "changed since" in text


@pytest.mark.parametrize(
    ("signers", "why"),
    [
        ("expired", "has expired"),
        ("future", "not valid yet"),
        ("elsewhere", "not allowed to sign reports"),
        ("unknown", "is not a trusted one"),
        ("mallory.pub", "is not a trusted one"),
    ],
)
def test_a_signer_who_is_not_trusted_is_none(lab: Path, signers: str, why: str) -> None:
    code, text = checked(lab, "ssh.html", lab / signers)
    assert code == 1 and why in text


@pytest.mark.parametrize("junk", [b"", b"junk", bytes(range(256)) * 8])
def test_what_is_no_signature_is_believed_by_nobody(lab: Path, tmp_path: Path, junk: bytes) -> None:
    shutil.copy(lab / "ssh.html", tmp_path / "it.html")
    (tmp_path / "it.html.sig").write_bytes(junk)
    code, text = checked(tmp_path, "it.html", lab / "allowed")
    assert code == 1 and "no signature" in text


def test_a_signature_for_something_else_is_none_of_a_report(lab: Path, tmp_path: Path) -> None:
    report = shutil.copy(lab / "ssh.html", tmp_path / "it.html")
    words = ["ssh-keygen", "-Y", "sign", "-f", str(lab / "alice"), "-n", "file", report]
    subprocess.run(words, check=True, capture_output=True)
    code, text = checked(tmp_path, "it.html", lab / "allowed")
    assert code == 1 and "not made for a report" in text


def test_what_cannot_be_checked_is_refused(lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*words: object) -> str:
        done = call("verify", *words)
        assert isinstance(done.exception, PlanError | GeneratorError), done.output
        return str(done.exception)

    (lab / "text.md").write_text("# A report\n")
    assert "name the run" in refused(lab / "text.md").lower()
    assert "neither a file of allowed signers" in refused(lab / "ssh.html", "--signed-by", lab / "junk")
    assert "cannot be read" in refused(lab / "ssh.html", "--signed-by", lab / "absent")
    (lab / "bare.html").write_bytes((lab / "ssh.html").read_bytes())
    assert "bare.html.sig is not there" in refused(lab / "bare.html", "--signed-by", lab / "allowed")
    monkeypatch.setenv("PATH", str(lab))
    assert "ssh-keygen is not installed" in refused(lab / "ssh.html", "--signed-by", lab / "allowed")


def test_who_cannot_sign_gets_no_report(lab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    wrong = tmp_path / "wrong"
    wrong.write_text("#!/bin/sh\necho no horse\n")
    wrong.chmod(0o700)
    monkeypatch.setenv("SSH_ASKPASS", str(wrong))
    monkeypatch.setenv("SSH_ASKPASS_REQUIRE", "force")
    target = tmp_path / "it.html"

    def refused(key: str, report: Path = target) -> str:
        done = call("report", lab / "demo.bakeoff", "-o", report, "--sign", lab / key)
        assert isinstance(done.exception, BakeoffError) and not report.exists(), done.output
        return str(done.exception)

    assert "incorrect passphrase" in refused("locked")
    (tmp_path / "absent.pub").write_text((lab / "mallory.pub").read_text())
    with pytest.raises(GeneratorError, match="No private key found"):
        sign(tmp_path / "absent.pub", b"report")
    for key in ("junk", "allowed", "demo.bakeoff"):
        assert "no key to sign with" in refused(key)
    assert "cannot be read" in refused("absent")
    assert "figures" in refused("alice", tmp_path / "it.md")
    monkeypatch.setenv("PATH", str(lab))
    assert "ssh-keygen is not installed" in refused("alice")


def test_the_key_of_an_agent_signs(lab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the public half; the private one is elsewhere."""
    socket = tmp_path / "agent"
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.PIPE)
    try:
        assert agent.stdout is not None and agent.stdout.readline()
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        subprocess.run(["ssh-add", "-q", str(lab / "mallory")], check=True, capture_output=True)
        public = shutil.copy(lab / "mallory.pub", tmp_path / "mallory.pub")
        done = call("report", lab / "demo.bakeoff", "-o", tmp_path / "it.html", "--sign", public)
        assert done.exit_code == 0, done.exception
    finally:
        agent.terminate()
        agent.wait()
    assert checked(tmp_path, "it.html", lab / "unknown")[0] == 0


def test_a_report_that_is_replaced_takes_its_signature_with_it(lab: Path, tmp_path: Path) -> None:
    shutil.copy(lab / "ssh.html", tmp_path / "it.html")
    shutil.copy(lab / "ssh.html.sig", tmp_path / "it.html.sig")
    assert call("report", lab / "demo.bakeoff", "-o", tmp_path / "it.html", "--force").exit_code == 0
    assert not (tmp_path / "it.html.sig").exists()


def test_a_pdf_is_signed_with_the_data_that_it_holds(lab: Path, tmp_path: Path) -> None:
    done = call("report", lab / "demo.bakeoff", "-o", tmp_path / "it.pdf", "--sign", lab / "alice")
    assert done.exit_code == 0 and (tmp_path / "it.pdf.sig").exists()
    assert checked(tmp_path, "it.pdf", lab / "allowed", lab / "demo.bakeoff")[0] == 0
