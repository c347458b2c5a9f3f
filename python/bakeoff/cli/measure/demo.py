"""`bakeoff demo`: a whole bake-off on this machine, between two built-in servers with one known difference."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from bakeoff.agents.make import make_agents
from bakeoff.cli.measure.result import print_result, stop_cleanly
from bakeoff.cli.measure.run import make_observer
from bakeoff.core.errors import GeneratorError, PlanError
from bakeoff.plan.load import PlanInput, resolve_plan
from bakeoff.run.driver import RunInterruptedError, start_run
from bakeoff.testdata.corpus.write import write_corpus

CORPUS_SEED = 1
FAST_MS, SLOW_MS = 2.0, 2.5
SETTINGS = {"length": "1.8s", "ramp_up": "200ms", "ramp_down": "100ms"}


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("demo")(demo)


def demo(
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="New folder for corpus, run file and report (demo/DATE-TIME).",
        ),
    ] = None,
    blocks: Annotated[int, typer.Option(min=1, max=100, help="Visits of each server.")] = 6,
) -> None:
    """Compare two built-in web servers that differ in one known way.

    `brisk` holds every reply back by 2.0 ms, `steady` by 2.5 ms; all else is equal. So brisk must win, at any
    number of clients, by a little less than 1.25 times: whoever measures well finds that.
    """
    folder = output or Path("demo") / f"{datetime.now():%Y%m%d-%H%M%S}"
    if folder.exists():
        raise PlanError(f"{folder} exists already: choose another folder with -o")
    corpus = folder / "corpus"
    try:
        corpus.mkdir(parents=True)
    except OSError as error:
        raise GeneratorError(f"{folder} cannot be made ({error.strerror}): choose another with -o") from None
    typer.echo(f"Writing the corpus of web-static to {corpus} …")
    write_corpus("web-static", corpus, CORPUS_SEED)
    run_path, report_path = folder / "demo.bakeoff", folder / "report.html"
    with built_in(corpus, FAST_MS) as brisk, built_in(corpus, SLOW_MS) as steady:
        typer.echo(f"Two built-in servers: brisk answers after {FAST_MS} ms, steady after {SLOW_MS} ms.")
        plan = resolve_plan(
            PlanInput(
                origin="demo",
                plan={"name": "Demo", "suite": "web-static", "size": "quick", "blocks": blocks},
                settings=dict(SETTINGS),
                contenders=[{"name": "brisk", "address": brisk}, {"name": "steady", "address": steady}],
            )
        )
        try:
            start_run(plan, run_path, make_agents(plan, None), make_observer())
        except RunInterruptedError as stop:
            stop_cleanly(stop, "Its servers have ended with it: begin again with `bakeoff demo`")
    from bakeoff.cli.read.report import report  # the chart library takes a moment to load

    try:
        print_result(run_path)
    finally:  # whatever the exit code is to be
        report([run_path], report_path)


@contextmanager
def built_in(root: Path, delay_ms: float, core: int | None = None) -> Iterator[str]:
    """A built-in server in a process of its own, bound to a core when one is given; gives its address."""
    command = [sys.executable, "-m", "bakeoff", "serve", "web", "--root", str(root), "--port", "0"]
    command += [] if core is None else ["--pin", str(core)]
    process = subprocess.Popen([*command, "--delay", f"{delay_ms}ms"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        match = re.search(r"http://\S+", process.stdout.readline())
        if match is None:
            raise GeneratorError("the built-in server did not start: try `bakeoff serve web`, which says why")
        yield match[0]
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
