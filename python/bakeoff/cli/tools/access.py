"""`bakeoff access`: the shipped access specifications, and Iometer files."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from bakeoff.cli.complete import one_of
from bakeoff.cli.console import make_console
from bakeoff.core.system.atomic_write import write_whole
from bakeoff.formats.importers.file.icf import Icf, read_icf, write_icf
from bakeoff.plan.settings.access import AccessSpec, find, shipped


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("access")(access)


def _complete(incomplete: str) -> list[str]:
    return one_of(shipped())(incomplete)


def access(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Show these with their lines.",
            autocompletion=_complete,
        ),
    ] = None,
    icf: Annotated[Path | None, typer.Option(metavar="FILE", help="Show those of an Iometer file instead.")] = None,
    write: Annotated[Path | None, typer.Option(metavar="FILE", help="Write them as an Iometer file.")] = None,
) -> None:
    """List, read or write access specifications of Iometer (.icf)."""
    if icf is not None:
        specs = [spec for spec, _ in read_icf(icf).specs]
    else:
        specs = [find(name) for name in names] if names else list(shipped().values())
    if write is not None:
        text = write_icf(Icf(specs=tuple((spec, "NONE") for spec in specs)))
        write_whole(write, text, advice="choose another place with --write")
        typer.echo(f"wrote {write}")
        return
    _show(specs, with_lines=bool(names) or icf is not None)


def _show(specs: list[AccessSpec], with_lines: bool) -> None:
    console = make_console()
    if not with_lines:
        for spec in specs:
            lines = "1 line" if len(spec.lines) == 1 else f"{len(spec.lines)} lines"
            console.print(f"{spec.name} ({lines})", markup=False)
        return
    for spec in specs:
        console.print(spec.name, markup=False)
        table = Table(box=None, pad_edge=False)
        for column in ("size", "share %", "reads %", "random %", "delay ms", "burst", "align", "reply"):
            table.add_column(column, justify="right")
        for line in spec.lines:
            table.add_row(*(f"{value:g}" if isinstance(value, float) else str(value) for value in line.row()))
        console.print(table)
