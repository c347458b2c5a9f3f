"""How many files of 1 MB `bakeoff audit` reads and checks a second, by format, and where the time goes.

Files are made: IOzone's matrix, a CSV table, fio's JSON of many jobs, a JMeter log. Figures fit each other, so that an
audit does what it does of results that are right. `--profile` prints the functions that take longest.

    python benchmarks/audits.py [--files 20] [--profile]
"""

import argparse
import cProfile
import json
import pstats
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from common import ROOT, machine_line

MB = 1_000_000
WANTED_FILES_PER_S = 1_000 / 60


def iozone(chance: random.Random) -> str:
    """A matrix of files from 64 kB on, each by 13 record sizes; rates differ by the file, as caches do."""
    head = (ROOT / "tests/data/iozone/auto-excel.txt").read_text().partition("              64       4")[0]
    lines, size, file = [head], len(head), 64
    while size < MB:
        for power in range(2, 15):
            if 1 << power > file:
                break
            rates = [chance.uniform(500_000, 9_000_000) for _ in range(13)]
            line = f"{file:>16}{1 << power:>8}" + "".join(f" {rate:>8.0f}" for rate in rates)
            lines.append(line + "\n")
            size += len(line) + 1
        file += 64
    return "".join(lines)


def table(chance: random.Random) -> str:
    """Rates by clients and contenders, as one types them from a paper, and far more."""
    lines, size, clients = ["clients,nginx (req/s),apache (req/s),caddy (req/s),envoy (req/s)\n"], 0, 0
    while size < MB:
        clients += 1
        rates = [50_000 * clients / (clients + 40 + 9 * at) * chance.uniform(0.99, 1.01) for at in range(4)]
        lines.append(f"{clients}," + ",".join(f"{rate:.2f}" for rate in rates) + "\n")
        size += len(lines[-1])
    return "".join(lines)


def fio(chance: random.Random) -> str:
    """JSON of jobs at rising depths, one after the other."""
    text = (ROOT / "tests/data/foreign/fio-depths.json").read_text()
    found = json.loads(text[text.index("{") :])
    job = found["jobs"][0]
    jobs, size, depth = [], 0, 0
    while size < MB:
        depth += 1
        done = chance.randrange(10_000, 99_999)
        read = dict(job["read"], total_ios=done, io_bytes=done * 4096, iops=done / 1.001, bw_bytes=done * 4096 / 1.001)
        mean = depth * 1.001e9 / done
        read["lat_ns"] = {"min": int(mean / 3), "max": int(mean * 9), "mean": mean, "stddev": mean / 4, "N": done}
        read["clat_ns"] = {
            "min": int(mean / 4), "max": int(mean * 8), "mean": mean * 0.9, "stddev": mean / 4, "N": done,
            "percentile": {f"{share:.6f}": int(mean * (0.5 + share / 100)) for share in (1, 5, 50, 90, 95, 99, 99.9)},
        }  # fmt: skip
        options = dict(job["job options"], iodepth=str(depth))
        jobs.append({**job, "groupid": depth, "job options": options, "read": read})
        size += len(json.dumps(jobs[-1], indent=1))
    return json.dumps(found | {"jobs": jobs}, indent=1)


def jmeter(chance: random.Random) -> str:
    """A log of samples."""
    lines, size = ["timeStamp,elapsed,label,success,bytes,allThreads\n"], 0
    while size < MB:
        number = len(lines)
        elapsed = chance.randrange(3, 12)  # a request begins each millisecond: 7 are on their way
        lines.append(f"{1795700000000 + number},{elapsed},page {number % 5},true,1264,8\n")
        size += len(lines[-1])
    return "".join(lines)


MADE: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "IOzone": ("txt", iozone),
    "CSV table": ("csv", table),
    "fio JSON": ("json", fio),
    "JMeter log": ("jtl", jmeter),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    print(machine_line())
    with tempfile.TemporaryDirectory() as folder:
        for name, (ending, make) in MADE.items():
            paths = [Path(folder) / f"{name} {number}.{ending}" for number in range(given.files)]
            for number, path in enumerate(paths):
                path.write_text(make(random.Random(number)))
            profile(paths) if given.profile else timed(name, paths)


def timed(name: str, paths: list[Path]) -> None:
    """The command as one types it."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "bakeoff", "audit", *map(str, paths)], stdout=subprocess.PIPE, text=True
    )
    took_s, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    busy_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode not in (0, 1):
        raise SystemExit(f"{name}: the audit ended with {done.returncode}")
    size = sum(path.stat().st_size for path in paths) / len(paths) / MB
    print(
        f"{name}: {len(paths) / took_s:.1f} files/s of {size:.2f} MB, {busy_s / len(paths):.3f} s of processor a file"
    )
    print("   ", done.stdout.strip().splitlines()[-1])


def profile(paths: list[Path]) -> None:
    """The same, in this process."""
    from typer.testing import CliRunner

    from bakeoff.cli.app import app

    watch = cProfile.Profile()
    watch.runcall(CliRunner().invoke, app, ["audit", *map(str, paths)])
    pstats.Stats(watch).sort_stats("tottime").print_stats(18)


if __name__ == "__main__":
    main()
