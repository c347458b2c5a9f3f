"""`bakeoff corpus`: write the files that contenders serve."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from bakeoff.cli.complete import one_of
from bakeoff.cli.console import make_console
from bakeoff.core.errors import PlanError
from bakeoff.core.units import format_size
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.testdata.corpus.layout import LAYOUTS
from bakeoff.testdata.corpus.write import write_corpus

MAX_SEED = 2**53 - 1


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("corpus")(corpus)


def corpus(
    suite: Annotated[
        str, typer.Argument(metavar="SUITE", help="web-static or web-dynamic.", autocompletion=one_of(LAYOUTS))
    ],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="New or empty folder.")],
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Same seed, same bytes, on every machine.")] = 1,
    force: Annotated[bool, typer.Option("--force", help="Write into a folder that has other content.")] = False,
) -> None:
    """Write the corpus of a suite to a folder, with its manifest."""
    if suite not in LAYOUTS:
        raise PlanError(f"there is no corpus {suite!r}: {did_you_mean(suite, LAYOUTS)}")
    console = make_console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"corpus {suite}", total=None)
        manifest = write_corpus(
            suite,
            folder,
            seed,
            force=force,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    pages = f", {len(manifest.dynamic)} computed pages" if manifest.dynamic else ""
    typer.echo(
        f"{folder}: corpus {suite}, seed {seed}: {manifest.files:,} files, "
        f"{format_size(manifest.bytes_total)}{pages}, "
        f"manifest {manifest.sha256[:12]}"
    )
