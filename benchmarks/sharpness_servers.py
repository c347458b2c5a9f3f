"""The servers of benchmarks/sharpness.py: two nginx of one configuration, and one that does more for each request.

How much slower the third one is, is not assumed: a bare client (floor.c) asks all three in turns, and what the workers
use of a processor for a request is read from the kernel.
"""

import contextlib
import itertools
import math
import os
import random
import socket
import statistics
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bakeoff.plan.design.order import shuffled_square

HERE = Path(__file__).resolve().parent
NAMES = ("one", "same", "slower")
PAGE, PAGE_BYTES = "page.html", 2895
CLIENTS = (1, 4, 8)
# A pattern that begins to match and never does: a fraction of a microsecond of the worker.
PATTERN = '    if ($request_uri ~ "^/p(a|b|c)*ge.*(html|htm).*zz$") { set $never 1; }\n'


@dataclass(frozen=True)
class Server:
    """A started nginx with one worker."""

    name: str
    port: int
    worker: int

    @property
    def url(self) -> str:
        """Its page."""
        return f"http://127.0.0.1:{self.port}/{PAGE}"


@contextlib.contextmanager
def three_servers(folder: Path, patterns: int, core: int | None) -> Iterator[dict[str, Server]]:
    """The servers by name, the third with so many patterns to try at each request; bound to a core if one is given."""
    root = folder / "pages"
    root.mkdir(exist_ok=True, parents=True)
    for place in (folder, root):
        place.chmod(0o755)
    (root / PAGE).write_bytes(b"x" * PAGE_BYTES)
    with contextlib.ExitStack() as stack:
        counts = dict.fromkeys(NAMES[:2], 0) | {NAMES[2]: patterns}
        yield {name: stack.enter_context(_nginx(folder / name, root, name, n, core)) for name, n in counts.items()}


@contextlib.contextmanager
def _nginx(folder: Path, root: Path, name: str, patterns: int, core: int | None) -> Iterator[Server]:
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    paths = "".join(f"  {kind}_temp_path {folder};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        f"daemon off;\nworker_processes 1;\npid {folder}/pid;\nerror_log {folder}/error.log;\n"
        f"events {{ worker_connections 1024; }}\nhttp {{\n  access_log off;\n  sendfile on;\n{paths}"
        f"  server {{\n    listen 127.0.0.1:{port};\n    root {root};\n{PATTERN * patterns}  }}\n}}\n"
    )
    command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]
    command = command if core is None else ["taskset", "-c", str(core), *command]
    path = os.environ["PATH"] + ":/usr/sbin"
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=os.environ | {"PATH": path})
    try:
        worker = _worker(process, port)
        yield Server(name, port, worker)
    finally:
        process.terminate()
        process.wait(20)


def _worker(process: "subprocess.Popen[bytes]", port: int) -> int:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    for _ in range(200):
        with contextlib.suppress(OSError, ValueError), socket.create_connection(("127.0.0.1", port), 1):
            return int(children.read_text().split()[0])
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise SystemExit("nginx did not start: is it installed (packages.txt)?")


def build_floor(folder: Path) -> Path:
    """The bare client."""
    program = folder / "floor"
    subprocess.run(["cc", "-O2", "-o", str(program), str(HERE / "floor.c")], check=True)
    return program


def weights(clients: Sequence[int] = CLIENTS) -> list[float]:
    """Those of the primary endpoint."""
    from bakeoff.stats.series.curve import trapezoid_weights

    return [float(weight) for weight in trapezoid_weights(clients)]


def bare_blocks(
    program: Path, servers: Mapping[str, Server], blocks: int, seconds: float, core: int | None, seed: int
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Bare trials back to back, all servers at each load step in turns: by server the logarithms of its rate, weighted
    over the load steps, one for each block; and the processor time of its worker for a request, µs.
    """
    rng, share = random.Random(seed), weights()
    logs: dict[str, list[float]] = {name: [] for name in servers}
    used, asked = dict.fromkeys(servers, 0), dict.fromkeys(servers, 0)
    rows = itertools.chain.from_iterable(shuffled_square(len(servers), rng) for _ in itertools.count())
    names = list(servers)
    for _ in range(blocks):
        sums = dict.fromkeys(servers, 0.0)
        for clients, weight in zip(CLIENTS, share, strict=True):
            for name in (names[place] for place in next(rows)):
                server = servers[name]
                before = _run_ns(server.worker)
                requests, elapsed = _ask(program, server, clients, seconds, core)
                used[name] += _run_ns(server.worker) - before
                asked[name] += requests
                sums[name] += weight * math.log(requests / elapsed)
        for name, value in sums.items():
            logs[name].append(value)
    return logs, {name: used[name] / asked[name] / 1e3 for name in servers}


def _ask(program: Path, server: Server, clients: int, seconds: float, core: int | None) -> tuple[int, float]:
    command = [str(program), str(server.port), f"/{PAGE}", str(clients), str(seconds), "close"]
    command = command if core is None else ["taskset", "-c", str(core), *command]
    words = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return int(words[0]), float(words[1])


def _run_ns(pid: int) -> int:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def difference(logs: Mapping[str, Sequence[float]], first: str, second: str) -> tuple[float, float, float]:
    """Of the paired logarithms first - second: mean, half of its 95 % interval, and standard deviation of a block."""
    from scipy import stats

    pairs = [a - b for a, b in zip(logs[first], logs[second], strict=True)]
    sd = statistics.stdev(pairs)
    return statistics.fmean(pairs), float(stats.t.ppf(0.975, len(pairs) - 1)) * sd / math.sqrt(len(pairs)), sd
