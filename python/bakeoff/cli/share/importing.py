"""`bakeoff import`: what other tools measured, as a run file."""

from pathlib import Path
from typing import Annotated

import typer

from bakeoff.cli.complete import one_of
from bakeoff.core.errors import PlanError
from bakeoff.core.units import parse_link_speed, plural
from bakeoff.formats.importers import IMPORTERS, importer

MOST_BYTES = 16 << 20


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("import")(import_)


def import_(
    tool: Annotated[
        str, typer.Argument(metavar="TOOL", help=f"One of: {', '.join(IMPORTERS)}.", autocompletion=one_of(IMPORTERS))
    ],
    files: Annotated[
        list[str],
        typer.Argument(metavar="NAME=FILE...", help="What the tool printed, and whose figures it has."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="RUN.bakeoff", help="Run file to write.")],
    link_speed: Annotated[
        str | None,
        typer.Option(metavar="SPEED", help="Speed of the network: 1Gbit/s; faster cells are marked as cached."),
    ] = None,
) -> None:
    """Make a run file of what another tool has printed.

    bakeoff import iozone nfs=nfs-1.txt nfs=nfs-2.txt smb=smb-1.txt smb=smb-2.txt -o shares.bakeoff

    The nth file of each name is block n. What the tool does not state (times of single operations, the load of the
    generator) is left out, and audits of it say so. From six blocks on there are verdicts.
    """
    if tool not in IMPORTERS:
        known = "; ".join(f"{name}: {what}" for name, what in IMPORTERS.items())
        raise PlanError(f"there is no importer for {tool!r}: there is {known}")
    from bakeoff.formats.importers.as_run import Given, unpaired_cells, write_import

    read = importer(tool).read
    given = []
    for word in files:
        name, path = _named(word)
        try:
            given.append(Given(name, path, read(_text(path))))
        except PlanError as error:
            raise PlanError(f"{path}: {error}") from None
    try:
        link_bytes_per_s = None if link_speed is None else parse_link_speed(link_speed)
    except ValueError as error:
        raise PlanError(f"--link-speed: {error}") from None
    trials = write_import(output, given, link_bytes_per_s)
    typer.echo(f"{output}: {plural(trials, 'trial')} of {plural(len({one.contender for one in given}), 'contender')}")
    for line in unpaired_cells(given):
        typer.echo(f"warning: {line}", err=True)
    typer.echo(f"Next: bakeoff compare {output}   |   bakeoff report {output} -o report.html")


def _named(word: str) -> tuple[str, Path]:
    name, equals, path = word.partition("=")
    if not equals or not name.strip() or not path:
        raise PlanError(f"{word!r} does not say whose figures these are: write NAME=FILE, such as nfs=nfs.txt")
    return name.strip(), Path(path)


def _text(path: Path) -> str:
    from bakeoff.core.system.bounded_read import read_bounded

    try:
        return read_bounded(path, MOST_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise PlanError(f"it cannot be read ({error.strerror}): check the path") from None
