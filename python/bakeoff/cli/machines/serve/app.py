"""`bakeoff serve app`: the application server."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from bakeoff.cli.machines.serve import base
from bakeoff.cli.machines.serve.base import Counts, Host, Pin, Port, Unix
from bakeoff.core.errors import PlanError
from bakeoff.core.units import format_size, parse_duration, parse_size

Threads = Annotated[
    int | None, typer.Option(min=1, max=1024, help="Service threads (default: 47 and one for each processor).")
]
Segment = Annotated[str, typer.Option(metavar="SIZE", help="Data segment of each client.")]
Data = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder of the data segments (default: the system's for temporary files)."),
]
DataLimit = Annotated[str, typer.Option(metavar="SIZE", help="Largest size of all segments together.")]
Direct = Annotated[bool, typer.Option("--direct", help="Read and write segments past the page cache.")]
Fsync = Annotated[bool, typer.Option("--fsync", help="Flush each write to the device before its reply.")]
Prepare = Annotated[
    int, typer.Option(min=0, metavar="N", help="Make this many segments before the first client connects.")
]
Service = Annotated[
    str | None, typer.Option(metavar="TIME", help="Every request takes at least this long to serve: 3ms.")
]
Queue = Annotated[int, typer.Option(min=1, help="Requests that may wait; further ones get the reply busy.")]
MaxConnections = Annotated[int, typer.Option(min=1, help="Most connections open at once.")]
PayloadMax = Annotated[str, typer.Option(metavar="SIZE", help="Largest data of one request.")]
RequestTimeout = Annotated[
    str, typer.Option(metavar="TIME", help="A request that has begun must have come within this time.")
]
IdleTimeout = Annotated[str, typer.Option(metavar="TIME", help="Close connections that are idle for this long.")]
Damage = Annotated[int | None, typer.Option(min=1, metavar="N", help="Write every Nth record with one byte wrong.")]
Lose = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Do not write every Nth record, but report success.")
]
Garbage = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Every Nth answer to an upload, a download or processor work is wrong, of the right length.",
    ),
]
Forget = Annotated[bool, typer.Option("--forget", help="Forget what a session has written when it ends.")]
Remember = Annotated[bool, typer.Option("--remember", help="Answer repeated processor work without doing it again.")]
FalseTimes = Annotated[
    Literal["zero", "long"] | None,
    typer.Option(help="Report false queue and service times: none, or a second too much."),
]


def serve(
    host: Host = "127.0.0.1",
    port: Port = 8090,
    unix: Unix = None,
    threads: Threads = None,
    pin: Pin = None,
    segment: Segment = "16MiB",
    data: Data = None,
    data_limit: DataLimit = "64GiB",
    direct: Direct = False,
    fsync: Fsync = False,
    prepare: Prepare = 0,
    service: Service = None,
    queue: Queue = 4096,
    max_connections: MaxConnections = 4096,
    payload_max: PayloadMax = "4MiB",
    request_timeout: RequestTimeout = "10s",
    idle_timeout: IdleTimeout = "10m",
    damage: Damage = None,
    lose: Lose = None,
    garbage: Garbage = None,
    forget: Forget = False,
    remember: Remember = False,
    false_times: FalseTimes = None,
    counts_file: Counts = None,
) -> None:
    """The application server: service threads on one queue, a data segment for each client."""
    if data is not None and not data.is_dir():
        raise PlanError(f"--data: {data} is not a folder: make it, or choose another")
    segment_bytes = base.quantity("--segment", parse_size, segment)
    spec = base.common("app", host, port, unix, threads, pin) | {
        "segment_bytes": segment_bytes,
        "data": str(data.absolute()) if data else None,
        "data_limit_bytes": base.quantity("--data-limit", parse_size, data_limit),
        "direct": direct,
        "fsync": fsync,
        "prepare": prepare,
        "service_s": base.quantity("--service", parse_duration, service) or 0.0,
        "queue": queue,
        "max_connections": max_connections,
        "payload_max_bytes": base.quantity("--payload-max", parse_size, payload_max),
        "request_timeout_s": base.quantity("--request-timeout", parse_duration, request_timeout),
        "idle_timeout_s": base.quantity("--idle-timeout", parse_duration, idle_timeout),
        "damage_every": damage,
        "lose_every": lose,
        "garbage_every": garbage,
        "forget": forget,
        "remember": remember,
        "false_times": false_times,
    }
    storage = "past the page cache" if direct else "through the page cache"
    flushed = ", each write flushed" if fsync else ""
    what = f"application requests (segments of {format_size(segment_bytes)} {storage}{flushed})"
    base.serve_until_stopped(spec, "app", what, counts_file)
