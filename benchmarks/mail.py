"""Bakeoff beside smtp-source and poplib: the same server, the same mail, interleaved, medians.

The generator is bound to one core and the server to another. SMTP: one 4 KiB message per session against smtp-sink,
every step timed by Bakeoff. POP3: 4 KiB messages from Bakeoff's own target and from a null server (`pop3_null.c`), once
only read, and once as users run it: hashed, put into the books and deleted. `--write` puts the table into
docs/performance.md.

    python benchmarks/mail.py [--repeats 21] [--messages 6000] [--seconds 0.5] [--write]
"""

import argparse
import json
import os
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import machine_line, put_table

from bakeoff import _engine

ROOT = Path(__file__).resolve().parent.parent
SERVER_CORE, CLIENT_CORE = 0, 1
SESSIONS = (1, 10, 30)
PAYLOAD_BYTES = 4096
# What smtp-source adds to its payload: both tools send as many bytes.
HEADER_BYTES = 134
MAILBOX_MESSAGES = 50
POP3_SESSIONS = 30

Figures = tuple[float, float]
"""CPU microseconds per message, messages per second."""


def need(program: str) -> str:
    """The path of a program of the package postfix."""
    path = shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")
    if path is None:
        raise SystemExit(f"{program} is not installed: apt-get install postfix")
    return path


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start_sink() -> tuple[subprocess.Popen[bytes], int]:
    """smtp-sink on its core."""
    port = free_port()
    user = ["-u", "nobody"] if os.geteuid() == 0 else []
    command = [need("smtp-sink"), *user, f"127.0.0.1:{port}", "1000"]
    sink = subprocess.Popen(command, preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CORE}))
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return sink, port
        except OSError:
            time.sleep(0.05)
    raise SystemExit("smtp-sink did not start")


def smtp_source(port: int, sessions: int, messages: int) -> Figures:
    """smtp-source, with the CPU time that the system counted for it."""
    command = [need("smtp-source"), "-s", str(sessions), "-m", str(messages), "-l", str(PAYLOAD_BYTES)]
    command += ["-f", "load@bakeoff.test", "-t", "sink@bakeoff.test", f"inet:127.0.0.1:{port}"]
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, preexec_fn=lambda: os.sched_setaffinity(0, {CLIENT_CORE}))
    length_s = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu_s / messages * 1e6, messages / length_s


def trial(workload: dict[str, Any], clients: int, seconds: float) -> dict[str, Any]:
    """A trial on the client's core, without ramps."""
    spec = {"workload": workload, "load": {"clients": clients}, "length_s": seconds, "pin": [CLIENT_CORE], "seed": 1}
    outcome = _engine.start(json.dumps(spec)).go().wait(seconds + 60)
    if outcome is None:
        raise SystemExit("the trial did not end")
    result: dict[str, Any] = json.loads(outcome.json())
    if result["errors"] or result["fatal"]:
        raise SystemExit(f"the trial failed: {result['errors']} {result['fatal']}")
    return result


def workload(accounts: int, **sides: Any) -> dict[str, Any]:
    """One mailbox for each client."""
    names = [f"u{n}@bakeoff.test" for n in range(accounts)]
    return {
        "kind": "mail",
        "mailboxes": [{"address": name, "user": name, "password": "x"} for name in names],
        "mailboxes_per_client": 1,
        "sizes": [[PAYLOAD_BYTES + HEADER_BYTES, 1]],
        "run": "00112233445566aa",
        "initialise": "nothing",
        "linger_s": 0,
        **sides,
    }


def operations(result: dict[str, Any], name: str) -> int:
    """How often a step succeeded."""
    return int(next(row["operations"] for row in result["per_operation"] if row["name"] == name))


def bakeoff_smtp(port: int, sessions: int, seconds: float) -> Figures:
    """Bakeoff's sending side alone; connections end by a reset, as those of smtp-source do."""
    sending = workload(sessions, smtp={"addresses": [f"127.0.0.1:{port}"], "close_with_reset": True})
    result = trial(sending, sessions, seconds)
    messages = operations(result, "smtp-body")
    return result["generator"]["cpu_s"] / messages * 1e6, messages / result["window_s"]


def start_target() -> tuple[subprocess.Popen[str], str]:
    """Bakeoff's own server, in a process on its core; returns its POP3 address. Its mailboxes are full at each login,
    whatever was deleted in the session before, with messages that are marked as Bakeoff's own.
    """
    settings = {"fill": {"messages": MAILBOX_MESSAGES, "bytes": PAYLOAD_BYTES, "endless": True}}
    code = (
        "import json, sys, threading; from bakeoff import _engine; "
        f"s = _engine.serve(json.dumps({{'kind': 'mail', **json.loads({json.dumps(settings)!r})}})); "
        "print(s.address(), flush=True); threading.Event().wait()"
    )
    target = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CORE}),
    )
    assert target.stdout is not None
    address = target.stdout.readline().strip()
    return target, address.partition("pop3=")[2]


def start_null() -> tuple[subprocess.Popen[str], str]:
    """A POP3 server that does as little as can be, on its core; returns its address. The client is the limit."""
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/pop3_null"
        subprocess.run(["cc", "-O2", "-o", program, str(ROOT / "benchmarks/pop3_null.c")], check=True)
        null = subprocess.Popen(
            [program, str(MAILBOX_MESSAGES), str(PAYLOAD_BYTES)],
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CORE}),
        )
        assert null.stdout is not None
        return null, f"127.0.0.1:{null.stdout.readline().strip()}"


def bakeoff_pop3(address: str, seconds: float, delete: bool) -> Figures:
    """Bakeoff's reading side alone. With `delete` as users run it: each message is hashed, put into the books and
    deleted.
    """
    result = trial(workload(POP3_SESSIONS, pop3={"addresses": [address], "delete": delete}), POP3_SESSIONS, seconds)
    retrieved = operations(result, "pop3-dele" if delete else "pop3-retr")
    return result["generator"]["cpu_s"] / retrieved * 1e6, retrieved / result["window_s"]


POPLIB = """
import hashlib, poplib, resource, sys, time
host, port, seconds, delete = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4] == "delete"
began, retrieved, books = time.monotonic(), 0, {}
before = resource.getrusage(resource.RUSAGE_SELF)
while time.monotonic() - began < seconds:
    session = poplib.POP3(host, port)
    session.user("u0@bakeoff.test")
    session.pass_("x")
    count, _ = session.stat()
    session.uidl()
    session.list()
    for number in range(1, count + 1):
        _, lines, _ = session.retr(number)
        if delete:
            body = lines[lines.index(b"") + 1:]
            books[number] = hashlib.sha256(b"\\r\\n".join(body) + b"\\r\\n").digest()
            session.dele(number)
        retrieved += 1
    session.quit()
after = resource.getrusage(resource.RUSAGE_SELF)
cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
print(cpu_s / retrieved * 1e6, retrieved / (time.monotonic() - began))
"""


def python_poplib(address: str, seconds: float, delete: bool) -> Figures:
    """The same session in Python's poplib. With `delete` it hashes each body, keeps that and deletes the message."""
    host, _, port = address.rpartition(":")
    done = subprocess.run(
        [sys.executable, "-c", POPLIB, host, port, str(seconds), "delete" if delete else "keep"],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {CLIENT_CORE}),
    )
    cpu_us, rate = map(float, done.stdout.split())
    return cpu_us, rate


def interleaved(repeats: int, tools: dict[str, Callable[[], Figures]]) -> dict[str, list[Figures]]:
    """All figures of each tool; within a repeat the tools follow each other at once, and the order turns by one."""
    seen: dict[str, list[Figures]] = {name: [] for name in tools}
    names = list(tools)
    for repeat in range(repeats):
        turn = repeat % len(names)
        for name in names[turn:] + names[:turn]:
            seen[name].append(tools[name]())
    return seen


def row(title: str, seen: dict[str, list[Figures]], peer: str) -> str:
    """A line of a table: the medians of both tools, and the medians of the ratios within each repeat.

    The machine's speed changes by more than the tools differ, but little from one run to the next.
    """

    def middle(tool: str, at: int) -> float:
        return statistics.median(figures[at] for figures in seen[tool])

    def ratio(at: int) -> float:
        pairs = zip(seen["bakeoff"], seen[peer], strict=True)
        return statistics.median(own[at] / other[at] for own, other in pairs)

    cells = [f"{middle(tool, 0):.2f} µs<br>{middle(tool, 1):,.0f}/s" for tool in ("bakeoff", peer)]
    return f"| {title} | {cells[0]} | {cells[1]} | CPU {ratio(0):.2f}×<br>rate {ratio(1):.2f}× |"


def main() -> None:
    """Runs all cases and prints the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=21)
    parser.add_argument("--messages", type=int, default=6_000)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if dict(_engine.build_info())["profile"] != "release":
        raise SystemExit("the engine is a debug build: `maturin develop --release` first")
    lines = [
        f"{machine_line()}; medians of {options.repeats} interleaved runs of about {options.seconds:g} s.",
        "",
        "| work | bakeoff | peer | bakeoff ÷ peer |",
        "|---|--:|--:|--:|",
    ]
    sink, port = start_sink()
    try:
        for sessions in SESSIONS:
            tools = {
                "bakeoff": lambda n=sessions: bakeoff_smtp(port, n, options.seconds),
                "smtp-source": lambda n=sessions: smtp_source(port, n, options.messages),
            }
            figures = interleaved(options.repeats, tools)
            plural = "session" if sessions == 1 else "sessions"
            title = f"4 KiB message per session to smtp-sink, {sessions} {plural}; peer: smtp-source"
            lines.append(row(title, figures, "smtp-source"))
            print(lines[-1], flush=True)
    finally:
        sink.send_signal(signal.SIGTERM)
        sink.wait(10)
    for start, name in ((start_target, "Bakeoff's own server"), (start_null, "a null server")):
        target, address = start()
        try:
            for delete, what in ((False, "retrieval"), (True, "retrieval, hash, books and deletion")):
                pop3 = {
                    "bakeoff": lambda a=address, d=delete: bakeoff_pop3(a, options.seconds, d),
                    "poplib": lambda a=address, d=delete: python_poplib(a, options.seconds, d),
                }
                title = f"{what} of 4 KiB by POP3 from {name}, {MAILBOX_MESSAGES} to a mailbox; peer: Python's poplib"
                lines.append(row(title, interleaved(options.repeats, pop3), "poplib"))
                print(lines[-1], flush=True)
        finally:
            target.send_signal(signal.SIGTERM)
            target.wait(10)
    text = "\n".join(lines)
    print(text)
    if options.write:
        put_table(ROOT / "docs" / "performance.md", "mail", text)


if __name__ == "__main__":
    main()
