"""`bakeoff report`: the comparison as one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from bakeoff.cli.compare import share
from bakeoff.errors import PlanError
from bakeoff.kinds import KINDS, compare_part
from bakeoff.store.read import read_run
from bakeoff.whole_file import write_whole


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("report")(report)


def report(
    path: Annotated[Path, typer.Argument(metavar="RUN.bakeoff", help="Run file.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="REPORT.html", help="Default: RUN.html next to the run file."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the report if it is there already.")] = False,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Divide by this contender (default: the first of the plan)."),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="Smallest difference that matters, such as 5% (default: the plan's)."),
    ] = None,
    surfaces: Annotated[
        bool, typer.Option("--surfaces", help="Also draw each test of a file matrix as a 3-D surface.")
    ] = False,
) -> None:
    """Write the report of a run as one HTML file that opens offline."""
    target = path.parent / f"{path.stem}.html" if output is None else output
    check_target(path, target, force)
    smallest = share(delta)
    from bakeoff.report.html import (
        render_html,
        warm_up,
    )  # these take a moment to load: refuse bad input first

    warm_up()
    run = read_run(path)
    if surfaces and not _has_surfaces(run.kind):
        drawn = ", ".join(filter(_has_surfaces, KINDS))
        raise PlanError(f"--surfaces draws runs of {drawn}, {path} is one of {run.kind}: leave it out")
    from bakeoff.compare import compare_run
    from bakeoff.report.compose import compose

    comparison = compare_run(run, baseline, smallest)
    page = render_html(compose(run, comparison, surfaces))
    write_whole(target, page, force, "choose another name with -o, or replace it with --force")
    typer.echo("\n".join(comparison.result()))
    typer.echo(f"Report: {target}")


def _has_surfaces(kind: str) -> bool:
    """Whether the cells of a kind differ by two sizes."""
    cells = compare_part(kind).cells
    return cells is not None and len(cells.axes) == 2


def check_target(run: Path, target: Path, force: bool) -> None:
    """Raise PlanError when ``target`` must not or cannot be written."""
    if target.suffix.lower() not in (".html", ".htm"):
        raise PlanError(f"{target} does not end in .html: give the report a name such as report.html")
    if target.exists() and run.exists() and target.samefile(run):
        raise PlanError(f"{target} is the run file itself: give the report another name")
    if target.is_dir():
        raise PlanError(f"{target} is a folder: give the name of a file in it")
    if target.exists() and not force:
        raise PlanError(f"{target} is there already: choose another name with -o, or replace it with --force")
    if not target.parent.is_dir():
        raise PlanError(f"the folder {target.parent} does not exist: make it first")
