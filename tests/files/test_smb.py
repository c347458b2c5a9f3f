"""File suites by SMB without a mount, against Samba."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bakeoff.store.sqlite.read import read_run
from tests.control import PATIENCE_S
from tests.files.loopback import beside_servers, run_beside_servers
from tests.files.test_nfs import BLOCKS, LOADFILE, MATRIX, MIX, is_sound

SHARE = "smb://root@127.0.0.1/share"
AGREED = {
    SHARE: ("SMB 3.1.1", "none", "none"),
    f"{SHARE}?dialect=2.0.2": ("SMB 2.0.2", "none", "none"),
    f"{SHARE}?dialect=2.1&signing=required": ("SMB 2.1", "HMAC-SHA256", "none"),
    f"{SHARE}?dialect=3.0.2&signing=required": ("SMB 3.0.2", "AES-128-CMAC", "none"),
    f"{SHARE}?dialect=3.0&encryption=required": ("SMB 3.0", "none", "AES-128-CCM"),
    f"{SHARE}?encryption=required": ("SMB 3.1.1", "none", "AES-128-GCM"),
    "smb://root@127.0.0.1/sealed": ("SMB 3.1.1", "none", "AES-128-GCM"),
}
REFUSED = {
    "smb://root@127.0.0.1/nothere": "has no share nothere",
    "smb://bob@127.0.0.1/share": "logs bob in as a guest",
    "smb://daemon@127.0.0.1/share": "does not know daemon by this password",
    "smb://127.0.0.1/share?signing=required": "give a user",
    f"{SHARE}/nothere": "No such file or directory",
    "smb://root@127.0.0.1/read-only": "may not be written to as this user",
    f"{SHARE}?dialect=2.1&encryption=required": "has no encryption",
    "smb://root:secret@127.0.0.1/share": "set BAKEOFF_SMB_PASSWORD",
}


def test_samba_agrees_as_asked_or_says_why_not(tmp_path: Path) -> None:
    said = beside_servers(tmp_path, "-m", "tests.files.ask_servers", *AGREED, *REFUSED)
    answers = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    agreed, refused = answers[: len(AGREED)], answers[len(AGREED) :]
    for found, expected in zip(agreed, AGREED.values(), strict=True):
        assert (found["protocol"], found["signing"], found["encryption"]) == expected
        assert found["user"] == "root" and found["free_bytes"] > 0
    for found, expected in zip(refused, REFUSED.values(), strict=True):
        assert expected in found["refused"]
    assert list((tmp_path / "served").iterdir()) == []


def test_samba_and_ganesha_serve_every_suite_from_one_folder(tmp_path: Path) -> None:
    by_smb = [f"plain={SHARE}", f"signed={SHARE}?signing=required", f"sealed={SHARE}?encryption=required"]
    both = [f"smb={SHARE}", f"nfs=nfs://127.0.0.1{tmp_path}/served"]
    suites = {
        "mix": [*MIX, "--keep", by_smb[0]],
        "blocks": [*BLOCKS, "--outstanding", "1,4", *by_smb],
        "matrix": [*MATRIX, *both],
        "load": [*LOADFILE, *both],
    }
    runs = [["run", *words, "-o", str(tmp_path / f"{name}.bakeoff")] for name, words in suites.items()]
    said = run_beside_servers(tmp_path, runs)
    for name in suites:
        assert is_sound(read_run(tmp_path / f"{name}.bakeoff")), said
    assert "SMB 3.1.1 without a mount, signing AES-128-GMAC, encryption none, user root" in said
    (kept,) = (tmp_path / "served").iterdir()
    made = [path.stat() for path in kept.rglob("*.DAT")]
    assert len(made) > 100 and all(facts.st_size > 0 for facts in made)


@pytest.mark.parametrize("name", ["mix.bakeoff"])
def test_no_password_is_in_a_run_file(tmp_path: Path, name: str) -> None:
    run_beside_servers(tmp_path, [["run", *MIX, f"smb={SHARE}", "-o", str(tmp_path / name)]])
    for path in tmp_path.glob("*.bakeoff*"):
        assert b"quite-secret" not in path.read_bytes()
    report = [sys.executable, "-m", "bakeoff", "report", str(tmp_path / name), "-o", str(tmp_path / "page.html")]
    subprocess.run(report, check=True, capture_output=True, timeout=PATIENCE_S)
    assert "quite-secret" not in (tmp_path / "page.html").read_text()
