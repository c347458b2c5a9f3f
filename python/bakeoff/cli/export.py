"""`bakeoff export`: a run file in the format of another tool."""

from pathlib import Path
from typing import Annotated

import typer

from bakeoff.errors import PlanError
from bakeoff.exporters import EXPORTERS
from bakeoff.plan.messages import did_you_mean
from bakeoff.store.read import read_run
from bakeoff.whole_file import write_whole

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
) -> None:
    """Write a run in the format of another tool."""
    if to not in EXPORTERS:
        raise PlanError(f"--to: there is no format {to!r}: {did_you_mean(to, list(EXPORTERS))}")
    exporter = EXPORTERS[to]
    text = exporter.text(read_run(path))
    if output is not None and str(output) == "-":
        typer.echo(text, nl=False)
        return
    target = output or path.with_suffix(exporter.suffix)
    if target.exists() and target.samefile(path):
        raise PlanError(f"{target} is the run file itself: choose another with -o")
    write_whole(target, text)
    typer.echo(f"wrote {target}")
