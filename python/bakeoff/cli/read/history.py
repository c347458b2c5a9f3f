"""`bakeoff history`: runs of one plan over time."""

import json
from pathlib import Path
from typing import Annotated

import typer

from bakeoff.cli.complete import any_files
from bakeoff.cli.console import make_console
from bakeoff.cli.read.page import PageForceOption, PageOption, write_page


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("history")(history)


def history(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[DIR|RUN.bakeoff]...",
            help="Folders, searched with all below them, and run files (default: this folder).",
            autocompletion=any_files,
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="The metric: rate, p99, … (default: what each plan is decided by)."),
    ] = None,
    output: PageOption = None,
    force: PageForceOption = False,
    details: Annotated[bool, typer.Option("--details", help="Show every run.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Everything as JSON.")] = False,
    schema: Annotated[
        bool, typer.Option("--json-schema", help="Print the JSON Schema of that instead; needs no run file.")
    ] = False,
    fail_on_change: Annotated[
        bool, typer.Option("--fail-on-change", help="Exit 1 where the last change is for the worse.")
    ] = False,
) -> None:
    """Show runs of one plan over time, and where a level changed.

    bakeoff history nightly/ -o history.html

    Runs with the same suite, load and settings belong to one plan, whichever machine or build they are of. A run
    whose verdict would be withheld, or with a forfeited trial, is shown and makes no level.

    With --fail-on-change a build server learns of a contender whose last change is for the worse: of its level, or of
    its ratio to the baseline. A change that all contenders share is the machine's and does not count.

    Exit codes: 0 shown, whether or not a level changed; 1 with --fail-on-change, the last change is for the worse;
    2 refused, in one sentence.
    """
    if schema:
        from bakeoff.report.collections.history_schema import json_schema

        typer.echo(json.dumps(json_schema(), indent=2))
        return
    given = paths or [Path()]
    if output is not None:
        from bakeoff.cli.read.report import check_target

        check_target(given, output, force)
    from bakeoff.store.collections.run_files import read_all, run_files

    files = run_files(given)
    from bakeoff.compare.collections.history import history_of  # NumPy takes a moment: refuse bad input first

    found = history_of(read_all(files), metric)
    if as_json:
        from bakeoff.report.collections.history_document import document

        typer.echo(json.dumps(document(found), indent=2, ensure_ascii=False))
    if not as_json or output is not None:
        from bakeoff.report.collections.history import compose
        from bakeoff.report.layout.detail import Detail
        from bakeoff.report.renderers.terminal import show

        page = compose(found)
        if not as_json:
            show(page, make_console(), Detail.PAGE if details else Detail.SUMMARY)
        if output is not None:
            write_page(page, output, force)
            typer.echo(f"Page: {output}", err=as_json)
    if fail_on_change and any(plan.worse() for plan in found.plans):
        raise typer.Exit(1)
