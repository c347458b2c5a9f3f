"""What must be alike on all machines of a fleet: rights of the process that sends load, and what it was built of."""

import hashlib
import os
import platform
import resource
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from bakeoff import __version__
from bakeoff.agents.machine.quota import quota_cores


@dataclass(frozen=True)
class Limits:
    """A process that sends load. JSON holds it: plain numbers and texts, and a tuple of numbers.

    `nice` is its niceness; `open_files` its hard limit, None without one; `affinity` the processors that it may use,
    `quota_cores` how many of them its control group allows, None without a limit. `python` and `ray` are versions, None
    where Ray is not installed; `package` is Bakeoff's, `engine` and `sources` hashes of its shared object and of its
    Python files.
    """

    nice: int = 0
    open_files: int | None = None
    affinity: tuple[int, ...] = (0,)
    quota_cores: float | None = None
    python: str = ""
    ray: str | None = None
    package: str = ""
    engine: str = ""
    sources: str = ""

    @property
    def cores(self) -> float:
        """Processors that it can use at once."""
        return len(self.affinity) if self.quota_cores is None else min(len(self.affinity), self.quota_cores)


def limits() -> Limits:
    """Those of this process."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return Limits(
        nice=os.getpriority(os.PRIO_PROCESS, 0),
        open_files=None if hard == resource.RLIM_INFINITY else hard,
        affinity=tuple(sorted(os.sched_getaffinity(0))),
        quota_cores=quota_cores(),
        python=platform.python_version(),
        ray=ray_version(),
        package=__version__,
        engine=engine_hash(),
        sources=sources_hash(),
    )


def ray_version() -> str | None:
    """Which Ray is installed, without loading it."""
    try:
        return metadata.version("ray")
    except metadata.PackageNotFoundError:
        return None


@cache
def engine_hash() -> str:
    """A hash of the engine's shared object; empty when it was not built."""
    found = find_spec("bakeoff._engine")
    if found is None or not found.origin:
        return ""
    with Path(found.origin).open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=8)).hexdigest()


@cache
def sources_hash() -> str:
    """A hash of the package's Python files and of the suites: what reads plans and checks contenders."""
    package, read = Path(str(files("bakeoff"))), hashlib.blake2b(digest_size=8)
    for path in sorted((*package.rglob("*.py"), *package.rglob("*.toml"))):
        read.update(f"{path.relative_to(package)}\0".encode())
        read.update(path.read_bytes())
    return read.hexdigest()
