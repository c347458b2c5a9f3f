"""The command as a user has it, against built-in targets: each a fork of one process that has loaded it."""

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.control import PATIENCE_S
from tests.forks import COMMAND

__all__ = ["COMMAND", "Bakeoff", "Serve"]
Bakeoff = Callable[..., subprocess.CompletedProcess[str]]
Serve = Callable[..., str]


@contextmanager
def target(*words: str) -> Iterator[str]:
    """A built-in target; gives its URL."""
    process = subprocess.Popen([*COMMAND, "serve", *words], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r" at (\S+)", line)
        assert found, line
        yield found[1]
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus of web-dynamic: the smaller one."""
    folder = tmp_path_factory.mktemp("corpus")
    subprocess.run([*COMMAND, "corpus", "web-dynamic", str(folder)], check=True, capture_output=True)
    return folder


@pytest.fixture
def serve(corpus: Path) -> Iterator[Serve]:
    """`serve(flag, …)` starts a target of the corpus on a free port and gives its URL."""
    with ExitStack() as stack:
        yield lambda *words: stack.enter_context(target("web", "--root", str(corpus), "--port", "0", *words))


@pytest.fixture
def bakeoff(tmp_path: Path) -> Bakeoff:
    """`bakeoff(word, …)` runs the command in an empty folder."""

    def run(*words: object, **options: object) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"COLUMNS": "200"}
        return subprocess.run(
            [*COMMAND, *map(str, words)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
            **options,
        )  # type: ignore[call-overload, no-any-return]

    return run
