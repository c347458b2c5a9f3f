"""Which processors send load, and which are left to Ray."""

import os
import subprocess
import sys

import pytest

from bakeoff.agents.cluster.cores import divide, parse_cores
from bakeoff.core.errors import PlanError

CORES = (0, 1, 2, 5)
THREADS = """
import os, threading
from bakeoff.agents.cluster.cores import use_agent_cores
wait = threading.Event()
threads = [threading.Thread(target=wait.wait) for _ in range(3)]
for thread in threads: thread.start()
use_agent_cores()
print({tuple(os.sched_getaffinity(int(task))) for task in os.listdir("/proc/self/task")})
wait.set()
"""


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(CORES))


@pytest.mark.parametrize(("text", "right"), [("1", (1,)), ("0-2", (0, 1, 2)), ("5,0", (0, 5)), ("0-2,5", CORES)])
def test_cores_are_named_as_taskset_names_them(text: str, right: tuple[int, ...]) -> None:
    assert parse_cores(text) == right


@pytest.mark.parametrize("text", ["", "a", "1-", "-1", "3", "0-5", "2-1", "9" * 30, "1,,2", "0x1", "１"])
def test_cores_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(PlanError, match="cores"):
        parse_cores(text)


def test_what_does_not_send_load_is_ray_s() -> None:
    assert divide(None, spare=False) == (CORES, CORES)
    assert divide("1,2", spare=False) == ((1, 2), (0, 5))
    assert divide("0-2,5", spare=False) == (CORES, CORES)
    assert divide(None, spare=True) == ((1, 2, 5), (0,))
    with pytest.raises(PlanError, match="give one of them"):
        divide("1", spare=True)


def test_one_core_has_none_to_spare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3})
    with pytest.raises(PlanError, match="may use one only"):
        divide(None, spare=True)


def test_all_threads_of_an_agent_keep_to_its_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    core = max(os.sched_getaffinity(0))
    for one, right in ((str(core), (core,)), ("", tuple(sorted(os.sched_getaffinity(0))))):
        environment = {**os.environ, "BAKEOFF_AGENT_CORES": one}
        done = subprocess.run(
            [sys.executable, "-c", THREADS], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == str({right})
