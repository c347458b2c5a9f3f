"""`bakeoff export`: a run file in the format of another tool or program."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from bakeoff.cli.complete import one_of, run_files
from bakeoff.core.errors import GeneratorError, PlanError
from bakeoff.core.system.atomic_write import write_whole
from bakeoff.core.units import plural
from bakeoff.formats.exporters import EXPORTERS
from bakeoff.formats.exporters.tables import TABLES
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.report.embed.redacted_rows import HiddenRows
from bakeoff.store.sqlite.read import read_run

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
            help=f"Table of csv to write, named by its rows: {NAMES}. Default: cells if trials have them, else trials.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="File to write, or folder for a format of several files. Default: next to the run file; - prints it.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    with_secrets: Annotated[
        bool,
        typer.Option(
            "--with-secrets",
            help="Keep passwords and tokens of addresses, commands and events; hidden by default.",
        ),
    ] = False,
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
        check_target(path, target, force, exporter.several)
    run = read_run(path) if with_secrets else HiddenRows().run(read_run(path))
    if printed:
        typer.echo(exporter.content(run, table), nl=False)
    elif exporter.several:
        count = _write_files(target, exporter.files(run), force)
        typer.echo(f"wrote {target}/: {plural(count, 'file')}")
    else:
        write_whole(target, exporter.content(run, table), force, ANOTHER)
        typer.echo(f"wrote {target}")
    for note in exporter.notes(run):
        typer.echo(note, err=True)


def _write_files(folder: Path, files: Mapping[str, str | bytes], force: bool) -> int:
    """Write them into a folder, which is made. Raises PlanError or GeneratorError."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise GeneratorError(f"{folder} cannot be made ({error.strerror}): {ANOTHER}") from None
    for name, content in files.items():
        write_whole(folder / name, content, force, ANOTHER)
    return len(files)


def check_target(run: Path, target: Path, force: bool, folder: bool = False) -> None:
    """Raise PlanError when `target`, which may be a `folder`, must not be written; a device or a pipe may."""
    if folder and target.is_dir() and any(target.iterdir()) and not force:
        raise PlanError(f"{target} exists already, with files in it: {ANOTHER}")
    if folder and target.exists() and not target.is_dir():
        raise PlanError(f"{target} is no folder, and this format is several files: choose another with -o")
    if target.exists() and run.exists() and target.samefile(run):
        raise PlanError(f"{target} is the run file itself: choose another with -o")
    if target.is_file() and not force:
        raise PlanError(f"{target} exists already: {ANOTHER}")
