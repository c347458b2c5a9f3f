"""`bakeoff verify`: is this the report that its run gives?"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from bakeoff.cli.complete import any_files, run_files
from bakeoff.cli.read.noise_floor import NoiseFile
from bakeoff.cli.read.report_inputs import (
    collection_in,
    compose_embedded,
    noise_of_files,
    noise_table,
    paper_tables,
    runs_for,
)
from bakeoff.cli.read.run_inputs import FailedOption, NoteOption, notes_of
from bakeoff.core.errors import BakeoffError, PlanError
from bakeoff.core.redact import hidden
from bakeoff.core.sanitize import sanitize
from bakeoff.core.system.bounded_read import MIB, read_bounded
from bakeoff.report.renderers import FORMS, endings, form_of
from bakeoff.store.collections.join import Notes

if TYPE_CHECKING:
    from bakeoff.report.blocks.tree import Report
    from bakeoff.report.embed.document_words import Difference, ReportContent
    from bakeoff.report.embed.embedded_runs import EmbeddedFile, EmbeddedRuns
    from bakeoff.report.embed.report_options import ReportOptions

MOST_BYTES = 256 * MIB
SHOWN = 10
LONGEST = 60
SEAL = 12
EXIT_DIFFERENT, EXIT_UNCHECKED = 1, 2


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("verify")(verify)


@dataclass(frozen=True)
class Given:
    """What stands for that which the report holds, where it is given: a paper, notes, failed files, A/A runs."""

    paper: dict[str, Any] | None
    notes: Notes
    failed: tuple[str, ...]
    aa: Sequence[Path] | None


def verify(
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="A report: .html, .pdf, .md or .txt.")],
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUN.bakeoff...",
            help="The run files, or the campaign, of the report. Pages and PDFs need none: they embed their trials.",
            autocompletion=run_files,
        ),
    ] = None,
    note: NoteOption = None,
    failed_run: FailedOption = None,
    paper: Annotated[
        Path | None,
        typer.Option(metavar="PAPER.toml", help="Hold it against this paper file, not against the one that it holds."),
    ] = None,
    aa: NoiseFile = None,
    signed_by: Annotated[
        str | None,
        typer.Option(
            metavar="SIGNERS",
            autocompletion=any_files,
            help="The report must be signed by one of these: a file of allowed signers as ssh-keygen reads it, or a "
            "public key of SSH (the file, or the key itself).",
        ),
    ] = None,
) -> None:
    """Compute every word and number of a report again, and compare.

    The report is made again as it was asked for then, and held against what is there: all words and numbers, the data
    that is embedded in it, and every drawing.

    Without a run file it is made from what it holds itself: pages and PDFs have the trials of their runs in them, with
    clients and seconds, without secrets. That shows that their numbers follow from these trials. It does not show that
    these were measured: who changes figures and trials so that one follows from the other is found by the run file
    alone, or by a signature.

    With run files it is made from them. They are sealed, so that a figure changed there is found, and the report names
    the seal. A signature is of the report as it is, byte by byte, and so of that seal.

    Exit codes: 0 the same; 1 something differs, which is listed, or the signature is not to be believed; 2 it cannot be
    compared or checked, such as a noise floor in Markdown whose A/A run is not there, or Markdown without its run file.
    """
    form = form_of(report)
    if form is None:
        raise PlanError(f"{report} does not end in {' or '.join(endings())}: name a report that Bakeoff wrote")
    content = _content(report)
    if signed_by is not None:
        _check_signature(report, content, signed_by)
    given = Given(paper_tables(paper), notes_of(note), tuple(failed_run or ()), aa)
    if runs or FORMS[form].holds_data:
        _compare(report, form, content, runs or (), given, signed_by is not None)
    else:
        _unembedded(report, "Markdown and text hold no trials", signed_by is not None)


def _check_signature(report: Path, content: bytes, signed_by: str) -> None:
    from bakeoff.report.signatures import check_signature

    checked = check_signature(report, content, signed_by)
    if checked.fault:
        typer.echo(f"the signature of {report} is not valid: {sanitize(checked.fault)}")
        raise typer.Exit(EXIT_DIFFERENT)
    typer.echo(f"{report} is as it was signed, by {sanitize(checked.by)}")


def _unembedded(report: Path, why: str, signed: bool) -> None:
    """Of a report that cannot be made again without its run."""
    if not signed:
        raise PlanError(f"{report} needs its run file: {sanitize(why)}. Name the run file, or the campaign, behind it")
    typer.echo(f"its numbers were not held against a run ({sanitize(why)}): name the run file for that")


def _compare(report: Path, form: str, content: bytes, runs: Sequence[Path], given: Given, signed: bool) -> None:
    from bakeoff.report.embed.document_words import content_of
    from bakeoff.report.embed.embedded_runs import packed, repacked
    from bakeoff.report.embed.report_options import ReportOptions  # these take a moment to load
    from bakeoff.report.renderers import renderer

    chosen = renderer(form)
    chosen.prepare()
    here = content_of(form, content)
    if not runs and not here.inside.rows:
        _unembedded(report, str(here.inside.about.get("missing", "it holds no trials")), signed)
        return
    options = _options(here.options or ReportOptions(), given)
    embedded, floor, believed = _runs_to_compare(report, runs, here, options, given.aa)
    if given.aa or embedded.aa or here.options is None:
        options = options.model_copy(update={"noise": floor})
    inside = (packed(embedded) if runs else repacked(embedded, here.inside.rows)) if FORMS[form].holds_data else None
    made, _ = compose_embedded(embedded, options, inside)
    found = _differences(report, form, here, made)
    if found:
        if runs and here.inside.rows:
            _tell_seals(report, here, embedded)
        _show(report, runs, found, here.options is None)
    numbers = f"{report} says what {_named(runs) or _trials(embedded)} give{'s' if len(runs) == 1 else ''}: "
    _conclude(embedded, runs, f"{numbers}all of its {here.numbers:,} numbers", options, floor)
    if runs and believed:
        typer.echo(
            f"Its noise floor follows from {' and '.join(believed)} as the report holds it: --aa FILE holds it against "
            "the file"
        )


def _runs_to_compare(
    report: Path, runs: Sequence[Path], here: "ReportContent", options: "ReportOptions", aa: Sequence[Path] | None
) -> tuple["EmbeddedRuns", dict[str, Any] | None, list[str]]:
    """What the report is to be made of, and the noise floors that it is to quote: of the A/A runs that are named, of
    those that lie near its run files, or else of those that it holds, whose names come third.
    """
    from bakeoff.report.embed.embedded_runs import checked, read_embedded

    if runs and aa:
        return *runs_for(runs, options, aa), []
    near: dict[str, Any] | None = None
    if runs:
        # As a report would hold them: without secrets.
        embedded, near = runs_for(runs, options)
        embedded = replace(embedded, aa=_aa_in(report, here))
    else:
        embedded = checked(read_embedded(here.inside.rows, str(report)), str(report))
    if aa or not embedded.aa:
        return embedded, near if runs else noise_table(runs, aa, collection_in(embedded, options).folder), []
    floors, near = noise_of_files(_quoted(embedded.aa, options)) or {}, near or {}
    seen = {name: near[name] for name, quoted in floors.items() if near.get(name, {}).get("file") == quoted.get("file")}
    believed = {f"{quoted.get('file')}" for name, quoted in floors.items() if name not in seen}
    return embedded, ({**floors, **seen} or None), sorted(believed)


def _aa_in(report: Path, here: "ReportContent") -> tuple["EmbeddedFile", ...]:
    """The A/A runs that a report holds: of one that holds what cannot be read none, for that is another than is made
    again.
    """
    from bakeoff.report.embed.embedded_runs import checked, read_embedded

    try:
        return checked(read_embedded(here.inside.rows, str(report)), str(report)).aa if here.inside.rows else ()
    except PlanError:
        return ()


def _quoted(files: Sequence["EmbeddedFile"], options: "ReportOptions") -> dict[str, "EmbeddedFile"]:
    """The files by the names under which an edition quotes them; of several of one name that which it has told of."""
    found: dict[str, EmbeddedFile] = {}
    for name, quoted in (options.noise or {}).items():
        called = [file for file in files if file.path.name == quoted.get("file")]
        same = [file for file in called if hidden(noise_of_files({name: file})) == hidden({name: quoted})]
        if called:
            found[name] = (same or called)[0]
    return found


def _options(embedded: "ReportOptions", given: Given) -> "ReportOptions":
    """How the report was asked for, with what is given in its place."""
    instead = {"paper": given.paper, "notes": given.notes, "failed": given.failed}
    return embedded.model_copy(update={name: value for name, value in instead.items() if value})


def _differences(report: Path, form: str, here: "ReportContent", made: "Report") -> list["Difference"]:
    """In what a report is not the one that was made again; its figures beside it, where it has some, included."""
    from bakeoff.report.embed.document_words import content_of, differences
    from bakeoff.report.renderers import renderer

    chosen = renderer(form)
    found = differences(here, content_of(form, chosen.render(made, report.stem)))
    for name, figure in chosen.sidecar_files(made, report.stem).items():
        found += differences(content_of("html", _content(report.parent / name)), content_of("html", figure))
    return found


def _conclude(
    embedded: "EmbeddedRuns",
    runs: Sequence[Path],
    numbers: str,
    options: "ReportOptions",
    floor: Mapping[str, Any] | None,
) -> None:
    """What was shown, and what was not."""
    if options.noise is not None and json.dumps(hidden(options.noise)) != json.dumps(hidden(floor)):
        typer.echo(
            f"{numbers} but those of the noise floor, which it quotes from {_files(options.noise)}: "
            "name that A/A run by --aa"
        )
        raise typer.Exit(EXIT_UNCHECKED)
    typer.echo(numbers)
    if not runs:
        sealed = (*embedded.files, *embedded.aa)
        files = ", ".join(f"{sanitize(file.path.name)}, seal {sanitize(file.seal[:SEAL])}" for file in sealed)
        typer.echo(
            f"Its numbers follow from these trials. Whether these trials were measured, the run file ({files}) or a "
            "signature (--signed-by) proves."
        )
        if options.paper is not None:
            typer.echo("Statements of its author (words, prices, features, disclosure, audited files) are not checked.")


def _tell_seals(report: Path, here: "ReportContent", now: "EmbeddedRuns") -> None:
    """That a run file is another one than the report was made of, or went on since: by that all may differ."""
    from bakeoff.report.embed.embedded_runs import read_embedded

    try:
        embedded_runs = read_embedded(here.inside.rows, str(report))
    except BakeoffError:
        return  # a report that was tampered with has its differences told all the same
    for old, new in zip(embedded_runs.files, now.files, strict=False):
        if old.seal != new.seal:
            typer.echo(
                f"the report was made of {sanitize(old.path.name)}, seal {sanitize(old.seal[:SEAL])}, and "
                f"{sanitize(new.path.name)} has the seal {sanitize(new.seal[:SEAL])}: it is another run, or has gone on"
            )


def _show(report: Path, runs: Sequence[Path], found: list["Difference"], unknown: bool) -> NoReturn:
    """The first of the differences, and the end. Of a report in text that does not say how it was asked for (`unknown`)
    also that.
    """
    from bakeoff.report.narrate import wording  # takes a moment to load

    source = "the run" if runs else "made again"
    for difference in found[:SHOWN]:
        after = f" (after “{difference.after}”)" if difference.after else ""
        typer.echo(f"the report has “{_short(difference.here)}”, {source} “{_short(difference.there)}”{after}")
    if len(found) > SHOWN:
        typer.echo(f"and {len(found) - SHOWN:,} more")
    number = wording.plural(len(found), "difference")
    named = _named(runs) or "the data that it holds"
    typer.echo(f"{report} is not what {named} gives with this version of Bakeoff: {number}")
    if unknown:
        typer.echo(
            "It does not say with which flags it was made: with --paper, --note or --aa name what it was made with."
        )
    raise typer.Exit(EXIT_DIFFERENT)


def _files(noise: Mapping[str, Mapping[str, Any]]) -> str:
    """The A/A runs that a report quotes."""
    return sanitize(" and ".join(dict.fromkeys(str(stored.get("file")) for stored in noise.values())))


def _content(path: Path) -> bytes:
    try:
        return read_bounded(path, MOST_BYTES)
    except OSError as error:
        raise PlanError(f"{path} cannot be read: {error.strerror or error}") from None


def _named(runs: Sequence[Path]) -> str:
    return " + ".join(str(run) for run in runs)


def _trials(embedded: "EmbeddedRuns") -> str:
    """What a report is made of that names no run file."""
    from bakeoff.report.narrate import wording

    return f"the {wording.plural(embedded.trials, 'trial')} that it holds"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
