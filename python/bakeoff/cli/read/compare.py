"""`bakeoff compare`: what the statistics say about a run."""

import json
from pathlib import Path
from typing import Annotated

import typer

from bakeoff.cli.complete import contenders, run_files
from bakeoff.cli.console import make_console
from bakeoff.cli.read.noise_floor import NoiseFile
from bakeoff.cli.read.run_inputs import RUN_FILES, FailedOption, NoteOption, notes_of, read_inputs
from bakeoff.core.errors import PlanError
from bakeoff.core.units import parse_share
from bakeoff.noise_floors import noise_for


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("compare")(compare)


def share(text: str | None) -> float | None:
    """`5%` or `0.05` as a number. Raises PlanError when it is neither."""
    if text is None:
        return None
    try:
        return parse_share(text)
    except ValueError as error:
        raise PlanError(f"--delta: {error}") from None


def compare(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="RUN.bakeoff...", help=RUN_FILES, autocompletion=run_files)
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", autocompletion=contenders, help="Divide by this contender (default: the first of the plan)."
        ),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="Smallest difference that matters, such as 5% (default: the plan's)."),
    ] = None,
    note: NoteOption = None,
    failed_run: FailedOption = None,
    aa: NoiseFile = None,
    details: Annotated[
        bool, typer.Option("--details", help="Also single pairs, single loads and audits, which explain the verdict.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The whole comparison as JSON.")] = False,
    schema: Annotated[
        bool, typer.Option("--json-schema", help="Print the JSON Schema of that instead; needs no run file.")
    ] = False,
) -> None:
    """Say which contender is better, by how much, and how sure that is."""
    from bakeoff.compare.collections.collection import compare_collection  # NumPy and SciPy take a moment
    from bakeoff.report.collections.collection import compose_collection
    from bakeoff.report.layout.detail import Detail
    from bakeoff.report.narrate.document import to_json
    from bakeoff.report.renderers.terminal import show

    if schema:
        from bakeoff.report.narrate.json_schema import json_schema

        typer.echo(json.dumps(json_schema(), indent=2))
        return
    if not paths:
        raise PlanError("name a run file: bakeoff compare RUN.bakeoff")
    notes, failed = notes_of(note), tuple(failed_run or ())
    collection = read_inputs(paths, failed, notes)
    found = compare_collection(collection, baseline, share(delta), noise_for(paths, aa, collection.folder))
    if as_json:
        typer.echo(to_json(found, indent=2))
        return
    report = compose_collection(collection, found, detail=Detail.DETAILS)
    show(report, make_console(), Detail.DETAILS if details else Detail.COMPARISON)
