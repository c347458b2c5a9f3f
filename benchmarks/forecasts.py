"""What `bakeoff plan` says that a run takes, against the wall time of `bakeoff run` from command to prompt.

    python benchmarks/forecasts.py [FOLDER …] [--only SUITE] [--long]

Two contenders each: folders of file suites lie in FOLDER (/dev/shm and /var/tmp by default), other suites ask
built-in servers. `--long` adds sizes of minutes. Ends with 1 when a forecast is off by more than
30 %. It needs a quiet machine.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from common import ROOT, machine_line

from bakeoff.core.system.mounts import mount_of
from bakeoff.plan.load import PlanInput, resolve_plan
from bakeoff.run.kind import run_part

sys.path.insert(0, str(ROOT))
from tests.conftest import Target

FOLDERS = [Path("/dev/shm"), Path("/var/tmp")]
WITHIN = 0.30
LONGEST_S = 1800
SHORT = {"length": "1s", "ramp_up": "100ms", "ramp_down": "100ms", "clients": "1,4"}

# suite, what is given of the plan, its settings, and whether it takes minutes
FILES: list[tuple[str, dict[str, str], dict[str, str], bool]] = [
    ("file-matrix", {"size": "quick"}, {}, False),
    ("file-matrix", {"size": "long", "blocks": "1"}, {}, False),
    ("file-matrix", {"size": "medium", "blocks": "2"}, {}, True),
    ("file-matrix", {"size": "long"}, {}, True),
    ("file-blocks", {"size": "quick", "blocks": "2"}, {}, False),
    ("file-blocks", {"size": "quick", "blocks": "1"}, {"outstanding": "4", "load_steps": "2"}, False),
    ("file-blocks", {"size": "quick"}, {}, True),
    ("file-mix", {"size": "quick", "blocks": "1"}, {}, False),
    ("file-mix", {"size": "quick"}, {}, True),
]
SERVERS: list[tuple[str, str, dict[str, str], dict[str, str], bool]] = [
    ("web-url", "web", {"blocks": "2"}, SHORT, False),
    ("web-url", "web", {"size": "quick"}, {}, True),
    ("httperf", "web", {"blocks": "2"}, {"rate": "200", "num_conns": "400"}, False),
    ("app", "app", {"blocks": "2"}, SHORT, False),
    ("app", "app", {"size": "quick"}, {}, True),
]

Row = tuple[str, float, float]


def over_wall(words: str, suite: str, head: dict[str, str], settings: dict[str, str], addresses: list[str]) -> Row:
    """Name, forecast and wall time of a run, in seconds."""
    contenders = [{"name": name, "address": address} for name, address in zip("ab", addresses, strict=True)]
    plan = resolve_plan(PlanInput("", {"suite": suite, **head}, settings, contenders))
    forecast_s = run_part(plan.kind).foresee(plan, True, acts=True).expected.run_s
    given = [f"--{key.replace('_', '-')}={value}" for key, value in {**head, **settings}.items()]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "bakeoff", "run", suite, *(f"{c['name']}={c['address']}" for c in contenders)]
        began_s = time.monotonic()
        done = subprocess.run(
            [*command, *given, "-o", f"{folder}/r.bakeoff"], capture_output=True, text=True, timeout=LONGEST_S
        )
        wall_s = time.monotonic() - began_s
    if done.returncode not in (0, 3, 4):
        raise SystemExit(done.stderr)
    texts = " ".join(f"{key}={value}" for key, value in {**head, **settings}.items())
    return (f"{suite} {texts}, {words}", forecast_s, wall_s)


def rows(folders: list[Path], only: str | None, long: bool) -> Iterator[Row]:
    """Those that were asked for, one after the other."""
    for parent in folders:
        for suite, head, settings, minutes in FILES:
            if (long or not minutes) and only in (None, suite):
                with tempfile.TemporaryDirectory(dir=parent, prefix="bakeoff-bench-") as folder:
                    addresses = [f"{folder}/{name}" for name in "ab"]
                    for address in addresses:
                        Path(address).mkdir()
                    yield over_wall(mount_of(parent).type, suite, head, settings, addresses)
    for suite, kind, head, settings, minutes in SERVERS:
        if (long or not minutes) and only in (None, suite):
            servers = [Target(kind=kind) for _ in range(2)]
            scheme = "http://" if kind == "web" else ""
            addresses = [scheme + server.address for server in servers]
            yield over_wall("built-in servers", suite, head, settings, addresses)
            for server in servers:
                server.stop()


def main() -> int:
    """Prints a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, default=FOLDERS)
    parser.add_argument("--only")
    parser.add_argument("--long", action="store_true")
    given = parser.parse_args()
    print(f"{machine_line()}\n{'forecast':>10} {'wall':>9} {'off by':>8}  run")
    missed = 0
    for name, forecast_s, wall_s in rows(given.folders, given.only, given.long):
        off = forecast_s / wall_s - 1.0
        missed += abs(off) > WITHIN
        print(f"{forecast_s:8.1f} s {wall_s:7.1f} s {off:+8.0%}  {name}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
