"""What is printed when a run ends, however it ends."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from bakeoff.cli.console import make_console
from bakeoff.noise_floors import noise_for
from bakeoff.run.checks.trust import resume_command
from bakeoff.run.driver import RunInterruptedError
from bakeoff.run.modes.soak import stopped_early
from bakeoff.store.collections.collection import THE_RUN
from bakeoff.store.records.marks import UNBALANCED
from bakeoff.store.records.run_records import DIED, RunRecord
from bakeoff.store.sqlite.read import read_run

if TYPE_CHECKING:
    from rich.console import Console

    from bakeoff.compare.limits.objective_model import ObjectiveOutcome
    from bakeoff.compare.model.comparison import Comparison

EXIT_INTERRUPTED = 130
EXIT_DEFECT = 1
EXIT_STOPPED = EXIT_MISSED = 99  # a limit was broken; k6 has it for its thresholds
EXIT_NOTHING_COMPARABLE = 3
EXIT_CONTENDER_FAILED = 4
EXIT_UNDECIDED = 5


def print_result(path: Path, aa: Sequence[Path] | None = None) -> None:
    """The verdict in one sentence and what to do next, with the noise floor of an A/A run that is named, or lies beside
    it; what did not go well is told by the exit code.
    """
    from bakeoff.compare import compare_run  # NumPy and SciPy take a moment: the run need not wait
    from bakeoff.report.compose import compose
    from bakeoff.report.layout.detail import Detail
    from bakeoff.report.renderers.terminal import show

    console = make_console()
    run = read_run(path)
    found = compare_run(run, noise=noise_for([path], aa).get(THE_RUN))
    show(compose(run, found, detail=Detail.SUMMARY), console, Detail.SUMMARY)
    _print_audit(run, found, path, console)
    console.print(
        f"\nRun file: {path}\nNext: bakeoff compare {path}   |   bakeoff report {path} -o report.html",
        markup=False,
        soft_wrap=True,
    )
    if any(UNBALANCED in trial.marks for trial in run.trials):
        typer.echo("bakeoff: the ledger of messages does not balance in some trial: a defect of bakeoff", err=True)
        raise typer.Exit(EXIT_DEFECT)
    stopped = [trial for trial in run.trials if stopped_early(trial)]
    for trial in stopped:
        typer.echo(f"bakeoff: {trial.contender}: {trial.reason}", err=True)
    if stopped:
        raise typer.Exit(EXIT_STOPPED)
    end_by_objectives([("", found.objective)])
    if nothing := nothing_comparable(found):
        typer.echo(f"bakeoff: nothing is comparable: {nothing}", err=True)
        raise typer.Exit(EXIT_NOTHING_COMPARABLE)
    if failed := failed_contenders(run, found):
        typer.echo(f"bakeoff: {failed}", err=True)
        raise typer.Exit(EXIT_CONTENDER_FAILED)


def _print_audit(run: RunRecord, found: "Comparison", path: Path, console: "Console") -> None:
    """Whether the numbers of the trials can be true together, in a line; what cannot is told in full."""
    from bakeoff.audit.audit import audit
    from bakeoff.audit.of_run import own_outcomes, table_of
    from bakeoff.report.audit.lines import show, summary

    made = audit([table_of(run, str(path))], own=own_outcomes(found, str(path)))
    if made.impossible:
        show(made, console)
    else:
        console.print(f"Audit: {summary(made)}", markup=False, soft_wrap=True)


def end_by_objectives(outcomes: Iterable[tuple[str, "ObjectiveOutcome | None"]]) -> None:
    """Name who misses an objective, and who may; ends with the exit code for that. `outcomes` has them by suite, whose
    name is empty where there is one.
    """
    from bakeoff.report.narrate import wording

    code = 0
    for suite, found in outcomes:
        if found is None or found.verdict == "met":
            continue
        missed = found.verdict == "missed"
        names = wording.names([each.name for each in found.contenders if each.verdict == found.verdict])
        reason = f"missed by {names}" if missed else f"not decided of {names}"
        typer.echo(f"bakeoff: {f'{suite}: ' if suite else ''}objective {found.objective}: {reason}", err=True)
        code = EXIT_MISSED if missed or code == EXIT_MISSED else EXIT_UNDECIDED
    if code:
        raise typer.Exit(code)


def nothing_comparable(found: "Comparison") -> str:
    """Why no pair of contenders has a block in common, or the only contender no trial of use; empty when there is."""
    if found.pairs:
        return (
            "" if any(pair.primary.blocks for pair in found.pairs) else "no block has usable trials of two contenders"
        )
    used = any(contender.trials_ok or contender.trials_failed for contender in found.contenders)
    return "" if used else "no trial can be used"


def failed_contenders(run: RunRecord, found: "Comparison") -> str:
    """Who failed in trials, how often, or gave wrong results; empty when nobody did."""
    from bakeoff.report.narrate.validity.run_advice import outages_words
    from bakeoff.report.narrate.verdict.gates import gate_text  # takes a moment to load

    parts = [f"{c.name} {outages_words(c)}" for c in found.contenders if c.trials_failed]
    parts += [f"{s.contender} was lost in block {s.block}" for s in run.searches if s.outcome == DIED]
    wrong = [pair.primary.gates for pair in found.pairs]
    parts += dict.fromkeys(gate_text(gate) for gates in wrong for gate in gates if gate.name == "wrong content")
    return "; ".join(parts)


def stop_cleanly(stop: RunInterruptedError, instead: str | None = None) -> NoReturn:
    """Say what was kept and how to go on, by `instead` where resume could not; ends with exit code 130."""
    if stop.path is None:
        typer.echo("bakeoff: interrupted before anything was measured", err=True)
    else:
        run = read_run(stop.path)
        done = sum(t.state != "interrupted" for t in run.trials)
        typer.echo(
            f"bakeoff: interrupted; {done} of {run.trials_planned} trials are kept in {stop.path}. "
            + (instead or f"Go on with: {resume_command(run)}"),
            err=True,
        )
    raise typer.Exit(EXIT_INTERRUPTED)
