"""`bakeoff audit`: results of others held to the arithmetic that every result must obey."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import typer

from bakeoff.cli.complete import any_files, one_of
from bakeoff.cli.console import make_console
from bakeoff.cli.read.page import PageForceOption, PageOption, write_page
from bakeoff.core.errors import PlanError
from bakeoff.core.system.collector import without_collector
from bakeoff.core.system.forks import in_forks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.audit.finding import Outcome
    from bakeoff.formats.foreign.table import ForeignTable
    from bakeoff.formats.importers.base import Options

RUN_FILE = ".bakeoff"
# So many bytes are worth the start of other processes.
LARGE = 4_000_000
WAYS: tuple[Literal["higher"], Literal["lower"]] = ("higher", "lower")
MARKS: tuple[Literal["point"], Literal["comma"]] = ("point", "comma")
Word = TypeVar("Word", bound=str)


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("audit")(audit)


def audit(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE...|RUN.bakeoff...",
            help="What a tool has printed, a table that you typed (CSV, TSV, Markdown, .xlsx), or a run file.",
            autocompletion=any_files,
        ),
    ] = None,
    link_speed: Annotated[
        str | None,
        typer.Option(metavar="SPEED", help="Speed of the network: 1Gbit/s. Only a cache explains more."),
    ] = None,
    bus_speed: Annotated[
        str | None,
        typer.Option(metavar="SPEED", help="What the bus of disks or network cards carries a second: 133MB/s."),
    ] = None,
    memory_speed: Annotated[
        str | None, typer.Option(metavar="SPEED", help="What the memory carries a second: 20GB/s.")
    ] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Memory of the machine: 64GiB. Smaller files may lie in it.")
    ] = None,
    as_format: Annotated[
        str | None,
        typer.Option("--as", metavar="FORMAT", help="The format of all files (default: by each file's first lines)."),
    ] = None,
    rows: Annotated[
        str | None, typer.Option("--rows", metavar="WHAT", help="What the rows of a table are: clients.")
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option("--columns", metavar="WHAT", help="What columns headed by numbers are: 'record size'."),
    ] = None,
    unit: Annotated[
        str | None, typer.Option(metavar="UNIT", help="Unit of columns whose heading has none: MB/s.")
    ] = None,
    better: Annotated[
        str | None,
        typer.Option(
            metavar="WAY", help="higher or lower: which is better.", autocompletion=one_of(("higher", "lower"))
        ),
    ] = None,
    decimal: Annotated[
        str | None,
        typer.Option(metavar="MARK", help="point or comma: the mark before decimals.", autocompletion=one_of(MARKS)),
    ] = None,
    claims: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="Claims to calculate again: columns claim, contender, baseline, metric.",
            autocompletion=any_files,
        ),
    ] = None,
    text: Annotated[
        Path | None,
        typer.Option("--text", metavar="FILE", help="A text whose percentages are claims.", autocompletion=any_files),
    ] = None,
    output: PageOption = None,
    force: PageForceOption = False,
    details: Annotated[bool, typer.Option("--details", help="Show every finding, however many.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The whole audit as JSON.")] = False,
    schema: Annotated[
        bool, typer.Option("--json-schema", help="Print the JSON Schema of that instead; needs no file.")
    ] = False,
) -> None:
    """Find what cannot be true in results of others.

    bakeoff audit table.csv --rows clients --unit MB/s --link-speed 1Gbit/s

    Every printed number stands for all values that round to it. What fits for none of them is impossible: a rate that
    is not operations over time, parts that are not the whole, percentiles out of order, more than the link carries.
    What fits and seldom happens is off: equal numbers, a number beside the curve of its neighbours.

    Exit codes: 0 nothing is impossible; 1 something is; 2 refused, in one sentence.
    """
    if schema:
        from bakeoff.report.audit.schema import json_schema

        typer.echo(json.dumps(json_schema(), indent=2))
        return
    if not files:
        raise PlanError("name a file of results: bakeoff audit table.csv")
    from bakeoff.audit.given import read_given

    stated = {"link_speed": link_speed, "bus_speed": bus_speed, "memory_speed": memory_speed, "memory": memory}
    given = read_given(stated.get, lambda name: f"--{name.replace('_', '-')}")
    if output is not None:
        from bakeoff.cli.read.report import check_target

        check_target(files, output, force)
    from bakeoff.audit.audit import audited, together  # NumPy takes a moment: refuse bad input first
    from bakeoff.audit.claims.files import read_claims
    from bakeoff.formats.foreign.source import Source
    from bakeoff.formats.importers.base import Options

    options = Options(
        rows=rows,
        columns=columns,
        unit=unit,
        better=_word("--better", better, WAYS),
        decimal=_word("--decimal", decimal, MARKS),
    )
    with without_collector():
        own = [outcome for path in files if path.suffix == RUN_FILE for outcome in _own(path)]
        listed, sentences = (None if path is None else Source(path) for path in (claims, text))
        each = in_forks if len(files) > 1 and sum(map(_size, files)) > LARGE else map
        made = together(
            each(lambda path: audited(_table(path, as_format, options), given), files),
            lambda at: _table(files[at], as_format, options),
            given,
            lambda names: read_claims(listed, sentences, names),
            own,
        )
    if output is not None:
        from bakeoff.report.audit.page import compose

        write_page(compose(made), output, force)
    if as_json:
        from bakeoff.report.audit.document import document

        typer.echo(json.dumps(document(made), indent=2, ensure_ascii=False))
    else:
        from bakeoff.report.audit.lines import show

        show(made, make_console(), details)
        if output is not None:
            typer.echo(f"Page: {output}")
    raise typer.Exit(1 if made.impossible else 0)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _word(flag: str, given: str | None, words: tuple[Word, ...]) -> Word | None:
    """One of these words. Raises PlanError."""
    if given is None:
        return None
    for word in words:
        if word == given:
            return word
    raise PlanError(f"{flag} {given!r} is neither: write {' or '.join(words)}")


def _table(path: Path, as_format: str | None, options: "Options") -> "ForeignTable":
    """A file as a table. Raises PlanError that names it, RunFileError."""
    if path.suffix == RUN_FILE:
        from bakeoff.audit.of_run import table_of
        from bakeoff.store.sqlite.read import read_run

        return table_of(read_run(path), str(path))
    from bakeoff.formats.foreign.source import Source
    from bakeoff.formats.importers import read_table

    return read_table(Source(path), as_format, options)


def _own(path: Path) -> "Sequence[Outcome]":
    """The audits of the trials of a run."""
    from bakeoff.audit.of_run import own_outcomes
    from bakeoff.compare import compare_run
    from bakeoff.store.sqlite.read import read_run

    return own_outcomes(compare_run(read_run(path)), str(path))
