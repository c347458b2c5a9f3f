"""`bakeoff serve web`: HTTP/1.0 and 1.1, with faults on request."""

import re
from pathlib import Path
from typing import Annotated

import typer

from bakeoff.cli.machines.serve import base
from bakeoff.cli.machines.serve.base import Counts, Delay, Host, Pin, Port, Refuse, Threads, TlsCertificate, Unix
from bakeoff.core.errors import PlanError
from bakeoff.core.units import parse_duration, parse_rate, parse_size
from bakeoff.testdata.corpus.manifest import MANIFEST_NAME

Root = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder to serve, such as a corpus; without it every path gives one page."),
]
PageSize = Annotated[str, typer.Option(metavar="SIZE", help="Size of the one page (without --root).")]
KeepAlive = Annotated[
    bool, typer.Option("--keep-alive/--close", help="Keep connections open when the client asks for it.")
]
RequestsPerConnection = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Close a connection after this many replies.")
]
Chunked = Annotated[bool, typer.Option("--chunked", help="Send bodies chunked (HTTP/1.1).")]
Tls = Annotated[bool, typer.Option("--tls", help="Serve https with a certificate made for this process.")]
Stall = Annotated[
    str | None,
    typer.Option(metavar="TIME/TIME", help="Stall for this long at the end of each period: 200ms/1s."),
]
Limit = Annotated[str | None, typer.Option(metavar="RATE", help="Answer at most this many requests: 1000/s.")]
Status = Annotated[
    str | None,
    typer.Option(metavar="CODE[/N]", help="Answer every Nth request with this status: 503/10."),
]
Truncate = Annotated[int | None, typer.Option(min=1, metavar="N", help="Cut every Nth body in the middle.")]
Corrupt = Annotated[int | None, typer.Option(min=1, metavar="N", help="Damage one byte of every Nth body.")]
CloseAfter = Annotated[str | None, typer.Option(metavar="SIZE", help="Cut every body after this many bytes.")]
CutWithReset = Annotated[bool, typer.Option("--cut-with-reset", help="Make these cuts by a TCP reset.")]
Unanswered = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Close instead of answering every Nth request.")
]
BadChunk = Annotated[int | None, typer.Option(min=1, metavar="N", help="Write a chunk size of every Nth reply as 0x….")]
Unsolicited = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Send another reply after every Nth, unasked.")
]
LeaveOpen = Annotated[bool, typer.Option("--leave-open", help="Announce every close and leave it to the client.")]
IdleTimeout = Annotated[str, typer.Option(metavar="TIME", help="Close connections that are idle for this long.")]


def serve(
    root: Root = None,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    unix: Unix = None,
    threads: Threads = 1,
    pin: Pin = None,
    page: PageSize = "1024",
    keep_alive: KeepAlive = True,
    requests_per_connection: RequestsPerConnection = None,
    chunked: Chunked = False,
    tls: Tls = False,
    tls_certificate: TlsCertificate = None,
    delay: Delay = None,
    stall: Stall = None,
    refuse: Refuse = None,
    limit: Limit = None,
    status: Status = None,
    truncate: Truncate = None,
    corrupt: Corrupt = None,
    close_after: CloseAfter = None,
    unanswered: Unanswered = None,
    bad_chunk: BadChunk = None,
    unsolicited: Unsolicited = None,
    leave_open: LeaveOpen = False,
    cut_with_reset: CutWithReset = False,
    idle_timeout: IdleTimeout = "60s",
    counts_file: Counts = None,
) -> None:
    """A small fast HTTP server for a corpus, with the built-in dynamic page, and faults on request."""
    if root is not None and not root.is_dir():
        raise PlanError(f"--root: {root} is not a folder: make one with `bakeoff corpus web-static {root}`")
    spec = base.common("web", host, port, unix, threads, pin) | {
        "root": str(root.absolute()) if root else None,
        "page_bytes": base.quantity("--page", parse_size, page),
        "keep_alive": keep_alive,
        "requests_per_connection": requests_per_connection,
        "chunked": chunked,
        "tls": {"certificate_file": str(tls_certificate) if tls_certificate else None}
        if tls or tls_certificate
        else None,
        "delay_s": base.quantity("--delay", parse_duration, delay) or 0.0,
        "stall": _stall(stall),
        "refuse": base.parse_share("--refuse", refuse),
        "limit_per_s": base.quantity("--limit", parse_rate, limit),
        "status": _status(status),
        "truncate_every": truncate,
        "corrupt_every": corrupt,
        "close_after_bytes": base.quantity("--close-after", parse_size, close_after),
        "unanswered_every": unanswered,
        "bad_chunk_every": bad_chunk,
        "unsolicited_every": unsolicited,
        "leave_open": leave_open,
        "cut_with_reset": cut_with_reset,
        "idle_timeout_s": base.quantity("--idle-timeout", parse_duration, idle_timeout),
    }
    what = f"{root} " + ("(a corpus)" if (root / MANIFEST_NAME).is_file() else "(no corpus)") if root else "one page"
    base.serve_until_stopped(spec, "https" if spec["tls"] else "http", what, counts_file)


def _stall(text: str | None) -> dict[str, float] | None:
    if text is None:
        return None
    span, slash, period = text.partition("/")
    if not slash:
        raise PlanError(f"--stall: {text!r} is not TIME/TIME: write it like 200ms/1s")
    times = {
        "for_s": base.quantity("--stall", parse_duration, span),
        "every_s": base.quantity("--stall", parse_duration, period),
    }
    if not 0 < times["for_s"] < times["every_s"]:
        raise PlanError(f"--stall: {text!r}: the first time must be shorter than the second")
    return times


def _status(text: str | None) -> dict[str, int] | None:
    if text is None:
        return None
    match = re.fullmatch(r"([1-5]\d\d)(?:/(\d+))?", text)
    if match is None or match[2] == "0":
        raise PlanError(f"--status: {text!r} is not CODE or CODE/N: write it like 503 or 503/10")
    return {"code": int(match[1]), "every": int(match[2] or 1)}
