"""`bakeoff import`: what other tools measured, as a run file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from bakeoff.cli.complete import one_of
from bakeoff.core.errors import PlanError
from bakeoff.core.units import names, parse_link_speed, plural
from bakeoff.formats.importers import FORMATS, read_table

BETTER = ("higher", "lower")
DECIMAL = ("point", "comma")


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("import")(import_)


def import_(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE|NAME=FILE...", help="What a tool wrote, and whose figures it has."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="RUN.bakeoff", help="Run file to write.")],
    contender: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose figures the files without a NAME= have.")
    ] = None,
    as_: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="FORMAT",
            help="The format, where the file does not show it.",
            autocompletion=one_of(FORMATS),
        ),
    ] = None,
    rows: Annotated[
        str | None, typer.Option(metavar="LOAD", help="Of tables: what rows are: clients, 'block size', 'file size' …")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(metavar="LOAD", help="Of tables whose columns are headed by numbers: what these are.")
    ] = None,
    unit: Annotated[
        str | None, typer.Option(metavar="UNIT", help="Of tables: the unit where no heading has one: 'MB/s', ms …")
    ] = None,
    better: Annotated[
        str | None,
        typer.Option(
            metavar="WAY", help="Of tables: which way is better: higher or lower.", autocompletion=one_of(BETTER)
        ),
    ] = None,
    decimal: Annotated[
        str | None,
        typer.Option(
            metavar="MARK",
            help="Of tables: what stands before decimals: point or comma.",
            autocompletion=one_of(DECIMAL),
        ),
    ] = None,
    link_speed: Annotated[
        str | None,
        typer.Option(metavar="SPEED", help="Speed of the network: 1Gbit/s; faster cells are marked as cached."),
    ] = None,
) -> None:
    """Make a run file of what other tools have measured.

    bakeoff import nginx=nginx-1.txt nginx=nginx-2.txt apache=apache-1.txt -o web.bakeoff

    bakeoff import paper.csv --rows clients --unit 'MB/s' -o paper.bakeoff

    The format of each file is told by its content, and printed. The nth sample of a contender at a load is block n:
    several files of a contender are repeated samples. What a file does not state is left out, and audits of it say so.
    A single sample has no interval. From six blocks on there are verdicts.
    """
    from bakeoff.formats.foreign.source import Source
    from bakeoff.formats.importers.as_run.write import Given, unpaired_cells, write_import
    from bakeoff.formats.importers.base import Options

    options = Options(
        contender, rows, columns, unit, _one_of("--better", better, BETTER), _one_of("--decimal", decimal, DECIMAL)
    )
    link_bytes_per_s = _link_speed(link_speed)
    given = []
    for name, path in map(_named, files):
        content = read_table(Source(path), as_, replace(options, contender=name or options.contender))
        given.append(Given(name or contender or path.stem, path, content))
        whose = names([one or name or contender or path.stem for one in content.contenders()])
        typer.echo(f"{path}: {content.format} ({content.tool}), {plural(len(content.rows), 'row')} of {whose}")
    trials = write_import(output, given, link_bytes_per_s)
    contenders = {own or one.contender for one in given for own in one.content.contenders()}
    typer.echo(f"{output}: {plural(trials, 'trial')} of {plural(len(contenders), 'contender')}")
    for line in unpaired_cells(given):
        typer.echo(f"warning: {line}", err=True)
    typer.echo(f"Next: bakeoff compare {output}   |   bakeoff report {output} -o report.html")


def _one_of(flag: str, value: str | None, known: tuple[str, ...]) -> Any:
    if value is not None and value not in known:
        raise PlanError(f"{flag} {value!r} is not known: write {' or '.join(known)}")
    return value


def _link_speed(text: str | None) -> float | None:
    try:
        return None if text is None else parse_link_speed(text)
    except ValueError as error:
        raise PlanError(f"--link-speed: {error}") from None


def _named(word: str) -> tuple[str | None, Path]:
    """The name and the file of `NAME=FILE`; no name of a file alone, which may have an = in its own."""
    name, equals, path = word.partition("=")
    if not equals or Path(word).exists():
        return None, Path(word)
    if not name.strip() or not path:
        raise PlanError(f"{word!r} does not say whose figures these are: write NAME=FILE, such as nfs=nfs.txt")
    return name.strip(), Path(path)
