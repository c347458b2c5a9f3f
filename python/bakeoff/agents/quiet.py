"""How the threads of this process stand behind those that make load."""

import gc
import os
import re
import shutil
import subprocess
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from bakeoff.agents.spec import TrialSpec
from bakeoff.own_process import THIS

SS_S = 5.0


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage is collected meanwhile: a collection holds a processor for tens of milliseconds."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def behind(spec: TrialSpec, can_return: bool) -> tuple[bool, list[int]] | None:
    """Whether the other threads may be in the idle class during a trial, and their processors, none for any; None where
    they are not touched.
    """
    if not THIS.is_own:
        return None
    allowed = os.sched_getaffinity(0)
    others = [processors_of(peer) for peer in spec.workload.peers] if spec.pin else []
    return THIS.may_idle and can_return, spare(allowed, spec.pin, others)


def spare(allowed: Collection[int], pin: Collection[int] | None, contenders: Sequence[Collection[int]]) -> list[int]:
    """Processors that neither load threads nor contenders have; where contenders leave none, those that load threads
    leave; none when nobody is known to keep to some.
    """
    left = set(allowed) - set(pin or allowed)
    free = left.difference(*contenders)
    return sorted(free or left)


def processors_of(peer: str) -> set[int]:
    """The processors of whoever listens at a `host:port` of this machine, none when nobody is seen there."""
    host, _, port = peer.rpartition(":")
    program = shutil.which("ss") or shutil.which("ss", path="/usr/bin:/usr/sbin:/bin:/sbin")
    if program is None or not (host.startswith("127.") or host == "[::1]") or not port.isdigit():
        return set()
    try:
        command = [program, "-ltnpH", f"sport = :{port}"]
        told = subprocess.run(command, capture_output=True, text=True, timeout=SS_S, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return set()
    found = set[int]()
    for pid in re.findall(r"pid=(\d+)", told):
        try:
            found |= os.sched_getaffinity(int(pid))
        except OSError:
            continue
    return found
