"""What `scripts/install-tools.sh` says and installs on machines that lack something, played by made-up programs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.control import PATIENCE_S

SCRIPT = Path(__file__).parents[2] / "scripts/install-tools.sh"
NEEDED = ("sh", "sed", "dirname", "cut", "sort", "head", "printf", "awk", "grep", "cat", "rm", "tee", "mkdir", "ln")
# As Debian 12 has them: its own Rust is too old, that of its browsers is not.
CANDIDATES = {
    "rustc": "1.63.0+dfsg1-2",
    "cargo": "0.66.0+ds1-1",
    "rustc-web": "1.96.0+dfsg1",
    "cargo-web": "1.96.0+dfsg1",
}


def program(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def machine(folder: Path) -> Path:
    """A PATH with what every system has, and a copy of the script, which makes links beside itself."""
    bin_ = folder / "bin"
    bin_.mkdir()
    for name in NEEDED:
        found = shutil.which(name)
        assert found, name
        (bin_ / name).symlink_to(found)
    program(bin_, "id", "echo 1000")
    scripts = folder / "scripts"
    scripts.mkdir()
    for name in ("install-tools.sh", "apt.sh"):
        shutil.copy(SCRIPT.with_name(name), scripts)
    shutil.copy(SCRIPT.parents[1] / "Cargo.toml", folder)
    return bin_


def install(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(folder / "bin/sh"), str(folder / "scripts/install-tools.sh")]
    given = {"PATH": str(folder / "bin"), "HOME": str(folder)}
    return subprocess.run(command, capture_output=True, text=True, env=given, timeout=PATIENCE_S, check=False)


def test_without_apt_all_that_is_missing_is_named_in_one_sentence(tmp_path: Path) -> None:
    machine(tmp_path)
    done = install(tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert all(name in done.stderr for name in ("python3-venv", "gcc libc6-dev", "Rust 1.", "cargo rustc"))


def debian(folder: Path) -> Path:
    """A Debian 12 with Python and a compiler, and a sudo that writes down what it was to do."""
    bin_ = machine(folder)
    program(bin_, "python3", f'exec {os.path.realpath(sys.executable)} "$@"')
    program(bin_, "cc", "exit 0")
    program(bin_, "apt-get", "exit 0")
    known = "\n".join(f"{name}) echo '  Candidate: {version}' ;;" for name, version in CANDIDATES.items())
    program(bin_, "apt-cache", f'[ "$1" = policy ] || exit 0\ncase $2 in\n{known}\nesac')
    rust = "\n".join(f"printf '#!/bin/sh\\necho {name} 1.96.0\\n' >{bin_}/{name}" for name in ("cargo", "rustc"))
    program(
        bin_,
        "sudo",
        f'echo "$@" >>{folder}/done\ncase "$*" in *"cargo-web rustc-web"*)\n{rust}\n'
        f"{shutil.which('chmod')} +x {bin_}/cargo {bin_}/rustc ;; esac",
    )
    return bin_


def test_a_rust_that_is_recent_enough_is_chosen_among_the_packages(tmp_path: Path) -> None:
    bin_ = debian(tmp_path)
    program(bin_, "cargo", "echo cargo 1.65.0")
    program(bin_, "rustc", "echo rustc 1.63.0")
    done = install(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "Installing for the build: cargo-web rustc-web\n"
    assert any(line.endswith("cargo-web rustc-web") for line in (tmp_path / "done").read_text().splitlines())


def test_nothing_is_installed_where_all_is_there(tmp_path: Path) -> None:
    bin_ = debian(tmp_path)
    program(bin_, "cargo", "echo 'cargo 1.91.0 (ea2d97820 2025-10-10)'")
    program(bin_, "rustc", "echo 'rustc 1.91.0 (f8297e351 2025-10-28)'")
    done = install(tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (tmp_path / "done").exists()
