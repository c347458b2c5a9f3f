"""What `scripts/dist.sh` makes and says on machines that differ, played by made-up programs."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.control import PATIENCE_S

SCRIPTS = Path(__file__).parents[2] / "scripts"
NEEDED = ("sh", "sed", "dirname", "cat", "rm", "mkdir", "mktemp", "cp", "ls", "tr", "grep", "basename", "env", "touch")
SHARE = (
    "man/man1/bakeoff.1",
    "man/man1/bakeoff-run.1",
    "bash-completion/completions/bakeoff",
    "zsh/site-functions/_bakeoff",
    "fish/vendor_completions.d/bakeoff.fish",
)


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def machine(folder: Path, tag: str = "manylinux_2_34", share: tuple[str, ...] = SHARE) -> None:
    """A source whose tools write down what they are told, on a machine of two processors."""
    for name in NEEDED:
        found = shutil.which(name)
        assert found, name
        (folder / "bin").mkdir(exist_ok=True)
        (folder / "bin" / name).symlink_to(found)
    (folder / "scripts").mkdir()
    for name in ("dist.sh", "apt.sh"):
        shutil.copy(SCRIPTS / name, folder / "scripts")
    observed, mkdir = folder / "told", shutil.which("mkdir")
    installed = "\n".join(f'{mkdir} -p "$3/share/{Path(f).parent}"; echo x >"$3/share/{f}"' for f in share)
    demo = f'echo "demo $@ on $PATH" >>{observed}; {mkdir} demo; echo page >demo/report.html'
    program(folder / "demo.sh", demo)
    venv = f'mkdir -p "$3/bin"; cp {folder}/demo.sh "$3/bin/bakeoff"; cp {folder}/pip.sh "$3/bin/python"; {installed}'
    program(folder / "pip.sh", f'echo "pip $@" >>{observed}')
    made = f'case "$2" in scripts.reference) mkdir -p "$4" ;; venv) {venv} ;; esac'
    program(folder / ".venv/bin/python", f'echo "python $@" >>{observed}; {made}')
    arch = 'arch=x86_64; case "$*" in *aarch64*) arch=aarch64 ;; esac'
    whl = f'echo "maturin $@" >>{observed}; {arch}; touch "dist/bakeoff-1-cp311-abi3-{tag}_$arch.whl"'
    program(folder / ".venv/bin/maturin", whl)
    where = 'at=target/release; case "$*" in *aarch64*) at=target/aarch64-unknown-linux-gnu/release ;; esac'
    built = f'echo "cargo $@" >>{observed}; {where}; mkdir -p $at; cp {folder}/version.sh $at/bakeoff-targets'
    program(folder / "version.sh", "echo bakeoff-targets 1")
    program(folder / "bin/cargo", built)
    program(folder / "bin/uname", "echo x86_64")
    program(folder / "bin/ldd", "echo statically linked")
    program(folder / "bin/id", "echo 0")
    program(folder / "bin/rustc", f"echo {folder}/rust")


def dist(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    given = {"PATH": str(folder / "bin"), "HOME": str(folder), "TMPDIR": str(folder), **variables}
    command = [str(folder / "bin/sh"), str(folder / "scripts/dist.sh")]
    return subprocess.run(command, capture_output=True, text=True, env=given, timeout=PATIENCE_S, check=False)


def files(folder: Path) -> set[str]:
    return {path.name for path in (folder / "dist").iterdir()}


def test_a_wheel_and_servers_are_made_and_the_wheel_is_tried_where_nothing_else_is(tmp_path: Path) -> None:
    machine(tmp_path)
    done = dist(tmp_path, CROSS="", BLOCKS="3")
    assert (done.returncode, done.stderr) == (0, "")
    assert files(tmp_path) == {"bakeoff-1-cp311-abi3-manylinux_2_34_x86_64.whl", "bakeoff-targets-x86_64"}
    texts = (tmp_path / "told").read_text()
    demo = next(line for line in texts.splitlines() if line.startswith("demo"))
    assert "--blocks 3" in demo
    assert demo.rpartition(" on ")[2].endswith("/venv/bin") and ":" not in demo.rpartition(" on ")[2]
    assert "--only-binary :all:" in texts and "--auditwheel check" in texts and "crt-static" in texts
    assert not list(tmp_path.glob("bakeoff._engine.data")) and not list(tmp_path.glob("bakeoff-dist.*"))


def test_another_processor_is_left_out_with_a_sentence_where_its_linker_cannot_be_installed(tmp_path: Path) -> None:
    machine(tmp_path)
    done = dist(tmp_path)
    assert done.returncode == 0
    assert "No wheel for aarch64: apt could not install a cross linker (gcc-aarch64-linux-gnu)." in done.stdout
    assert len(files(tmp_path)) == 2


def test_another_processor_is_left_out_where_rust_has_no_library_for_it(tmp_path: Path) -> None:
    machine(tmp_path)
    program(tmp_path / "bin/aarch64-linux-gnu-gcc", "exit 0")
    done = dist(tmp_path)
    assert done.returncode == 0
    assert "this Rust has no standard library for it (rustup target add aarch64-unknown-linux-gnu)" in done.stdout
    assert len(files(tmp_path)) == 2


def test_another_processor_has_a_wheel_and_servers_where_both_are_there(tmp_path: Path) -> None:
    machine(tmp_path)
    program(tmp_path / "bin/aarch64-linux-gnu-gcc", "exit 0")
    (tmp_path / "rust/lib/rustlib/aarch64-unknown-linux-gnu/lib").mkdir(parents=True)
    done = dist(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    made = {"bakeoff-1-cp311-abi3-manylinux_2_34_aarch64.whl", "bakeoff-targets-aarch64"}
    assert made <= files(tmp_path) and len(files(tmp_path)) == 4
    installed = next(line for line in (tmp_path / "told").read_text().splitlines() if line.startswith("pip"))
    assert "x86_64.whl" in installed and "aarch64" not in installed


@pytest.mark.parametrize(
    ("tag", "share", "said"),
    [("linux", SHARE, "its C library is newer than any manylinux"), ("manylinux_2_34", SHARE[1:], "man1/bakeoff.1")],
)
def test_a_wheel_that_others_could_not_use_is_refused(
    tmp_path: Path, tag: str, share: tuple[str, ...], said: str
) -> None:
    machine(tmp_path, tag, share)
    done = dist(tmp_path, CROSS="")
    assert done.returncode == 1 and said in done.stderr
