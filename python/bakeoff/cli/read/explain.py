"""`bakeoff explain`: what the marks and states on the lines of trials mean."""

from typing import Annotated

import typer

from bakeoff.cli.complete import one_of
from bakeoff.cli.console import make_console
from bakeoff.core.errors import PlanError
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.store.records.mark_docs import MARKS, STATES, MarkDoc

TERM_DOCS: dict[str, MarkDoc] = dict([*STATES.items(), *MARKS.items()])


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("explain")(explain)


def explain(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MARK]...", help="Marks or states; without one all of them.", autocompletion=one_of(TERM_DOCS)
        ),
    ] = None,
) -> None:
    """Say what a mark or state of a trial means, and what to do."""
    console = make_console()
    for word in words or TERM_DOCS:
        if word not in TERM_DOCS:
            raise PlanError(f"there is no mark or state {word!r}: {did_you_mean(word, TERM_DOCS)}")
        doc = TERM_DOCS[word]
        console.print(f"{word}: {doc.text}", markup=False, highlight=False)
        if doc.mend:
            console.print(f"  {doc.mend}", markup=False, highlight=False)
