"""`bakeoff disclose`: what a paper can disclose, as a file to be filled in."""

from typing import Annotated

import typer

from bakeoff.errors import PlanError
from bakeoff.paper.disclosure import template


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("disclose")(disclose)


def disclose(
    blank: Annotated[bool, typer.Option("--template", help="Print every field, commented, for a paper file.")] = False,
) -> None:
    """Print what a paper can disclose of contenders and test bed, to be filled in."""
    if not blank:
        raise PlanError("say what is wanted: `bakeoff disclose --template > paper.toml` prints every field")
    typer.echo(template())
