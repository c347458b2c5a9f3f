"""Wherever output goes, and whatever its encoding and width: no traceback, no empty file, no lost trial."""

import os
import subprocess

import pytest

from bakeoff.cli.app import PRINTING as ONLY_PRINTS
from bakeoff.store.sqlite.read import read_run
from tests.cli.conftest import target
from tests.cli.forked import CLOSED, Forks
from tests.patient import COMMAND
from tests.unit.compare.synthetic import run
from tests.unit.store.builders import stored

FULL = "/dev/full"
PRINTING = [
    ("--help",),
    ("run", "--help"),
    ("show", "r.bakeoff", "--events"),
    ("show", "r.bakeoff", "--json"),
    ("compare", "r.bakeoff"),
    ("compare", "r.bakeoff", "--json"),
    ("plan", "web-url", "a=http://127.0.0.1:1", "--trials"),
    ("plan", "web-url", "a=http://127.0.0.1:1", "--toml"),
    ("suites",),
    ("suites", "web-static"),
    ("access",),
    ("access", "Database"),
    ("users", "convert", "u.csv", "--to", "ldif"),
    ("inventory", "."),
    ("iozone", "-h"),
    ("iozone", "--help"),
    ("explain",),
    ("explain", "late-start", "voided"),
]
WRITING = {
    "report.html": ("report", "r.bakeoff", "-o"),
    "a.icf": ("access", "--write"),
    "new.csv": ("users", "new", "--count", "3", "--domain", "b.test", "-o"),
    "weights.toml": ("inventory", ".", "-o"),
    "map": ("users", "convert", "u.csv", "--to", "dovecot", "-o"),
}
REFUSED = [
    ("show", "no.bakeoff"),
    ("show", "."),
    ("compare", ""),
    ("report", "/"),
    ("resume", "."),
    ("export", "", "--to", "iometer-csv"),
    ("plan", "web-stati"),
    ("--nope",),
    ("run", "web-url"),
    ("corpus", "x", "y"),
    ("inventory", "no"),
    ("inventory", "r.bakeoff"),
    ("explain", "late-strat"),
    ("iozone", "-s", "4k", "-r", "64k"),
    ("iozone", "-l", "²"),
    ("iozone", "-n", "9" * 5000),
    ("iozone", "-J", "9" * 5000),
]


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Forks:
    folder = tmp_path_factory.mktemp("output")
    stored(run(blocks=6), folder / "r.bakeoff")
    (folder / "u.csv").write_text("u1,pw1,b.test\n")
    return Forks(folder)


@pytest.mark.parametrize("words", PRINTING, ids=" ".join)
def test_what_is_printed_goes_wherever_it_can(forks: Forks, words: tuple[str, ...]) -> None:
    code, good, _ = forks.run(*words)
    assert code == 0 and good
    for width in ("0", "1", "-3", "²", "", "9" * 5000):
        assert forks.run(*words, COLUMNS=width)[0] == 0, width
    code, plain, said = forks.run(*words, encoding="ascii")
    assert (code, said) == (0, "") and plain.isascii() and len(plain) >= len(good) // 2
    code, _, said = forks.run(*words, stdout=CLOSED)
    if words[0] in ONLY_PRINTS:
        assert code == 2 and "standard output is closed" in said
    else:
        assert (code, said) == (0, "")
    assert forks.run(*words, stderr=CLOSED)[0] == 0
    code, _, said = forks.run(*words, stdout=FULL)
    assert (code, said.count("\n")) == (2, 1) and "No space left on device" in said
    assert forks.run(*words, stdout=FULL, stderr=FULL)[0] == 2


@pytest.mark.parametrize("words", REFUSED, ids=lambda words: " ".join(words)[:40])
def test_a_refusal_is_told_where_it_can_be(forks: Forks, words: tuple[str, ...]) -> None:
    for where in ({}, {"encoding": "ascii"}, {"stdout": FULL}, {"stdout": CLOSED}, {"COLUMNS": "0"}):
        code, _, said = forks.run(*words, **where)
        assert code == 2 and said.startswith("bakeoff: ") and "Traceback" not in said, where
    assert forks.run(*words, stderr=CLOSED)[0] == 2
    assert forks.run(*words, stderr=FULL)[0] == 2


@pytest.mark.parametrize("name", WRITING)
def test_a_file_is_whole_or_not_there(forks: Forks, name: str) -> None:
    words, target = WRITING[name], forks.folder / name
    surroundings = ({}, {"stdout": CLOSED}, {"stderr": CLOSED}, {"stdout": FULL}, {"encoding": "ascii"})
    for where in surroundings if name != "report.html" else surroundings[-2:]:  # charts take their time
        assert forks.run(*words, name, **where)[0] in (0, 2), where
        assert target.stat().st_size > 10, where
        target.unlink()
    odd = os.fsdecode(b"\xff" + os.fsencode(name))
    code, _, said = forks.run(*words, odd)
    assert code == 0, said
    (forks.folder / odd).unlink()
    code, _, said = forks.run(*words, "missing/" + name)
    assert code == 2 and said.startswith("bakeoff: ") and "Traceback" not in said
    assert {path.name for path in forks.folder.iterdir()} == {"r.bakeoff", "u.csv", ".out", ".err"}


def test_paths_that_are_no_text_are_read(forks: Forks) -> None:
    odd = os.fsdecode(b"r\xff.bakeoff")
    (forks.folder / odd).write_bytes((forks.folder / "r.bakeoff").read_bytes())
    for words in (("show",), ("compare",)):
        code, _, said = forks.run(*words, odd)
        assert code == 0, said
    for name in (os.fsdecode(b"no\xff.bakeoff"), "n" * 5000, "a/" * 3000):
        code, _, said = forks.run("show", name)
        assert code == 2 and said.startswith("bakeoff: ") and "Traceback" not in said
    for path in forks.folder.glob("r\udcff*"):
        path.unlink()


def test_a_run_is_measured_and_kept_whoever_listens(forks: Forks) -> None:
    with target("web", "--port", "0") as address:
        words = ["run", "web-url", f"a={address}", "--clients", "1", "--operations", "50", "--blocks", "1", "-o"]
        odd = os.fsdecode(b"\xfe.bakeoff")
        for name, where, expected in (
            ("1.bakeoff", {"stdout": CLOSED, "stderr": CLOSED}, 0),
            ("2.bakeoff", {"stdout": FULL, "stderr": FULL}, 2),
            (odd, {"encoding": "ascii", "COLUMNS": "0"}, 0),
        ):
            code, _, said = forks.run(*words, name, **where)
            assert code == expected, said
            found = read_run(forks.folder / name)
            assert [trial.state for trial in found.trials] == ["ok"] and found.finished_at is not None
            (forks.folder / name).unlink()


def test_the_interpreter_itself_starts_without_streams_and_letters(forks: Forks) -> None:
    """What forks cannot show: descriptors that were closed before the interpreter began, and its own encodings."""
    for script in (">&- 2>&-", "<&- >&- 2>/dev/null"):
        command = " ".join([*COMMAND, "users", "convert", "u.csv", "--to", "ldif", "-o", "closed", script])
        done = subprocess.run(["/bin/sh", "-c", command], cwd=forks.folder, check=False)
        assert done.returncode == 0
        assert (forks.folder / "closed").read_text().startswith("dn: uid=u1")
        (forks.folder / "closed").unlink()
    done = subprocess.run(
        ["/bin/sh", "-c", " ".join([*COMMAND, "compare", "r.bakeoff", ">&-"])],
        cwd=forks.folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and "standard output is closed" in done.stderr
    bare = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [*COMMAND, "compare", "r.bakeoff"], cwd=forks.folder, env=bare, capture_output=True, check=False
    )
    assert done.returncode == 0 and done.stdout.isascii() and not done.stderr
