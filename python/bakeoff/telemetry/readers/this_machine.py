"""This machine, and this process with all its threads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from bakeoff.telemetry.readers.proc_text import FILES, MOST_PARTS, SPEED_FILES, machine
from bakeoff.telemetry.readers.processes import own_of
from bakeoff.telemetry.reading import QuietSource, Reading, SampleError

MOST_BYTES = 1 << 20


def texts(system: Path = Path("/"), of: int | None = None, facts: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """The files of a machine that can be read; what is of the network as the process `of` sees it, which may be in a
    name space of its own. `facts` are what does not change, when they were read before.
    """
    found = dict(facts or {})
    for name, path in FILES.items():
        if name in found:
            continue
        if of is not None and path.startswith("/proc/net/"):
            path = path.replace("/proc/net/", f"/proc/{of}/net/")
        text = read(system / path.lstrip("/"))
        if text is not None:
            found[name] = text
    if facts is None and (of is None or _same_network(system, of)):
        for card in islice(system.glob(SPEED_FILES.lstrip("/")), MOST_PARTS):
            text = read(card)
            if text is not None:
                found[f"/{card.relative_to(system)}"] = text
    return found


def _same_network(system: Path, of: int) -> bool:
    """Whether it sees the links that this process sees: /sys has those of one name space alone."""
    try:
        return (system / f"proc/{of}/ns/net").stat().st_ino == (system / "proc/self/ns/net").stat().st_ino
    except OSError:
        return False


def read(path: Path) -> str | None:
    """A file of the kernel's; None where it cannot be read."""
    try:
        # Samples share processors with what is measured: a file object would double what they cost.
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        pieces, left = [], MOST_BYTES
        while left and (piece := os.read(file, left)):
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces).decode("utf-8", "replace")
    except OSError:
        return None
    finally:
        os.close(file)


def here(of: int | None = None, system: Path = Path("/"), found: Mapping[str, str] | None = None) -> Reading:
    """What this machine does, by the files `found` when they were read already. Raises SampleError where it has no
    /proc.
    """
    reading = machine(texts(system, of) if found is None else found)
    reading.facts["host"] = os.uname().nodename
    if "cpu_user_s" not in reading.counters:
        raise SampleError(f"{system / 'proc/stat'} cannot be read")
    return reading


class ThisProcess(QuietSource):
    """The load generator: its machine and itself."""

    def __init__(self) -> None:
        self._facts: Mapping[str, str] | None = None

    def sample(self, deadline_s: float) -> Reading:
        found = texts(facts=self._facts)
        if self._facts is None:
            self._facts = {name: text for name, text in found.items() if name == "boot_id" or name not in FILES}
        return here(found=found).with_(own_of(os.getpid()))
