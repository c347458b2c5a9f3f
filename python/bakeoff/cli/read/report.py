"""`bakeoff report`: the comparison as one file, in the form that its name ends in."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bakeoff.cli.complete import any_files, contenders, run_files
from bakeoff.cli.read.compare import share
from bakeoff.cli.read.noise_floor import NoiseFile
from bakeoff.cli.read.report_inputs import make_report, paper_tables
from bakeoff.cli.read.run_inputs import RUN_FILES, FailedOption, NoteOption, notes_of
from bakeoff.core.errors import GeneratorError, PlanError
from bakeoff.core.system.atomic_write import write_whole
from bakeoff.core.system.bounded_read import why_no_folder
from bakeoff.report.renderers import Renderer, endings, form_of
from bakeoff.report.signatures import check_signer, signature_of, ssh

if TYPE_CHECKING:
    from bakeoff.report.blocks.tree import Report
    from bakeoff.report.embed.report_options import Extent


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("report")(report)


def report(
    paths: Annotated[list[Path], typer.Argument(metavar="RUN.bakeoff...", help=RUN_FILES, autocompletion=run_files)],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="REPORT.html",
            help="Default: RUN.html next to the run file. The ending sets the form: .html, .pdf, .md, .txt.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the report if it exists.")] = False,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", autocompletion=contenders, help="Divide by this contender (default: the first of the plan)."
        ),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="Smallest difference that matters, such as 5% (default: the plan's)."),
    ] = None,
    paper: Annotated[
        Path | None,
        typer.Option(
            metavar="PAPER.toml",
            help="Put the author's words before the results, and prices and features after them.",
        ),
    ] = None,
    note: NoteOption = None,
    failed_run: FailedOption = None,
    aa: NoiseFile = None,
    short: Annotated[bool, typer.Option("--brief", help="The short edition: two pages with what decides.")] = False,
    full: Annotated[
        bool,
        typer.Option(
            "--full", help="All that was measured, in print as well: a PDF is else the standard edition of a paper."
        ),
    ] = False,
    outlined: Annotated[
        bool,
        typer.Option(
            "--outline",
            help="Write the chapters as a paper file to edit, with the names of all figures and tables: to "
            "-o PAPER.toml, or to the terminal.",
        ),
    ] = False,
    surfaces: Annotated[
        bool, typer.Option("--surfaces", help="Also draw tests of a file matrix as 3-D surfaces.")
    ] = False,
    pairs: Annotated[
        list[str] | None,
        typer.Option(
            "--pair",
            metavar="NAME,NAME",
            help="Draw maps and ratios of this pair, too, as against the baseline; may be given more than once. `all` "
            "puts every pair in a fold.",
        ),
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option(
            metavar="KEY",
            autocompletion=any_files,
            help="Sign the report with this key of SSH (the .pub of one in an agent does), in REPORT.sig. `bakeoff "
            "verify --signed-by` checks it.",
        ),
    ] = None,
) -> None:
    """Write the report: HTML that opens offline, PDF, Markdown or text."""
    if outlined:
        write_outline(paths, output, force, baseline, share(delta), paper)
        return
    path = paths[0]
    target = path.parent / f"{path.stem}.html" if output is None else output
    form = check_target(paths, target, force)
    smallest = share(delta)
    from bakeoff.report.embed.report_options import ReportOptions
    from bakeoff.report.renderers import renderer  # these take a moment to load: refuse bad input first

    words = paper_tables(paper)
    if sign is not None:
        check_signer(sign)
    chosen = renderer(form)
    chosen.prepare()
    options = ReportOptions(
        baseline=baseline,
        delta=smallest,
        surfaces=surfaces,
        extent=extent_of(form, short, full),
        pairs=tuple(pairs or ()),
        paper=words,
        notes=notes_of(note),
        failed=tuple(failed_run or ()),
    )
    made, result = make_report(paths, options, form, aa)
    figures = write_report(chosen, made, target, force, sign)
    typer.echo("\n".join(result))
    typer.echo(f"Report: {target}" + (f", with its figures in {figures}" if figures else ""))
    if sign is not None:
        typer.echo(f"Signature: {signature_of(target)}")


def write_outline(
    paths: Sequence[Path],
    target: Path | None,
    force: bool,
    baseline: str | None,
    delta: float | None,
    paper: Path | None,
) -> None:
    """Write the chapters of the report as a paper file, or print them. Raises PlanError."""
    from bakeoff.report.embed.report_options import ReportOptions
    from bakeoff.report.paper.outline import outline  # these take a moment to load

    if target is not None and target.suffix != ".toml":
        raise PlanError(f"{target} is no paper file: give the outline a name such as paper.toml")
    words = {name: table for name, table in (paper_tables(paper) or {}).items() if name != "chapter"} or None
    made, _ = make_report(paths, ReportOptions(baseline=baseline, delta=delta, paper=words), "markdown")
    text = outline(made)
    if target is None:
        typer.echo(text)
        return
    write_whole(target, text.encode(), force, "choose another name with -o, or replace it with --force")
    typer.echo(f"Outline: {target}")


def extent_of(form: str, short: bool, full: bool) -> "Extent":
    """The edition that was asked for; by itself print is the standard one, and what folds has all. Raises PlanError."""
    if short and full:
        raise PlanError("--brief and --full are two editions: ask for one of them")
    return "brief" if short else "standard" if form == "pdf" and not full else "full"


def write_report(chosen: Renderer, made: "Report", target: Path, force: bool, sign: Path | None = None) -> Path | None:
    """Write the report, with the files that it needs beside it, and its signature where a key to `sign` with is given:
    without that nothing is written. A signature of the report that was there goes with it. Returns the folder of its
    figures, where it has one.
    """
    content = chosen.render(made, target.stem)
    figures = chosen.sidecar_files(made, target.stem)
    if sign is not None and figures:
        raise PlanError(
            f"--sign: the figures of {target} are files of their own, which no signature of it holds: sign "
            "it as .html or .pdf"
        )
    signature = None if sign is None else ssh.sign(sign, content)
    for name, figure in figures.items():
        write_sidecar(target.parent / name, figure)
    write_whole(target, content, force, "choose another name with -o, or replace it with --force")
    signature_of(target).unlink(missing_ok=True)
    if signature is not None:
        write_whole(signature_of(target), signature)
    return next((target.parent / Path(name).parent for name in figures), None)


def write_sidecar(path: Path, content: bytes) -> None:
    """Write a file that the report needs, in a folder of its own. Raises GeneratorError."""
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise GeneratorError(f"{path.parent} cannot be made ({error.strerror}): choose another name with -o") from None
    write_whole(path, content)


def check_target(runs: Sequence[Path], target: Path, force: bool) -> str:
    """The form of report that `target` asks for. Raises PlanError when it must not or cannot be written."""
    form = form_of(target)
    if form is None:
        known = " or ".join(endings())
        raise PlanError(f"{target} does not end in {known}: give the report a name such as report.html")
    if target.exists() and any(run.exists() and target.samefile(run) for run in runs):
        raise PlanError(f"{target} is the run file itself: give the report another name")
    if target.is_dir():
        raise PlanError(f"{target} is a folder: give the name of a file in it")
    if target.exists() and not force:
        raise PlanError(f"{target} exists already: choose another name with -o, or replace it with --force")
    if fault := why_no_folder(target.parent):
        raise PlanError(f"{target.parent} {fault}: make that folder first")
    return form
