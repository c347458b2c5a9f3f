"""`bakeoff doctor`: what of this machine limits a run."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from bakeoff.agents.machine.vitals import take_vitals
from bakeoff.agents.make import make_agent
from bakeoff.cli.console import make_console, print_line
from bakeoff.run.checks.doctor import Finding, examine, findings_object

EXIT_TO_MEND = 1
SIGNS = {"mend": "MEND", "note": "note", "good": "good", "unknown": "?"}
STYLES = {"mend": "bold red", "note": "yellow", "good": "green", "unknown": "dim"}


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("doctor")(doctor)


def doctor(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where run files will go.")] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="The same as JSON.")] = False,
) -> None:
    """Say what of this machine limits a run, and how to mend it.

    It only reads, for about a second, and changes nothing. The most important comes first. Exit code 1 when
    something is to be mended before figures of this machine are believed.
    """
    findings = examine(take_vitals(make_agent().facts(), folder))
    if as_json:
        typer.echo(json.dumps(findings_object(findings), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        _show(findings)
    if any(finding.level == "mend" for finding in findings):
        raise typer.Exit(EXIT_TO_MEND)


def _show(findings: tuple[Finding, ...]) -> None:
    console = make_console()
    table = Table(box=None, pad_edge=False)
    for column in ("", "what", "here", "limits"):
        table.add_column(column, overflow="fold")
    for finding in findings:
        sign = Text(SIGNS[finding.level], STYLES[finding.level])
        table.add_row(sign, Text(finding.name), Text(finding.text), Text(finding.limits))
    console.print(table)
    mends = [finding for finding in findings if finding.mend]
    if mends:
        console.print("\nWhat mends it:", markup=False)
    for finding in mends:
        print_line(console, f"  {finding.name}: {finding.mend}")
