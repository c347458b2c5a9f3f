"""What is kept ends when a process does that it is nothing without, and leaves nothing behind."""

import subprocess
import sys
import time
from pathlib import Path

import psutil

from tests.control import PATIENCE_S

KEEP = """
import sys
from bakeoff.agents.cluster.keep import keep
from bakeoff.agents.cluster.records import Claim, Record
from bakeoff.core.errors import GeneratorError
folder, *command = sys.argv[1:]
claim = Claim(Record("m1", "10.0.0.1:6379", "10.0.0.2", 1, "token", folder, folder + "/log"), folder + "/record")
def joined():
    claim.record = Record(**{**vars(claim.record), "joined": True})
    print("joined", flush=True)
try:
    keep(claim, command, {}, None, joined)
except GeneratorError as error:
    sys.exit(str(error))
"""
RAY = """
import subprocess, sys, time
children = [subprocess.Popen([name, "3600"]) for name in sys.argv[1:]]
print("This command will now block forever", flush=True)
while True:
    time.sleep(0.05)
    [child.poll() for child in children]
"""


def test_one_whose_raylet_ends_in_good_order_ends_though_ray_waits_on(tmp_path: Path) -> None:
    children = [tmp_path / name for name in ("raylet", "agent")]
    for child in children:
        child.symlink_to("/bin/sleep")
    command = [sys.executable, "-c", RAY, *map(str, children)]
    with subprocess.Popen(
        [sys.executable, "-c", KEEP, str(tmp_path), *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as kept:
        assert kept.stdout and kept.stderr and kept.stdout.readline() == "joined\n"
        begun = {child.name(): child for child in psutil.Process(kept.pid).children(recursive=True)}
        begun["raylet"].terminate()
        assert kept.wait(PATIENCE_S) == 1
        said = kept.stderr.read()
    assert "agent m1 left the cluster at 10.0.0.1:6379" in said and "Ray ended here" in said
    # Whoever has ended may not be waited for by anybody: nobody here is its parent.
    until = time.monotonic() + PATIENCE_S
    while any(map(still_runs, begun.values())):
        assert time.monotonic() < until, begun
        time.sleep(0.01)


def still_runs(process: psutil.Process) -> bool:
    """Whether it has not ended, waited for or not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
