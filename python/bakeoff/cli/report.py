"""`bakeoff report`: the comparison as one file, in the form that its name ends in."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bakeoff.cli.compare import RUN_FILES, share
from bakeoff.cli.complete import contenders, run_files
from bakeoff.cli.made import make_report, paper_tables
from bakeoff.errors import LabError, PlanError
from bakeoff.report.renderers import Renderer, endings, form_of
from bakeoff.whole_file import write_whole

if TYPE_CHECKING:
    from bakeoff.report.blocks import Report


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("report")(report)


def report(
    paths: Annotated[list[Path], typer.Argument(metavar="RUN.bakeoff...", help=RUN_FILES, autocompletion=run_files)],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="REPORT.html",
            help="Default: RUN.html next to the run file. The ending tells the form: .html, .pdf, .md, .txt.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the report if it is there already.")] = False,
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
    paper: Annotated[
        Path | None,
        typer.Option(
            metavar="PAPER.toml",
            help="Put the author's words before what is generated, and prices and features behind it.",
        ),
    ] = None,
    short: Annotated[bool, typer.Option("--brief", help="The short edition: two pages with what decides.")] = False,
    surfaces: Annotated[
        bool, typer.Option("--surfaces", help="Also draw each test of a file matrix as a 3-D surface.")
    ] = False,
) -> None:
    """Write the report of a run: one HTML file that opens offline, a PDF to print, Markdown or plain text."""
    path = paths[0]
    target = path.parent / f"{path.stem}.html" if output is None else output
    form = check_target(paths, target, force)
    smallest = share(delta)
    from bakeoff.report.edition import Edition
    from bakeoff.report.renderers import renderer  # these take a moment to load: refuse bad input first

    words = paper_tables(paper)
    chosen = renderer(form)
    chosen.prepare()
    edition = Edition(baseline=baseline, delta=smallest, surfaces=surfaces, short=short, paper=words)
    made, result = make_report(paths, edition)
    _write(chosen, made, target, force, result)


def _write(chosen: Renderer, made: "Report", target: Path, force: bool, result: Sequence[str]) -> None:
    """The report, with the files that it needs beside it."""
    content = chosen.render(made, target.stem)
    for name, figure in chosen.beside(made, target.stem).items():
        beside(target.parent / name, figure)
    write_whole(target, content, force, "choose another name with -o, or replace it with --force")
    typer.echo("\n".join(result))
    typer.echo(f"Report: {target}")


def beside(path: Path, content: bytes) -> None:
    """Write a file that the report needs, in a folder of its own. Raises LabError."""
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise LabError(f"{path.parent} cannot be made ({error.strerror}): choose another name with -o") from None
    write_whole(path, content)


def check_target(runs: Sequence[Path], target: Path, force: bool) -> str:
    """The form of report that `target` asks for. Raises PlanError when it must not or cannot be written."""
    form = form_of(target)
    if form is None:
        known = " or ".join(endings())
        raise PlanError(f"{target} does not end in {known}: give the report a name such as report.html")
    if target.exists() and any(run.exists() and target.samefile(run) for run in runs):
        raise PlanError(f"{target} is the run file itself: give the report another name")
    if target.is_dir():
        raise PlanError(f"{target} is a folder: give the name of a file in it")
    if target.exists() and not force:
        raise PlanError(f"{target} is there already: choose another name with -o, or replace it with --force")
    if not target.parent.is_dir():
        raise PlanError(f"the folder {target.parent} does not exist: make it first")
    return form
