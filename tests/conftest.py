"""What all tests share: trials straight through the engine, and built-in targets that behave as told."""

import json
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

from bakeoff import _engine
from bakeoff.run.fleet import multi_agent_trial
from tests.control import PATIENCE_S
from tests.forks import forks
from tests.patient import be_patient

# A shell that starts the tests in the background leaves SIGINT ignored, here and in every child; tests of Ctrl-C
# need it as a terminal gives it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# No agent of this process is lost because the machine stood still: tests of lost agents set their own time.
multi_agent_trial.WATCHDOG_S = multi_agent_trial.READY_S = PATIENCE_S

# The same examples on every machine, however slow it is.
settings.register_profile("any machine", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

# Marks of runs that tests start (bakeoff.run.checks.plan_origin) belong into no real user's state folder.
_STATE = tempfile.TemporaryDirectory(prefix="bakeoff-test-state-")
os.environ["XDG_STATE_HOME"] = _STATE.name

# Tests of files look at the page cache, and some of them empty that of the whole machine: one at a time.
OWN_FILES = (
    "test_mix.py",
    "test_dbench_live.py",
    "test_iozone.py",
    "test_nfs.py",
    "test_smb.py",
    "test_example.py",
    "test_network_mounts.py",
)
SLOWEST_FIRST = ("files", "servers", "cluster", "truth", "faults", "cli")
# It waits for the build of the crates' tests.
LATE = "test_app_two_hosts.py"


class ByFile(LoadScopeScheduling):  # type: ignore[misc]
    """Tests of one file share servers and mounts, so they run one after the other, in one process. So do all
    of clusters: several of these at once would be more processes than a machine has memory for.
    """

    def _split_scope(self, nodeid: str) -> str:
        path = Path(nodeid.partition("::")[0])
        if path.parent.name == "cluster" and path.parent.parent.name == "tests":
            return "cluster"
        return "page cache" if path.parent.name == "files" and path.name not in OWN_FILES else str(path)


def pytest_configure(config: pytest.Config) -> None:
    """One process forks for all workers."""
    if not hasattr(config, "workerinput"):
        stack = ExitStack()
        stack.enter_context(forks())
        config.add_cleanup(stack.close)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """What may run beside what (`scripts/run_tests.py` uses several processes)."""
    return ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What begins first."""

    def rank(item: pytest.Item) -> int:
        folder = item.path.parent.name
        first = folder in SLOWEST_FIRST and item.path.name != LATE
        return SLOWEST_FIRST.index(folder) if first else len(SLOWEST_FIRST)

    items.sort(key=rank)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of this process count although the machine stood still or others had it for a moment."""
    be_patient(monkeypatch.setattr)


TrialRunner = Callable[..., dict[str, Any]]


class Target:
    """A built-in server of this process, with what it counted."""

    def __init__(self, **spec: Any) -> None:
        self._handle = _engine.serve(json.dumps({"kind": "web", **spec}))
        self.address: str = self._handle.address()

    def counts(self) -> dict[str, Any]:
        """What it has served, once no connection is open: a reply is counted just after it was written."""
        until = time.monotonic() + 120
        while True:
            counts: dict[str, Any] = json.loads(self._handle.counts())
            if counts["open"] == 0 or time.monotonic() > until:
                return counts
            time.sleep(0.01)

    def stop(self) -> None:
        """Ends it."""
        self._handle.stop()


@pytest.fixture
def target() -> Iterator[Callable[..., Target]]:
    """Makes targets that end with the test."""
    started: list[Target] = []

    def start(**spec: Any) -> Target:
        started.append(Target(**spec))
        return started[-1]

    yield start
    for one in started:
        one.stop()


def web_workload(address: str, **settings: Any) -> dict[str, Any]:
    """A workload of one class that fetches one page; `settings` override."""
    where: dict[str, Any] = {"addresses": [address]}
    if address.startswith("unix:"):
        where = {"unix": address.removeprefix("unix:")}
    page = {"path": settings.pop("path", "/page"), "length": settings.pop("length", 1024)}
    workload: dict[str, Any] = {
        "kind": "web",
        "scheme": "http",
        "host": "localhost",
        "http": "1.1",
        "keep_alive": True,
        "classes": [{"name": "page", "weight": 1, "expect": [200], "requests": [page]}],
        **where,
    }
    return workload | settings


def app_workload(address: str, mix: dict[str, float] | None = None, **settings: Any) -> dict[str, Any]:
    """A workload for `serve app`; `load_step` gives the weights of the kinds (default: all alike). What is measured is
    all that is asked: nobody looks again afterwards unless `look_again` is given.
    """
    kinds = mix or dict.fromkeys(("upload", "download", "processor", "read", "write"), 1.0)
    return {
        "kind": "app",
        "addresses": [address],
        "classes": [{"name": name, "weight": weight} for name, weight in kinds.items()],
        "upload_bytes": 1024,
        "download_bytes": 1024,
        "rounds": 1000,
        "record_bytes": 4096,
        "read_records": 1,
        "write_records": 1,
        "look_again": False,
    } | settings


def run_trial(workload: dict[str, Any], clients: int = 1, **spec: Any) -> dict[str, Any]:
    """Runs one trial to its end and returns its figures. One that is bounded by operations has time for them."""
    length_s = 600 if spec.get("max_operations") else 10
    whole = {"load": {"clients": clients}, "length_s": length_s, "seed": 1, **spec, "workload": workload}
    outcome = _engine.start(json.dumps(whole)).go().wait(PATIENCE_S)
    assert outcome is not None, "the trial did not end"
    result: dict[str, Any] = json.loads(outcome.json())
    return result
