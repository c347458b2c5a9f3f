"""Bakeoff beside other load generators: the same server, the same load, interleaved, medians.

The generator is bound to one core and the server to another. Each repeat visits every tool once, in an order
that turns by one, so that drift of the machine falls on all alike. `--write` puts the table into
docs/performance.md.

    python benchmarks/web.py [--repeats 5] [--seconds 2] [--only CASE] [--write]
"""

import argparse
import contextlib
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from common import machine_line, put_table

from bakeoff import _engine

ROOT = Path(__file__).resolve().parent.parent
SERVER_CORE, CLIENT_CORE = "0", "1"
NGINX_PORT, TLS_PORT, NULL_PORT, NULL_CLOSE_PORT = 18081, 18443, 18090, 18091
HTTP2_PORT, HTTP2_TLS_PORT = 18082, 18444
SIZES = {"1k": 1024, "64k": 65536, "550k": 550_000}


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    name: str
    port: int
    path: str
    connections: int
    keep_alive: bool
    tls: bool = False
    reset: bool = False
    streams: int = 0  # of HTTP/2, on each connection; 0 is HTTP/1

    @property
    def url(self) -> str:
        """The address for tools that take one."""
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}{self.path}"


CASES = [
    Case("1 KB, keep-alive, null server, 60 connections", NULL_PORT, "/1k", 60, True),
    Case("1 KB, keep-alive, null server, 1 connection", NULL_PORT, "/1k", 1, True),
    Case("1 KB, closed per request, null server, 60 connections", NULL_CLOSE_PORT, "/1k", 60, False),
    Case("1 KB, closed per request, null server, 1 connection", NULL_CLOSE_PORT, "/1k", 1, False),
    Case("1 KB, keep-alive, nginx, 60 connections", NGINX_PORT, "/1k", 60, True),
    Case("1 KB, keep-alive, nginx, 1 connection", NGINX_PORT, "/1k", 1, True),
    Case("1 KB, closed per request, nginx, 60 connections", NGINX_PORT, "/1k", 60, False),
    Case("1 KB, closed with a reset, nginx, 60 connections", NGINX_PORT, "/1k", 60, False, reset=True),
    Case("1 KB, closed per request, nginx, 1 connection", NGINX_PORT, "/1k", 1, False),
    Case("64 KB, keep-alive, nginx, 60 connections", NGINX_PORT, "/64k", 60, True),
    Case("550 KB, keep-alive, nginx, 60 connections", NGINX_PORT, "/550k", 60, True),
    Case("1 KB over TLS, keep-alive, nginx, 60 connections", TLS_PORT, "/1k", 60, True, tls=True),
    Case("1 KB, HTTP/2, nginx, 10 connections of 10 streams", HTTP2_PORT, "/1k", 10, True, streams=10),
    Case("1 KB, HTTP/2, nginx, 10 connections of 1 stream", HTTP2_PORT, "/1k", 10, True, streams=1),
    Case("1 KB, HTTP/2, nginx, 1 connection of 100 streams", HTTP2_PORT, "/1k", 1, True, streams=100),
    Case("64 KB, HTTP/2, nginx, 10 connections of 10 streams", HTTP2_PORT, "/64k", 10, True, streams=10),
    Case(
        "1 KB, HTTP/2 over TLS, nginx, 10 connections of 10 streams", HTTP2_TLS_PORT, "/1k", 10, True, True, streams=10
    ),
]

Figures = tuple[float, float]  # requests/s, generator CPU per request in µs


def run_tool(command: list[str], read: Callable[[str], tuple[float, float]]) -> Figures | None:
    """Runs a tool bound to its core; `read` gives (requests, seconds) from its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    bound = ["timeout", "8", "taskset", "-c", CLIENT_CORE]
    done = subprocess.run([*bound, *command], capture_output=True, text=True, check=False)
    if done.returncode == 124:
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    try:
        requests, seconds = read(done.stdout + done.stderr)
    except (TypeError, ValueError, KeyError, IndexError):
        raise SystemExit(f"cannot read the output of {' '.join(command)}:\n{done.stdout}{done.stderr}") from None
    return requests / seconds, cpu_s * 1e6 / requests


def number(pattern: str, text: str) -> float:
    """The first group of a pattern as a number."""
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(pattern)
    return float(found[1])


def bakeoff(case: Case, seconds: float, poll: bool = False) -> Figures:
    """One trial with full recording. CPU is that of the load thread in the window, system time included."""
    spec = {
        "workload": {
            "kind": "web",
            "scheme": "https" if case.tls else "http",
            "host": "localhost",
            "addresses": [f"127.0.0.1:{case.port}"],
            "http": "2" if case.streams else "1.1",
            "keep_alive": case.keep_alive,
            "close_with_reset": case.reset,
            "tls": {"verify": False} if case.tls else None,
            "classes": [
                {
                    "name": "page",
                    "weight": 1,
                    "expect": [200],
                    "requests": [{"path": case.path, "length": SIZES[case.path[1:]]}],
                }
            ],
        },
        "load": {"clients": case.connections},
        "streams": case.streams or 1,
        "length_s": seconds,
        "ramp_up_s": 0.2,
        "pin": [int(CLIENT_CORE)],
        "poll": poll,
        "seed": 1,
    }
    outcome = _engine.start(json.dumps(spec)).go().wait(120)
    assert outcome is not None
    result = json.loads(outcome.json())
    assert not result["errors"], result["errors"]
    return result["operations"] / result["window_s"], result["generator"]["cpu_us_per_operation"]


def polling(case: Case, seconds: float) -> Figures:
    """The same with `--poll on`: the generator has its core to itself here."""
    return bakeoff(case, seconds, poll=True)


def floor(case: Case, seconds: float) -> Figures | None:
    """A bare C client without recording, built by `prepare`."""
    if case.tls:
        return None
    mode = "keep" if case.keep_alive else "reset" if case.reset else "close"
    command = [os.environ["BAKEOFF_FLOOR"], str(case.port), case.path, str(case.connections), str(seconds), mode]

    def read(text: str) -> tuple[float, float]:
        requests, elapsed = text.split()
        return float(requests), float(elapsed)

    return run_tool(command, read)


def wrk(case: Case, seconds: float) -> Figures | None:
    """wg/wrk, one thread."""
    close = [] if case.keep_alive else ["-H", "Connection: close"]
    command = ["wrk", "-t1", f"-c{case.connections}", f"-d{seconds:g}s", *close, case.url]

    def read(text: str) -> tuple[float, float]:
        return number(r"(\d+) requests in", text), number(r"requests in ([\d.]+)s", text)

    return run_tool(command, read)


def ab(case: Case, seconds: float) -> Figures | None:
    """ApacheBench."""
    keep = ["-k"] if case.keep_alive else []
    command = ["ab", "-q", "-t", f"{seconds:.0f}", "-n", "99999999", "-c", str(case.connections), *keep, case.url]

    def read(text: str) -> tuple[float, float]:
        return number(r"Complete requests:\s+(\d+)", text), number(r"Time taken for tests:\s+([\d.]+)", text)

    return run_tool(command, read)


def h2load(case: Case, seconds: float) -> Figures | None:
    """nghttp2's h2load. Where connections close, version 1.52 ends by count only, not by time."""
    closing = ["-n", str(int(seconds * 50_000)), "-H", "connection: close"]
    load = ["-D", f"{seconds:.0f}"] if case.keep_alive else closing
    version = [f"-m{case.streams}"] if case.streams else ["--h1"]
    command = ["h2load", *version, f"-c{case.connections}", "-t1", *load, case.url]

    def read(text: str) -> tuple[float, float]:
        return number(r"(\d+) succeeded", text), duration_s(text)

    return run_tool(command, read)


def duration_s(text: str) -> float:
    """h2load's `finished in`, which it prints in the unit that suits."""
    found = re.search(r"finished in ([\d.]+)(us|ms|s)\b", text)
    if found is None:
        raise ValueError("finished in")
    return float(found[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1.0}[found[2]]


def httperf(case: Case, seconds: float) -> Figures | None:
    """httperf: sequential connections when closing, sessions when keeping; it has no other closed loop."""
    if case.tls or (not case.keep_alive and case.connections > 1):
        return None
    where = ["--hog", "--server", "127.0.0.1", "--port", str(case.port), "--uri", case.path]
    # It stops by count only: about as many as it can do in the time.
    per_s = {"/550k": 3_000, "/64k": 30_000}.get(case.path, 10_000 if case.connections == 1 else 80_000)
    if case.keep_alive:
        load = [f"--wsess={case.connections},{int(seconds * per_s) // case.connections},0", "--rate", "100000"]
    else:
        load = ["--num-conns", str(int(seconds * per_s)), "--http-version", "1.0"]

    def read(text: str) -> tuple[float, float]:
        return number(r"replies (\d+)", text), number(r"test-duration ([\d.]+) s", text)

    return run_tool(["httperf", *where, *load], read)


def oha(case: Case, seconds: float) -> Figures | None:
    """oha without its display."""
    keep = [] if case.keep_alive else ["--disable-keepalive"]
    insecure = ["--insecure"] if case.tls else []
    command = ["oha", "--no-tui", "-c", str(case.connections), "-z", f"{seconds:g}s", *keep, *insecure, case.url]

    def read(text: str) -> tuple[float, float]:
        replies = sum(map(float, re.findall(r"\[\d{3}\] (\d+) responses", text)))
        return replies, replies / number(r"Requests/sec:\s+([\d.]+)", text)

    return run_tool(command, read)


def hey(case: Case, seconds: float) -> Figures | None:
    """hey, which does not check certificates."""
    close = [] if case.keep_alive else ["-disable-keepalive"]
    command = ["hey", "-z", f"{seconds:g}s", "-c", str(case.connections), *close, case.url]

    def read(text: str) -> tuple[float, float]:
        return number(r"\[200\]\s+(\d+) responses", text), number(r"Total:\s+([\d.]+) secs", text)

    return run_tool(command, read)


def siege(case: Case, seconds: float) -> Figures | None:
    """siege without delays; its settings come from a file alone."""
    with tempfile.TemporaryDirectory() as home:
        settings = Path(home) / "siege.conf"
        settings.write_text(
            f"connection = {'keep-alive' if case.keep_alive else 'close'}\nparser = false\nlimit = 255\n"
        )
        where = ["env", f"HOME={home}", "siege", f"--rc={settings}"]
        command = [*where, "-b", "-q", "-j", "-c", str(case.connections), "-t", f"{max(seconds, 1):.0f}S", case.url]

        def read(text: str) -> tuple[float, float]:
            done = number(r'"successful_transactions":\s+([\d.]+)', text)
            return done, number(r'"elapsed_time":\s+([\d.]+)', text)

        return run_tool(command, read)


def vegeta(case: Case, seconds: float) -> Figures | None:
    """vegeta as a closed loop: as many workers as connections, at no fixed rate."""
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "targets").write_text(f"GET {case.url}\n")
        workers = str(case.connections)
        command = [
            "vegeta", "attack", "-rate=0", "-workers", workers, "-max-workers", workers, "-connections", workers,
            f"-keepalive={str(case.keep_alive).lower()}", "-insecure", "-max-body=0", f"-duration={seconds:g}s",
            f"-targets={place}/targets", f"-output={place}/results",
        ]  # fmt: skip

        def read(text: str) -> tuple[float, float]:
            result = subprocess.run(
                ["vegeta", "report", "-type=json", f"{place}/results"], capture_output=True, check=True
            )
            report = json.loads(result.stdout)
            return report["requests"] * report["success"], (report["duration"] + report["wait"]) / 1e9

        return run_tool(command, read)


TOOLS: dict[str, Callable[[Case, float], Figures | None]] = {
    "floor": floor,
    "bakeoff": bakeoff,
    "bakeoff --poll on": polling,
    "wrk": wrk,
    "ab": ab,
    "h2load": h2load,
    "httperf": httperf,
    "oha": oha,
    "hey": hey,
    "siege": siege,
    "vegeta": vegeta,
}


OWN = ("floor", "bakeoff", "bakeoff --poll on")
SPEAK_HTTP2 = ("bakeoff", "bakeoff --poll on", "h2load")


def is_installed(tool: str) -> bool:
    """Whether a tool of TOOLS can be run here."""
    return tool in OWN or shutil.which(tool) is not None


@contextlib.contextmanager
def servers(folder: Path) -> Iterator[None]:
    """nginx and two null servers on the server's core."""
    pages = folder / "pages"
    pages.mkdir()
    folder.chmod(0o755)
    for name, size in SIZES.items():
        (pages / name).write_bytes(os.urandom(size))
    openssl = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    paths = ["-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run([*openssl, *paths], check=True, capture_output=True)
    temporary = " ".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;\n"
        "events { worker_connections 4096; }\n"
        f"http {{ {temporary} access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;\n"
        "open_file_cache max=100;\n"
        f"server {{ listen 127.0.0.1:{NGINX_PORT} backlog=4096; listen 127.0.0.1:{TLS_PORT} ssl;\n"
        f"ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem; root {pages}; }}\n"
        # With sendfile a small reply over HTTP/2 waits 40 ms for its second half.
        f"server {{ listen 127.0.0.1:{HTTP2_PORT} http2 backlog=4096; listen 127.0.0.1:{HTTP2_TLS_PORT} ssl http2;\n"
        f"ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem; root {pages};\n"
        "sendfile off; tcp_nopush off; } }\n"
    )
    target = str(ROOT / "target/release/bakeoff-targets")
    commands = [
        [shutil.which("nginx", path="/usr/sbin:/usr/bin") or "nginx", "-c", f"{folder}/nginx.conf", "-p", str(folder)],
        [target, "null", "--port", str(NULL_PORT)],
        [target, "null", "--port", str(NULL_CLOSE_PORT), "--close"],
    ]
    running = [
        subprocess.Popen(["taskset", "-c", SERVER_CORE, *command], stdout=subprocess.DEVNULL) for command in commands
    ]
    try:
        time.sleep(4)  # nginx tries to bind for so long before it gives up
        if any(process.poll() is not None for process in running):
            raise SystemExit("a server did not start: are the ports free, and was `make bench` used?")
        yield
    finally:
        for process in running:
            process.terminate()
            process.wait(10)


def paired(own: list[Figures], other: list[Figures], which: int) -> float:
    """The median over repeats of own ÷ other: what slows the machine for a while slows both."""
    return statistics.median(a[which] / b[which] for a, b in zip(own, other, strict=True))


def ratios(seen: dict[str, list[Figures]]) -> tuple[str, str]:
    """Bakeoff beside the floor, and beside the peer that is best in each respect."""
    own, polled = seen["bakeoff"], seen["bakeoff --poll on"]
    peers = [runs for name, runs in seen.items() if name not in OWN]
    cpu = max(paired(own, runs, 1) for runs in peers)
    rate = min(paired(own, runs, 0) for runs in peers)
    polled_rate = min(paired(polled, runs, 0) for runs in peers)
    bare = (
        f"CPU {paired(own, seen['floor'], 1):.2f}×<br>rate {paired(own, seen['floor'], 0):.2f}×"
        if "floor" in seen
        else "–"
    )
    return bare, f"CPU {cpu:.2f}×<br>rate {rate:.2f}×<br>polling: rate {polled_rate:.2f}×"


def table(results: dict[str, dict[str, list[Figures]]]) -> str:
    """Medians as Markdown: CPU per request in µs, requests/s below."""
    names = list(TOOLS)
    lines = [
        "| work | " + " | ".join(names) + " | bakeoff ÷ floor | bakeoff ÷ best peer |",
        "|---|" + "--:|" * (len(names) + 2),
    ]
    for case, seen in results.items():
        cells = [
            figures_cell(seen[name]) if name in seen else "–" if is_installed(name) else "not installed"
            for name in names
        ]
        lines.append(f"| {case} | " + " | ".join([*cells, *ratios(seen)]) + " |")
    return "\n".join(lines)


def figures_cell(runs: list[Figures]) -> str:
    """Medians of one tool."""
    rate, cpu = (statistics.median(run[i] for run in runs) for i in (0, 1))
    return f"{cpu:.2f} µs<br>{rate:,.0f}/s"


def measure(case: Case, repeats: int, seconds: float) -> dict[str, list[Figures]]:
    """All repeats of one case, for every tool that can do it: one figure a repeat."""
    tools = [name for name in TOOLS if is_installed(name) and (not case.streams or name in SPEAK_HTTP2)]
    seen: dict[str, list[Figures]] = {name: [] for name in tools}
    for repeat in range(repeats):
        turn = repeat % len(tools)
        for tool in tools[turn:] + tools[:turn]:
            figures = TOOLS[tool](case, seconds) if tool in seen else None
            if figures:
                seen[tool].append(figures)
            else:
                seen.pop(tool, None)  # it cannot do this work, or did not end in time
    return seen


def main() -> int:
    """Runs all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--only", default="", help="only cases whose name has this in it")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    options = parser.parse_args()
    results: dict[str, dict[str, list[Figures]]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["BAKEOFF_FLOOR"] = str(folder / "floor")
        subprocess.run(["cc", "-O2", "-o", str(folder / "floor"), str(ROOT / "benchmarks/floor.c")], check=True)
        with servers(folder):
            for case in CASES:
                if options.only not in case.name:
                    continue
                results[case.name] = measure(case, options.repeats, options.seconds)
                print(table({case.name: results[case.name]}).splitlines()[-1].replace("<br>", " "), flush=True)
    text = table(results)
    print(text)
    if options.write:
        note = f"{machine_line()}; medians of {options.repeats} interleaved runs of {options.seconds:g} s."
        put_table(ROOT / "docs/performance.md", "web", f"{note}\n\n{text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
