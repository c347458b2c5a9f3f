"""`bakeoff explain`: what the marks and states on the lines of trials mean."""

from typing import Annotated

import typer

from bakeoff.cli.complete import one_of
from bakeoff.cli.console import make_console
from bakeoff.core.errors import PlanError
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.store.records.mark_docs import MARKS, STATES, Meaning

MEANINGS: dict[str, Meaning] = dict([*STATES.items(), *MARKS.items()])


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("explain")(explain)


def explain(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MARK]...", help="Marks or states; without one all of them.", autocompletion=one_of(MEANINGS)
        ),
    ] = None,
) -> None:
    """Say what a mark or state of a trial means, and what to do."""
    console = make_console()
    for word in words or MEANINGS:
        if word not in MEANINGS:
            raise PlanError(f"there is no mark or state {word!r}: {did_you_mean(word, MEANINGS)}")
        meaning = MEANINGS[word]
        console.print(f"{word}: {meaning.text}", markup=False, highlight=False)
        if meaning.mend:
            console.print(f"  {meaning.mend}", markup=False, highlight=False)
