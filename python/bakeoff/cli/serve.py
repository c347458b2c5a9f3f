"""`bakeoff serve`: the built-in targets, which can be told to misbehave in exact ways."""

import json
import re
import signal
import threading
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from bakeoff.agents.local import load_engine
from bakeoff.corpus.manifest import MANIFEST_NAME
from bakeoff.errors import LabError, PlanError
from bakeoff.run.preflight import raise_open_files
from bakeoff.units import parse_duration, parse_rate, parse_size, parse_whole_numbers

COUNTS_EVERY_S = 1.0

serve_app = typer.Typer(
    name="serve", help="Serve a built-in target for demos, calibration and tests.", no_args_is_help=True
)


def register(app: typer.Typer) -> None:
    """Add the verb with one sub-command per kind of target."""
    app.add_typer(serve_app)


Host = Annotated[str, typer.Option(help="Numeric address to listen on: 127.0.0.1, ::1, 0.0.0.0.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 lets the system choose.")]
Unix = Annotated[Path | None, typer.Option(metavar="SOCKET", help="Listen on this unix socket instead.")]
Threads = Annotated[int, typer.Option(min=1, max=1024, help="Worker threads.")]
Pin = Annotated[str | None, typer.Option(metavar="N,N,...", help="Core numbers for the worker threads.")]
Counts = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write what was served as JSON there, every second and at the end."),
]
Root = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder to serve, such as a corpus; without it every path gives one page."),
]
PageSize = Annotated[str, typer.Option(metavar="SIZE", help="Size of the one page (without --root).")]
KeepAlive = Annotated[
    bool, typer.Option("--keep-alive/--close", help="Keep connections open when the client asks for it.")
]
RequestsPerConnection = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Close a connection after so many replies.")
]
Chunked = Annotated[bool, typer.Option("--chunked", help="Send bodies chunked (HTTP/1.1).")]
Tls = Annotated[bool, typer.Option("--tls", help="Serve https with a certificate made for this process.")]
TlsCertificate = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write that certificate there, for --ca-file of clients."),
]
Delay = Annotated[str | None, typer.Option(metavar="TIME", help="Hold every reply back for exactly so long: 5ms.")]
Stall = Annotated[
    str | None,
    typer.Option(metavar="TIME/TIME", help="Stand still for so long at the end of each period: 200ms/1s."),
]
Refuse = Annotated[str | None, typer.Option(metavar="N/M", help="Reset exactly N of each M connections: 1/10.")]
Limit = Annotated[str | None, typer.Option(metavar="RATE", help="Answer at most so many requests: 1000/s.")]
Status = Annotated[
    str | None,
    typer.Option(metavar="CODE[/N]", help="Answer every Nth request with this status: 503/10."),
]
Truncate = Annotated[int | None, typer.Option(min=1, metavar="N", help="Cut every Nth body in the middle.")]
Corrupt = Annotated[int | None, typer.Option(min=1, metavar="N", help="Damage one byte of every Nth body.")]
CloseAfter = Annotated[str | None, typer.Option(metavar="SIZE", help="Cut every body after so many bytes.")]
CutWithReset = Annotated[bool, typer.Option("--cut-with-reset", help="Make these cuts by a TCP reset.")]
Unanswered = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Close instead of answering every Nth request.")
]
BadChunk = Annotated[int | None, typer.Option(min=1, metavar="N", help="Write a chunk size of every Nth reply as 0x….")]
Unsolicited = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Send another reply after every Nth, unasked.")
]
LeaveOpen = Annotated[bool, typer.Option("--leave-open", help="Announce every close and leave it to the client.")]
IdleTimeout = Annotated[str, typer.Option(metavar="TIME", help="Close connections that are silent for so long.")]


@serve_app.command("web")
def web(
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
    spec = common("web", host, port, unix, threads, pin) | {
        "root": str(root.absolute()) if root else None,
        "page_bytes": quantity("--page", parse_size, page),
        "keep_alive": keep_alive,
        "requests_per_connection": requests_per_connection,
        "chunked": chunked,
        "tls": {"certificate_file": str(tls_certificate) if tls_certificate else None}
        if tls or tls_certificate
        else None,
        "delay_s": quantity("--delay", parse_duration, delay) or 0.0,
        "stall": _stall(stall),
        "refuse": _refuse(refuse),
        "limit_per_s": quantity("--limit", parse_rate, limit),
        "status": _status(status),
        "truncate_every": truncate,
        "corrupt_every": corrupt,
        "close_after_bytes": quantity("--close-after", parse_size, close_after),
        "unanswered_every": unanswered,
        "bad_chunk_every": bad_chunk,
        "unsolicited_every": unsolicited,
        "leave_open": leave_open,
        "cut_with_reset": cut_with_reset,
        "idle_timeout_s": quantity("--idle-timeout", parse_duration, idle_timeout),
    }
    what = f"{root} " + ("(a corpus)" if (root / MANIFEST_NAME).is_file() else "(no corpus)") if root else "one page"
    serve_until_stopped(spec, "https" if spec["tls"] else "http", what, counts_file)


@serve_app.command("null")
def null(
    host: Host = "127.0.0.1",
    port: Port = 8080,
    unix: Unix = None,
    threads: Threads = 1,
    pin: Pin = None,
    page: Annotated[str, typer.Option(metavar="SIZE", help="Size of the page.")] = "1024",
    close: Annotated[bool, typer.Option("--close", help="Close each connection after its reply.")] = False,
    counts_file: Counts = None,
) -> None:
    """The least that answers HTTP: one prebuilt reply to every request, to measure clients with."""
    spec = common("null", host, port, unix, threads, pin)
    spec |= {"page_bytes": quantity("--page", parse_size, page), "close": close}
    serve_until_stopped(spec, "http", "one prebuilt reply", counts_file)


@serve_app.command("mail")
def mail(
    host: Host = "127.0.0.1",
    smtp_port: Annotated[int, typer.Option(min=0, max=65535, help="Port of SMTP; 0 lets the system choose.")] = 2525,
    pop3_port: Annotated[int, typer.Option(min=0, max=65535, help="Port of POP3; 0 lets the system choose.")] = 2110,
    threads: Threads = 1,
    users: Annotated[
        Path | None, typer.Option(metavar="USERS.csv", help="Accounts; without it everybody is let in.")
    ] = None,
    maildir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep mail there as Maildir folders; in memory otherwise.")
    ] = None,
    lmtp: Annotated[bool, typer.Option("--lmtp", help="Speak LMTP instead of SMTP.")] = False,
    no_pipelining: Annotated[bool, typer.Option("--no-pipelining", help="Do not offer PIPELINING.")] = False,
    no_uidl: Annotated[bool, typer.Option("--no-uidl", help="Do not know UIDL.")] = False,
    no_lock: Annotated[bool, typer.Option("--no-lock", help="Let several sessions into a mailbox.")] = False,
    tls: Annotated[bool, typer.Option("--tls", help="Offer STARTTLS and STLS with a certificate made here.")] = False,
    tls_certificate: TlsCertificate = None,
    implicit_tls: Annotated[bool, typer.Option("--implicit-tls", help="TLS from the first byte.")] = False,
    max_sessions: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Answer 421 when so many are open.")
    ] = None,
    delay: Delay = None,
    refuse: Refuse = None,
    reject: Annotated[
        list[str] | None,
        typer.Option(metavar="COMMAND=CODE[,N/M]", help="Reject: RCPT=450,1/10; also CONNECT, EHLO, MAIL, DATA, DOT."),
    ] = None,
    drop_after_dot: Annotated[
        str | None, typer.Option(metavar="N/M", help="Hang up after the final dot, without reply or delivery.")
    ] = None,
    lose: Annotated[
        str | None, typer.Option(metavar="N/M", help="Accept exactly N of M messages and lose them.")
    ] = None,
    duplicate: Annotated[str | None, typer.Option(metavar="N/M", help="Deliver N of M messages twice.")] = None,
    damage: Annotated[str | None, typer.Option(metavar="N/M", help="Change one letter in N of M messages.")] = None,
    misdeliver: Annotated[
        str | None, typer.Option(metavar="N/M", help="Put N of M messages into the mailbox of the message before.")
    ] = None,
    pop3_ends_after: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="POP3 dies when so many messages were accepted.")
    ] = None,
    defer: Annotated[
        str | None, typer.Option(metavar="N/M,TIME", help="Show N of M messages so much later: 1/50,2s.")
    ] = None,
    counts_file: Counts = None,
) -> None:
    """A small SMTP and POP3 server, and faults on request whose number is known."""
    spec: dict[str, Any] = {
        "kind": "mail",
        "host": host,
        "smtp_port": smtp_port,
        "pop3_port": pop3_port,
        "threads": threads,
        "users_file": str(users.absolute()) if users else None,
        "maildir": str(maildir.absolute()) if maildir else None,
        "lmtp": lmtp,
        "pipelining": not no_pipelining,
        "uidl": not no_uidl,
        "lock": not no_lock,
        "tls": {"certificate_file": str(tls_certificate) if tls_certificate else None}
        if tls or tls_certificate or implicit_tls
        else None,
        "implicit_tls": implicit_tls,
        "max_sessions": max_sessions,
        "delay_s": quantity("--delay", parse_duration, delay) or 0.0,
        "refuse": _refuse(refuse),
        "reject": [_reject(word) for word in reject or []],
        "drop_after_dot": _share("--drop-after-dot", drop_after_dot),
        "lose": _share("--lose", lose),
        "duplicate": _share("--duplicate", duplicate),
        "damage": _share("--damage", damage),
        "misdeliver": _share("--misdeliver", misdeliver),
        "pop3_ends_after": pop3_ends_after,
        "defer": _defer(defer),
    }
    serve_until_stopped(spec, None, "mail", counts_file)


def _reject(text: str) -> dict[str, Any]:
    match = re.fullmatch(r"([A-Za-z]+)=([45]\d\d)(?:,(\d+/\d+))?", text)
    if match is None:
        raise PlanError(f"--reject: {text!r} is not COMMAND=CODE or COMMAND=CODE,N/M: write it like RCPT=450,1/10")
    return {"command": match[1].upper(), "code": int(match[2]), **(_share("--reject", match[3]) or {})}


def _defer(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    share, comma, time = text.partition(",")
    if not comma:
        raise PlanError(f"--defer: {text!r} is not N/M,TIME: write it like 1/50,2s")
    return {**(_share("--defer", share) or {}), "for_s": quantity("--defer", parse_duration, time)}


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


def _stall(text: str | None) -> dict[str, float] | None:
    if text is None:
        return None
    span, slash, period = text.partition("/")
    if not slash:
        raise PlanError(f"--stall: {text!r} is not TIME/TIME: write it like 200ms/1s")
    found = {
        "for_s": quantity("--stall", parse_duration, span),
        "every_s": quantity("--stall", parse_duration, period),
    }
    if not 0 < found["for_s"] < found["every_s"]:
        raise PlanError(f"--stall: {text!r}: the first time must be shorter than the second")
    return found


def _refuse(text: str | None) -> dict[str, int] | None:
    return _share("--refuse", text)


def _share(flag: str, text: str | None) -> dict[str, int] | None:
    if text is None:
        return None
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or not 0 < int(match[1]) <= int(match[2]):
        raise PlanError(f"{flag}: {text!r} is not N/M: write it like 1/10")
    return {"count": int(match[1]), "of": int(match[2])}


def _status(text: str | None) -> dict[str, int] | None:
    if text is None:
        return None
    match = re.fullmatch(r"([1-5]\d\d)(?:/(\d+))?", text)
    if match is None or match[2] == "0":
        raise PlanError(f"--status: {text!r} is not CODE or CODE/N: write it like 503 or 503/10")
    return {"code": int(match[1]), "every": int(match[2] or 1)}


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
        raise LabError(f"the target cannot start: {error}") from None
    try:
        address = server.address()
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
        raise LabError(f"--counts-file: {path} cannot be written: {error.strerror}") from None
