"""`bakeoff serve null`: the least that answers HTTP."""

from typing import Annotated

import typer

from bakeoff.cli.machines.serve import base
from bakeoff.cli.machines.serve.base import Counts, Host, Pin, Port, Threads, Unix
from bakeoff.core.units import parse_size


def serve(
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
    spec = base.common("null", host, port, unix, threads, pin)
    spec |= {"page_bytes": base.quantity("--page", parse_size, page), "close": close}
    base.serve_until_stopped(spec, "http", "one prebuilt reply", counts_file)
