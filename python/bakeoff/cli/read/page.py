"""The page that a verb writes beside what it prints, of what is no single run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bakeoff.report.blocks.tree import Report

PageOption = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Also write a page: .html, .pdf, .md or .txt.",
    ),
]
PageForceOption = Annotated[bool, typer.Option("--force", help="Replace the page when it is there.")]


def write_page(made: "Report", target: Path, force: bool) -> None:
    """Write it in the form of its ending, which was checked."""
    from bakeoff.cli.read.report import write_report  # renderers take a moment to load
    from bakeoff.report.renderers import form_of, renderer

    form = form_of(target)
    assert form is not None
    chosen = renderer(form)
    chosen.prepare()
    write_report(chosen, made, target, force)
