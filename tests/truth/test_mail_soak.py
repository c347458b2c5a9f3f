"""Soaks of mail against a server that loses, defers or damages messages: whoever does has lost, however long it ran."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from bakeoff.compare import compare_run
from bakeoff.store.sqlite.read import read_run
from tests.cli.conftest import target
from tests.forks import COMMAND
from tests.told import headline_of

WORDS = ["--for", "4s", "--interval", "1s", "--clients", "2", "--ramp-up", "100ms", "--ramp-down", "100ms"]
# A server that answers at once keeps two processors busy for as long as a soak goes on.
CALM = ["--smtp-port", "0", "--pop3-port", "0", "--delay", "5ms"]


@pytest.fixture
def mail() -> Iterator[Callable[..., str]]:
    """`mail(flag, …)` starts the target on free ports and gives its address."""
    with ExitStack() as stack:
        yield lambda *words: stack.enter_context(target("mail", *CALM, *words))


@pytest.mark.parametrize("fault", [("--lose", "1/10"), ("--damage", "1/10")])
def test_a_soak_of_mail_names_who_did_not_keep_it(
    mail: Callable[..., str], tmp_path: Path, fault: tuple[str, str]
) -> None:
    users, path = tmp_path / "users.csv", tmp_path / "x.bakeoff"
    made = [*COMMAND, "users", "new", "--count", "10", "--domain", "bakeoff.test", "-o", str(users)]
    subprocess.run(made, check=True, capture_output=True)
    at = ("--users", str(users))
    contenders = [f"good={mail(*at)}", f"bad={mail(*at, *fault)}"]
    soak = ["soak", "mail-pop", *contenders, *at, *WORDS, "--sizes", "2KiB", "--drain-limit", "5s", "-o", str(path)]
    done = subprocess.run([*COMMAND, *soak], capture_output=True, text=True, check=False)
    assert path.exists(), done.stdout + done.stderr
    run = read_run(path)
    assert {interval.contender for interval in run.soak_intervals} == {"good", "bad"}
    found = compare_run(run)
    assert all(pair.primary.verdict.winner != "bad" for pair in found.pairs)
    assert headline_of(found)[0].startswith("bad is disqualified, it did not keep its mail"), headline_of(found)
    assert not any(text.startswith("good is disqualified") for text in headline_of(found))
