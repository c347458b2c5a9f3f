"""What all targets share: flags, their values, and serving until somebody ends it."""

import json
import re
import signal
import threading
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from bakeoff.agents.engine import load_engine
from bakeoff.agents.machine.preflight import raise_open_files
from bakeoff.core.errors import GeneratorError, PlanError
from bakeoff.core.units import parse_whole_numbers

COUNTS_EVERY_S = 1.0

Host = Annotated[str, typer.Option(help="Numeric address to listen on: 127.0.0.1, ::1, 0.0.0.0.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 lets the system choose.")]
Unix = Annotated[Path | None, typer.Option(metavar="SOCKET", help="Listen on this unix socket instead.")]
Threads = Annotated[int, typer.Option(min=1, max=1024, help="Worker threads.")]
Pin = Annotated[str | None, typer.Option(metavar="N,N,...", help="Core numbers for the worker threads.")]
Counts = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write what was served as JSON there, every second and at the end."),
]
TlsCertificate = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write that certificate there, for --ca-file of clients."),
]
Delay = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Delay every reply by exactly this time: 5ms. (Start times and pauses of clients are --stagger and "
        "--think of a run.)",
    ),
]
Refuse = Annotated[str | None, typer.Option(metavar="N/M", help="Reset exactly N of each M connections: 1/10.")]


def common(kind: str, host: str, port: int, unix: Path | None, threads: int | None, pin: str | None) -> dict[str, Any]:
    """What the specs of all targets share. Without `threads` the target has its own default."""
    cores = quantity("--pin", parse_whole_numbers, pin)
    return {
        "kind": kind,
        "host": host,
        "port": port,
        "unix": str(unix.absolute()) if unix else None,
        "threads": threads,
        "pin": list(cores) if cores else None,
    }


def quantity(flag: str, parse: Any, text: str | None) -> Any:
    """The quantity in `text`, None for None. Raises PlanError that names the flag."""
    try:
        return None if text is None else parse(text)
    except ValueError as error:
        raise PlanError(f"{flag}: {error}") from None


def parse_share(flag: str, text: str | None) -> dict[str, int] | None:
    """`N/M` as a target takes it, None for None. Raises PlanError that names the flag."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or not 0 < int(match[1]) <= int(match[2]):
        raise PlanError(f"{flag}: {text!r} is not N/M: write it like 1/10")
    return {"count": int(match[1]), "of": int(match[2])}


def serve_until_stopped(spec: dict[str, Any], scheme: str | None, what: str, counts_file: Path | None) -> None:
    """Serve until Ctrl-C or SIGTERM; the first line on standard output names the address."""
    engine, stopped = load_engine(), threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopped.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    raise_open_files(256)
    try:
        server = engine.serve(json.dumps(spec))
    except engine.SpecError as error:
        raise PlanError(f"the target refuses its settings: {error}") from None
    except (engine.EngineError, OSError) as error:
        raise GeneratorError(f"the target cannot start: {error}") from None
    try:
        address = server.address()
        if spec.get("implicit_tls"):
            address = re.sub(r"\b(smtp|lmtp|pop3)=", r"\1s=", address)
        plain = scheme is None or address.startswith("unix:")
        typer.echo(f"serving {what} at {address if plain else f'{scheme}://{address}'} (Ctrl-C ends)")
        while not stopped.wait(COUNTS_EVERY_S):
            _write_counts(counts_file, server.counts())
    finally:
        counts = server.counts()
        server.stop()
    _write_counts(counts_file, counts)
    served = json.loads(counts)
    typer.echo(f"served {served.get('requests', 0):,} requests on {served.get('connections', 0):,} connections")


def _write_counts(path: Path | None, counts: str) -> None:
    """Replace the file as a whole, so that a reader never sees half of it."""
    if path is None:
        return
    try:
        part = path.parent / f"{path.name}.part"
        part.write_text(counts + "\n", encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise GeneratorError(f"--counts-file: {path} cannot be written: {error.strerror}") from None
