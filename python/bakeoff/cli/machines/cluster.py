"""`bakeoff cluster`: machines that send load together."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from bakeoff.agents.base import Facts
from bakeoff.agents.cluster.ask import Member, members
from bakeoff.agents.cluster.begin import Joining, join, name_here, start_head
from bakeoff.agents.cluster.end import begin_apart, stop
from bakeoff.agents.cluster.hello import refuse_incompatible
from bakeoff.agents.cluster.records import Record, records
from bakeoff.agents.cluster.settings import HEAD_PORT, JOIN_PORTS
from bakeoff.agents.cluster.token import VARIABLE, default_token_file
from bakeoff.cli.console import make_console
from bakeoff.core.errors import GeneratorError, PlanError

EXIT_TO_MEND = 1
HELP = """Let many machines send load together: start, join, status, stop.

One machine is the head: it controls runs (`bakeoff run … --cluster ADDRESS`) and sends no load. The others join it.
Ray, which connects them, runs programs that it is sent: the cluster's token lets its holder run anything on every
machine, as the user who joined it. Keep the token as you keep a password, and the ports inside your laboratory.
"""

TokenFile = Annotated[
    Path | None,
    typer.Option("--token-file", metavar="FILE", help=f"The cluster's token. Default: ${VARIABLE}, or the user's own."),
]
Public = Annotated[
    bool, typer.Option("--public", help="Listen although this machine has a public address: a firewall is in front.")
]


def register(app: typer.Typer) -> None:
    """Add the verb with its sub-commands."""
    verb = typer.Typer(name="cluster", help=HELP, no_args_is_help=True)
    verb.command("start")(start_command)
    verb.command("join")(join_command)
    verb.command("status")(status_command)
    verb.command("stop")(stop_command)
    app.add_typer(verb)


def start_command(
    bind: Annotated[
        str, typer.Option("--bind", metavar="ADDRESS", help="The address of this machine that the others reach.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1024, max=65000, help="Its port; 30 more follow it.")] = HEAD_PORT,
    token_file: TokenFile = None,
    public: Public = False,
    block: Annotated[
        bool, typer.Option("--block/--detach", help="Stay in the foreground until Ctrl-C, or return when it has begun.")
    ] = False,
) -> None:
    """Begin a cluster: this machine is its head.

    Makes a token where there is none, in a file that only you can read, and prints what to type on the other machines.
    Ray listens with all addresses of this machine unless --bind is 127.0.0.1, which it is unless told otherwise.
    """
    token = (token_file or default_token_file()).absolute()
    if block:
        start_head(bind, port, token, public, _tell_begun)
        typer.echo("the head has ended, and the cluster with it")
        return
    words = ["start", "--block", "--bind", bind, "--port", str(port), "--token-file", str(token)]
    _tell_begun(begin_apart([*words, *(["--public"] if public else [])], ""))


def join_command(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="Address of the head, such as 10.0.0.1.")],
    name: Annotated[
        str | None, typer.Option("--name", help="What plans and reports call this machine. Default: its hostname.")
    ] = None,
    bind: Annotated[
        str | None,
        typer.Option("--bind", metavar="ADDRESS", help="This machine's address. Default: that towards the head."),
    ] = None,
    ports: Annotated[
        int, typer.Option("--ports", metavar="FIRST", help="The first of 30 ports that this machine listens on.")
    ] = JOIN_PORTS,
    token_file: TokenFile = None,
    pin: Annotated[
        str | None,
        typer.Option("--pin", metavar="CORES", help="Send load from these cores (1-3,5); Ray has the rest."),
    ] = None,
    spare_core: Annotated[
        bool, typer.Option("--spare-core", help="Leave the first core to Ray, send load from all others.")
    ] = False,
    public: Public = False,
    wait_s: Annotated[
        float, typer.Option("--wait", metavar="SECONDS", min=0, help="How long to try until the head answers.")
    ] = 0.0,
    block: Annotated[
        bool,
        typer.Option("--block/--detach", help="Stay in the foreground until Ctrl-C, or return when joined."),
    ] = True,
) -> None:
    """Let this machine send load for the cluster whose head is at ADDRESS.

    It needs the head's token, the same wheel of Bakeoff, the same Python and Ray, and nice 0; what differs is refused
    with what mends it. Ends with Ctrl-C or SIGTERM, and when the head is gone.
    """
    token = (token_file or default_token_file()).absolute()
    called = name_here(name)
    if block:
        join(Joining(address, token, called, bind, ports, pin, spare_core, public, wait_s), _tell_joined)
        typer.echo(f"agent {called} has left the cluster")
        return
    words = ["join", address, "--block", "--name", called, "--token-file", str(token), "--ports", str(ports)]
    words += ["--wait", str(wait_s), *(["--bind", bind] if bind else []), *(["--pin", pin] if pin else [])]
    flags = {"--spare-core": spare_core, "--public": public}
    _tell_joined(begin_apart([*words, *(flag for flag, given in flags.items() if given)], called))


def status_command(
    address: Annotated[
        str | None,
        typer.Argument(metavar="[ADDRESS]", help="Address of the head. Default: the head of this machine's cluster."),
    ] = None,
    token_file: TokenFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as JSON.")] = False,
) -> None:
    """List the machines of a cluster, what each told when it joined, and whether it sends load now.

    Exit code 1 when one of them may not take part in a run, with what is to be mended.
    """
    here = records()
    if address is None and not here:
        raise PlanError("no cluster runs here: name its head, or type `bakeoff cluster start`")
    token = token_file or (Path(here[0].token_file) if address is None else default_token_file())
    found = members(address or here[0].cluster, token.absolute())
    wrong = _wrong(found)
    if as_json:
        status = {"members": [_as_json(member) for member in found], "to_mend": wrong}
        typer.echo(json.dumps(status, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        _show(found)
        for text in wrong:
            typer.echo(f"to mend: {text}", err=True)
    if wrong:
        raise typer.Exit(EXIT_TO_MEND)


def stop_command(
    name: Annotated[str | None, typer.Option("--name", help="Only the agent of this name. Default: all.")] = None,
) -> None:
    """End what of a cluster you run on this machine: agents, then the head. Other programs of Ray are left alone."""
    ended: list[Record] = []

    def tell(record: Record) -> None:
        ended.append(record)
        typer.echo(f"{record.title} has left the cluster at {record.cluster}")

    stop(name, tell)
    if not ended:
        typer.echo("no cluster runs here")


def _tell_begun(record: Record) -> None:
    typer.echo(f"The head of a cluster is at {record.cluster}; what Ray says is in {record.log}.")
    typer.echo("Its token allows programs to run on all of its machines. Only you can read the token's file:")
    typer.echo(f"  {record.token_file}")
    typer.echo("Copy it to each machine that is to send load (scp -p), and type there:")
    typer.echo(f"  bakeoff cluster join {record.cluster} --token-file TOKEN-FILE")
    typer.echo(f"Then, here: bakeoff run … --cluster {record.cluster}")
    sys.stdout.flush()


def _tell_joined(record: Record) -> None:
    typer.echo(f"{record.title} has joined the cluster at {record.cluster} with address {record.address}")
    sys.stdout.flush()


def _wrong(found: list[Member]) -> list[str]:
    """What keeps machines from taking part."""
    head = next((member.limits for member in found if not member.name), None)
    if head is None:
        return ["it has no head that Bakeoff began: begin one with `bakeoff cluster start`"]
    texts = []
    for member in found:
        if member.name:
            try:
                refuse_incompatible(head, {member.name: Facts({}, {}, (), (), member.limits)})
            except GeneratorError as error:
                texts.append(str(error))
    return texts


def _as_json(member: Member) -> dict[str, object]:
    limits = member.limits
    return {
        "agent": member.name or None,
        "head": not member.name,
        "address": member.address,
        "build": {"version": limits.package, "engine": limits.engine, "package": limits.sources},
        "python": limits.python,
        "ray": limits.ray,
        "nice": limits.nice,
        "open_files": limits.open_files,
        "cores": len(limits.affinity),
        "quota_cores": limits.quota_cores,
        "link": member.link or None,
        "busy": member.busy,
    }


def _show(found: list[Member]) -> None:
    table = Table(box=None, pad_edge=False)
    for column in ("agent", "address", "build", "nice", "files", "cores", "link", "busy"):
        table.add_column(column, overflow="fold", justify="right" if column in ("nice", "files", "cores") else "left")
    for member in found:
        limits = member.limits
        cells = (
            member.name or "(head)",
            member.address,
            f"{limits.package} {limits.engine[:8]}",
            str(limits.nice),
            "unlimited" if limits.open_files is None else f"{limits.open_files:,}",
            f"{limits.cores:g}",
            member.link,
            ("busy" if member.busy else "free") if member.name else "",
        )
        table.add_row(*(Text(cell) for cell in cells))
    make_console().print(table)
    if not any(member.name for member in found):
        typer.echo("No machine has joined it yet.")
