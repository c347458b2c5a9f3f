"""`bakeoff inventory`: the files of a share by size."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress, TextColumn
from rich.table import Table

from bakeoff.cli.console import make_console, print_line
from bakeoff.core.errors import PlanError
from bakeoff.core.system.atomic_write import write_whole
from bakeoff.core.timeouts import answers
from bakeoff.core.units import format_binary, format_size
from bakeoff.plan.settings.file_weights import inventory_to_toml
from bakeoff.testdata.inventory import Inventory, take_inventory

PATIENCE_S = 10.0
LIMIT = 10_000_000


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("inventory")(inventory)


def inventory(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The network folder, or a folder in it.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write it for file-matrix --weights FILE.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=10**9, help="Stop after this many names.")] = LIMIT,
) -> None:
    """Count the files of a share by size, to weigh file-matrix by them.

    Only reads: writes nothing there, follows no link, enters no other file system.
    """
    if not answers(str(folder), PATIENCE_S):
        raise PlanError(f"{folder} does not answer for {PATIENCE_S:g} s: is the server of the network folder up?")
    try:
        counts = _walk(folder, limit)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise PlanError(f"{folder} cannot be read ({why}): name a folder, not a link to one") from None
    if output is not None:
        write_whole(output, inventory_to_toml(counts))
    _show(counts)
    if output is not None:
        typer.echo(f"wrote {output}")


def _walk(folder: Path, limit: int) -> Inventory:
    console = make_console(stderr=True)
    with Progress(
        TextColumn("{task.description}"), console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("inventory", total=None)
        return take_inventory(folder, limit, lambda names: bar.update(task, description=f"inventory: {names:,} names"))


def _show(counts: Inventory) -> None:
    console = make_console()
    table = Table(box=None, pad_edge=False)
    for column in ("files up to", "files", "of files", "bytes", "of bytes"):
        table.add_column(column, justify="right")
    for up_to, (files, total) in sorted(counts.sizes.items()):
        table.add_row(
            format_binary(up_to),
            f"{files:,}",
            f"{files / counts.files:.1%}",
            format_size(total),
            f"{total / counts.bytes:.1%}",
        )
    console.print(table)
    for line in summary(counts):
        print_line(console, line)


def summary(counts: Inventory) -> list[str]:
    """What was counted and what was not, in sentences."""
    lines = [f"{counts.folder}: {counts.files:,} files with {format_size(counts.bytes)} in {counts.folders:,} folders."]
    apart = [
        (counts.empty, "empty files"),
        (counts.links, "symbolic links"),
        (counts.special, "sockets, pipes and devices"),
        (counts.again, "further names of files counted already"),
        (counts.elsewhere, "folders of other file systems"),
    ]
    if any(number for number, _ in apart):
        lines.append("Not counted: " + ", ".join(f"{number:,} {what}" for number, what in apart if number) + ".")
    if counts.errors:
        more = (
            f" and {counts.errors - len(counts.named_errors):,} more"
            if counts.errors > len(counts.named_errors)
            else ""
        )
        lines.append(f"{counts.errors:,} could not be read, and are missing: {'; '.join(counts.named_errors)}{more}.")
    if not counts.complete:
        lines.append(
            f"Stopped at the limit of {counts.names:,} names: a part of the folder gives no weights. Give a larger "
            "--limit."
        )
    return lines
