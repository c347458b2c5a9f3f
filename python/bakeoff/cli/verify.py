"""`bakeoff verify`: is this the report that its run gives?"""

from pathlib import Path
from typing import Annotated

import typer

from bakeoff.bounded_file import MIB, read_bounded
from bakeoff.cli.complete import run_files
from bakeoff.cli.made import make_report, paper_tables
from bakeoff.errors import PlanError
from bakeoff.report.renderers import endings, form_of

MOST_BYTES = 256 * MIB
SHOWN = 10
LONGEST = 60
EXIT_DIFFERENT = 1


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("verify")(verify)


def verify(
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="A report: .html, .pdf, .md or .txt.")],
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN.bakeoff...", help="The run files, or the campaign, that it tells of.", autocompletion=run_files
        ),
    ],
    paper: Annotated[
        Path | None,
        typer.Option(metavar="PAPER.toml", help="The paper file of a report as .md or .txt; others hold it."),
    ] = None,
) -> None:
    """Hold every word and number of a report against its run.

    The report is made again from the run, as it was asked for then, and compared: all words, the data that is embedded
    in it, and every drawing. Run files are sealed, so that a figure changed there is found as well.

    Exit codes: 0 the same; 1 something differs, which is listed; 2 it cannot be compared.
    """
    form = form_of(report)
    if form is None:
        raise PlanError(f"{report} does not end in {' or '.join(endings())}: name a report that Bakeoff wrote")
    content = _content(report)
    from bakeoff.report.edition import Edition  # these take a moment to load
    from bakeoff.report.renderers import renderer
    from bakeoff.report.words import differences, said

    words = paper_tables(paper)
    chosen = renderer(form)
    chosen.prepare()
    here = said(form, content)
    made, _ = make_report(runs, here.edition or Edition(paper=words))
    found = differences(here, said(form, chosen.render(made, report.stem)))
    found += [
        difference
        for name, figure in chosen.beside(made, report.stem).items()
        for difference in differences(said("html", _content(report.parent / name)), said("html", figure))
    ]
    if not found:
        typer.echo(f"{report} says what {_named(runs)} gives: all of its {here.numbers:,} numbers")
        return
    for difference in found[:SHOWN]:
        after = f" (after “{difference.after}”)" if difference.after else ""
        typer.echo(f"the report has “{_short(difference.here)}”, the run “{_short(difference.there)}”{after}")
    if len(found) > SHOWN:
        typer.echo(f"and {len(found) - SHOWN:,} more")
    typer.echo(f"{report} is not what {_named(runs)} gives with this version of Bakeoff: {len(found):,} differences")
    raise typer.Exit(EXIT_DIFFERENT)


def _content(path: Path) -> bytes:
    try:
        return read_bounded(path, MOST_BYTES)
    except OSError as error:
        raise PlanError(f"{path} cannot be read: {error.strerror or error}") from None


def _named(runs: list[Path]) -> str:
    return " + ".join(str(run) for run in runs)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
