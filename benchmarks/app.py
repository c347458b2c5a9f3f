"""Ping-pong transactions per second of Bakeoff's app client and server beside a bare epoll pair.

The bare pair (`crates/targets/examples/bare.rs`) moves frames of the same sizes and does nothing else: no queue, no
clock, no histogram. Server and client are bound to a core each. Each repeat visits every number of clients and both
pairs, in an order that turns by one. `--write` puts the table into docs/performance.md.

    cargo build --release -p bakeoff-targets --bins --examples
    python benchmarks/app.py [--repeats 7] [--seconds 1.5] [--write]
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path

from common import machine_line, put_table

from bakeoff import _engine

ROOT = Path(__file__).resolve().parent.parent
RELEASE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
SERVER_CORE, CLIENT_CORE = "0", "1"
CLIENTS = (1, 4, 8, 16, 28, 60)


@contextlib.contextmanager
def server(*command: str) -> Iterator[str]:
    """A server bound to its core; gives the address from its first line."""
    process = subprocess.Popen(["taskset", "-c", SERVER_CORE, *command], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline().strip()
        yield json.loads(line)["address"] if line.startswith("{") else line
    finally:
        process.terminate()
        process.wait()


def bare(address: str, clients: int, seconds: float) -> float:
    """Transactions per second of the bare client."""
    command = ["taskset", "-c", CLIENT_CORE, str(RELEASE / "examples/bare"), "client"]
    done = subprocess.run(
        [*command, address, str(clients), str(seconds)], capture_output=True, text=True, timeout=60, check=True
    )
    figures = json.loads(done.stdout)
    return float(figures["transactions"] / figures["seconds"])


def bakeoff(address: str, clients: int, seconds: float) -> float:
    """Transactions per second of one trial with full recording: downloads of no bytes."""
    workload = {
        "kind": "app",
        "addresses": [address],
        "classes": [{"name": "download", "weight": 1}],
        "upload_bytes": 0,
        "download_bytes": 0,
        "rounds": 1,
        "record_bytes": 4096,
        "read_records": 1,
        "write_records": 1,
    }
    spec = {"workload": workload, "load": {"clients": clients}, "length_s": seconds, "pin": [int(CLIENT_CORE)]}
    outcome = _engine.start(json.dumps(spec)).go().wait(60)
    assert outcome is not None
    result = json.loads(outcome.json())
    assert not result["errors"], result["errors"]
    return float(result["operations"] / result["window_s"])


def measure(repeats: int, seconds: float) -> dict[int, tuple[list[float], list[float]]]:
    """Rates of (bare, bakeoff) by number of clients."""
    rates: dict[int, tuple[list[float], list[float]]] = {clients: ([], []) for clients in CLIENTS}
    with (
        server(str(RELEASE / "examples/bare"), "server") as bare_address,
        server(str(RELEASE / "bakeoff-targets"), "app") as app_address,
    ):
        for repeat in range(repeats):
            turn = repeat % len(CLIENTS)
            for clients in (*CLIENTS[turn:], *CLIENTS[:turn]):
                pairs = [(0, bare, bare_address), (1, bakeoff, app_address)]
                for place, run, address in pairs if repeat % 2 else reversed(pairs):
                    rates[clients][place].append(run(address, clients, seconds))
    return rates


def main() -> None:
    """Prints the table; exit status 1 when a median ratio is more than 10 % below the bare pair's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    rates = measure(arguments.repeats, arguments.seconds)
    head = "| clients | bare pair, 1/s | bakeoff, 1/s | median of ratios | all ratios |"
    lines = [head, "| ---: | ---: | ---: | ---: | :-- |"]
    slow = []
    for clients, pair in rates.items():
        one, other = (statistics.median(part) for part in pair)
        # The machine's speed changes by more than the pairs differ, but little from one run to the next.
        ratios = sorted(b / a for a, b in zip(*pair, strict=True))
        ratio = statistics.median(ratios)
        lines.append(f"| {clients} | {one:,.0f} | {other:,.0f} | {ratio:.3f} | {ratios[0]:.2f} … {ratios[-1]:.2f} |")
        if ratio < 0.9:
            slow.append(clients)
    text = f"{machine_line()}; medians of {arguments.repeats} × {arguments.seconds:g} s\n\n" + "\n".join(lines)
    print(text)
    if arguments.write:
        put_table(ROOT / "docs/performance.md", "app", text)
    if slow:
        raise SystemExit(f"more than 10 % below the bare pair with {slow} clients")


if __name__ == "__main__":
    main()
