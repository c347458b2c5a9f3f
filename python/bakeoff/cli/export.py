"""`bakeoff export`: a run file in the format of another tool."""

from pathlib import Path
from typing import Annotated

import typer

from bakeoff.errors import PlanError
from bakeoff.exporters import EXPORTERS
from bakeoff.plan.messages import did_you_mean
from bakeoff.store.read import read_run
from bakeoff.whole_file import write_whole

ANOTHER = "choose another name with -o, or replace it with --force"
FORMATS = ", ".join(f"{exporter.name} ({exporter.summary})" for exporter in EXPORTERS.values())


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("export")(export)


def export(
    path: Annotated[Path, typer.Argument(metavar="RUN.bakeoff", help="Run file.")],
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help=f"Format: {FORMATS}.")],
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
    """Write a run in the format of another tool."""
    if to not in EXPORTERS:
        raise PlanError(f"--to: there is no format {to!r}: {did_you_mean(to, list(EXPORTERS))}")
    exporter = EXPORTERS[to]
    if output is not None and str(output) == "-":
        typer.echo(exporter.text(read_run(path)), nl=False)
        return
    target = output or path.parent / f"{path.stem}{exporter.suffix}"
    check_target(path, target, force)
    write_whole(target, exporter.text(read_run(path)), force, ANOTHER)
    typer.echo(f"wrote {target}")


def check_target(run: Path, target: Path, force: bool) -> None:
    """Raise PlanError when `target` must not be written; a device or a pipe may."""
    if target.exists() and run.exists() and target.samefile(run):
        raise PlanError(f"{target} is the run file itself: choose another with -o")
    if target.is_file() and not force:
        raise PlanError(f"{target} is there already: {ANOTHER}")
