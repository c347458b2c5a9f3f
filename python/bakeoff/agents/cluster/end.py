"""Ends what of a cluster runs on this machine, and begins it apart from a terminal."""

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from bakeoff.agents.cluster.records import Record, folder, records, runs
from bakeoff.core.errors import GeneratorError, PlanError

WAIT_S = 0.1
END_S = 30.0


def stop(name: str | None, stopped: Callable[[Record], None]) -> None:
    """End the agent of that name, or everything of a cluster that this user runs here. Raises PlanError."""
    found = [record for record in records() if name is None or record.name == name]
    if name is not None and not found:
        raise PlanError(f"no agent called {name} runs here: `bakeoff cluster status` lists who is in the cluster")
    for record in found:
        _end(record)
        stopped(record)


def _end(record: Record) -> None:
    """Its process ends all others of it; the lock tells that it is still the one that wrote the record."""
    with suppress(psutil.NoSuchProcess):
        keeper = psutil.Process(record.pid)
        if not runs(record):
            return
        keeper.terminate()
        try:
            keeper.wait(END_S)
        except psutil.TimeoutExpired:
            keeper.kill()  # Ray ends with the process that keeps it
            keeper.wait(END_S)


def begin_apart(words: Sequence[str], name: str) -> Record:
    """Run `bakeoff cluster WORDS` apart from this terminal, and return when it has joined. `name` is the agent's, empty
    for the head. Raises GeneratorError with what it said when it fails.
    """
    output = folder() / f"{f'agent-{name}' if name else 'head'}.out"
    with output.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "bakeoff", "cluster", *words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        while process.poll() is None:
            for record in records():
                if record.pid == process.pid and record.joined:
                    return record
            time.sleep(WAIT_S)
    except BaseException:
        process.terminate()
        process.wait()
        raise
    raise GeneratorError(_reason(output))


def _reason(output: Path) -> str:
    text = output.read_text(encoding="utf-8", errors="replace").strip()
    return text.removeprefix("bakeoff: ") or "it ended without a word"
