"""`bakeoff export`: a run file in the format of another tool or program."""

from pathlib import Path
from typing import Annotated

import typer

from bakeoff.cli.complete import one_of, run_files
from bakeoff.errors import PlanError
from bakeoff.exporters import EXPORTERS
from bakeoff.exporters.tables import TABLES
from bakeoff.plan.messages import did_you_mean
from bakeoff.store.read import read_run
from bakeoff.whole_file import write_whole

ANOTHER = "choose another name with -o, or replace it with --force"
NAMES = ", ".join(f"{name} ({source.row})" for name, source in TABLES.items())
FORMATS = ", ".join(f"{exporter.name} ({exporter.summary})" for exporter in EXPORTERS.values())


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("export")(export)


def export(
    path: Annotated[Path, typer.Argument(metavar="RUN.bakeoff", help="Run file.", autocompletion=run_files)],
    to: Annotated[
        str, typer.Option("--to", metavar="FORMAT", autocompletion=one_of(EXPORTERS), help=f"Format: {FORMATS}.")
    ],
    table: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"Of csv the table to write, by what one of its rows is: {NAMES}. By default cells where trials are "
            "made of them, else trials.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="File to write: by default beside the run file; - prints it.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there already.")] = False,
) -> None:
    """Write a run in the format of another tool or program."""
    if to not in EXPORTERS:
        raise PlanError(f"--to: there is no format {to!r}: {did_you_mean(to, list(EXPORTERS))}")
    exporter = EXPORTERS[to]
    exporter.check_table(table)
    name = f"{path.stem}{'' if table is None else f'.{table}'}{exporter.suffix}"
    printed = output is not None and str(output) == "-"
    target = output or path.parent / name
    if not printed:
        check_target(path, target, force)
    run = read_run(path)
    content = exporter.content(run, table)
    if printed:
        typer.echo(content, nl=False)
    else:
        write_whole(target, content, force, ANOTHER)
        typer.echo(f"wrote {target}")
    for note in exporter.notes(run):
        typer.echo(note, err=True)


def check_target(run: Path, target: Path, force: bool) -> None:
    """Raise PlanError when `target` must not be written; a device or a pipe may."""
    if target.exists() and run.exists() and target.samefile(run):
        raise PlanError(f"{target} is the run file itself: choose another with -o")
    if target.is_file() and not force:
        raise PlanError(f"{target} is there already: {ANOTHER}")
