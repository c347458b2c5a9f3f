"""What a run asks of the user at the terminal, and of the statistics."""

import select
import sys
from pathlib import Path

import typer

from bakeoff.run.prompts import Prompts, Standing
from bakeoff.store.sqlite.read import read_run

# Who does not answer for so long is not there: the run goes on.
PATIENCE_S = 60.0


def make_prompts() -> Prompts:
    """Both; a question is put only where somebody can see and answer it."""
    here = sys.stdin.isatty() and sys.stderr.isatty()
    return Prompts(ask if here else None, analyse)


def ask(question: str, patience_s: float = PATIENCE_S) -> bool:
    """Yes unless the user says no in time."""
    typer.echo(f"{question} [Y/n] (yes after {patience_s:.0f} s) ", err=True, nl=False)
    ready, _, _ = select.select([sys.stdin], [], [], patience_s)
    answer = sys.stdin.readline().strip().lower() if ready else ""
    if not ready:
        typer.echo("yes", err=True)
    return not answer.startswith("n")


def analyse(path: Path) -> Standing:
    """Whether a run is over by its plan, as it stands."""
    from bakeoff.compare import compare_run  # NumPy and SciPy take a moment
    from bakeoff.compare.estimate.interim import standing
    from bakeoff.report.narrate.sentences import sentence

    found = standing(compare_run(read_run(path)))
    return Standing(found.ends, sentence(found))
