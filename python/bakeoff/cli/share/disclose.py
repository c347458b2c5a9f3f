"""`bakeoff disclose`: what a paper can disclose, to be filled in, or collected from machines with the user's leave."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bakeoff.cli.complete import run_files
from bakeoff.core.errors import GeneratorError, PlanError
from bakeoff.core.system.atomic_write import write_whole
from bakeoff.disclosure.paper.disclosure import template
from bakeoff.plan.input.messages import did_you_mean

if TYPE_CHECKING:
    from bakeoff.disclosure.collect.ways import Way
    from bakeoff.disclosure.paper.collected import Collected

Asked = tuple["Way", tuple[str, ...]]
EXIT_MISSING, EXIT_INTERRUPTED = 2, 130
HEAD = """\
# Collected by `bakeoff disclose`. Give it to a report: `[paper] disclosure = "{name}"` in the paper file, or
# `bakeoff report RUN --paper {name}`. Secrets were left out by rule: read it before you pass it on all the same.
# To add or correct something, write it into [contenders.NAME.disclosure]: it comes first, and is shown as typed in.
# What is changed in [contenders.NAME.collected] itself is shown as edited.
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("disclose")(disclose)


def disclose(
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN.bakeoff|PLAN.toml|PAPER.toml]",
            help="Whose contenders are asked; a paper file may say by which way (`collect`).",
            autocompletion=run_files,
        ),
    ] = None,
    blank: Annotated[bool, typer.Option("--template", help="Print every field, commented, for a paper file.")] = False,
    collected: Annotated[
        list[str] | None,
        typer.Option(
            "--collect",
            metavar="NAME=WAY",
            help="Ask the machine of a contender: local, ssh://user@host[:port], or 'command: ./facts.sh'. Repeatable.",
        ),
    ] = None,
    config: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=PATH", help="Show this configuration file, too, without its secrets. Repeatable."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DISCLOSURE.toml", help="Write there (default: standard output)."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run the commands of `collect` in a paper file without asking.")
    ] = False,
) -> None:
    """Write what a paper discloses of machines and servers.

    Collecting runs one script of commands that only read, here or over ssh: processors, memory, disks, file systems,
    network, kernel, settings, packages, and hashes of configuration files. It installs nothing, asks for no password,
    and ends in time. Only machines are asked that you name.

      bakeoff disclose --template > paper.toml
      bakeoff disclose lab.bakeoff --collect nginx=ssh://root@10.0.0.2 --collect apache=local -o disclosure.toml

    Exit codes: 0 all of them answered; 2 some did not, which are named, and what the others said was written; 130
    interrupted, likewise.
    """
    if output is not None and output.exists() and not force:
        raise PlanError(f"{output} exists already: choose another name with -o, or replace it with --force")
    if blank:
        if source is not None or collected or config:
            raise PlanError("--template prints fields to be filled in: leave out what is to be collected")
        _put(template(), output, force)
        return
    if source is None:
        raise PlanError(
            "say what is wanted: `bakeoff disclose --template > paper.toml` prints every field, `bakeoff disclose RUN "
            "--collect NAME=local` collects the facts of a machine"
        )
    asked = _asked(source, collected or [], config or [], trust)
    found: dict[str, Collected] = {}
    faults: list[str] = []
    code = EXIT_MISSING
    try:
        _collect(asked, found, faults)
    except KeyboardInterrupt:
        rest = ", ".join(name for name in asked if name not in found)
        faults.append(f"interrupted: nothing was collected of {rest}")
        code = EXIT_INTERRUPTED
    if found:
        _write(found, output, force)
    for fault in faults:
        typer.echo(f"bakeoff: {fault}", err=True)
    if faults:
        raise typer.Exit(code)


def _asked(source: Path, collected: Sequence[str], config: Sequence[str], trust: bool) -> Mapping[str, Asked]:
    """By which way each contender is asked, and for which files. Raises PlanError."""
    from bakeoff.cli.share.disclosed_contenders import contenders_of
    from bakeoff.disclosure.collect.machines import check_config
    from bakeoff.disclosure.collect.ways import way_of
    from bakeoff.plan.settings.fields import full_path

    known = contenders_of(source)
    paths = {name: list(fields.config) for name, fields in known.items()}
    named = dict(_pairs("--collect", collected, known))
    for name, path in _pairs("--config", config, known):
        is_here = named.get(name, known[name].collect) == "local"
        paths[name].append(full_path(path, Path()) if is_here and path else path)
    own = {name: fields.collect for name, fields in known.items() if fields.collect and name not in named}
    asked = {name: (way_of(way), tuple(dict.fromkeys(paths[name]))) for name, way in (named | own).items()}
    if not asked:
        first = next(iter(known))
        raise PlanError(
            f"there is no way to ask {', '.join(known)}: add --collect '{first}=local' or --collect "
            f"'{first}=ssh://user@host'"
        )
    for name, own_paths in paths.items():
        check_config(own_paths)
        if own_paths and name not in asked:
            raise PlanError(f"files of {name} are asked for, but not how to reach it: add --collect {name}=…")
    _confirm([f"{name}: {asked[name][0].act}" for name in own], source, trust)
    return asked


def _pairs(flag: str, given: Sequence[str], known: Mapping[str, object]) -> list[tuple[str, str]]:
    pairs = []
    for text in given:
        # A name may have a = in it.
        name = max((name for name in known if text.startswith(f"{name}=")), key=len, default="")
        if not name:
            wrong = text.partition("=")[0]
            form = "" if "=" in text else f"{flag} wants NAME=…; "
            raise PlanError(
                f"{flag} {text[:60]!r}: {form}no contender is called {wrong[:60]!r}: {did_you_mean(wrong, known)}"
            )
        pairs.append((name, text[len(name) + 1 :]))
    names = [name for name, _ in pairs]
    if flag == "--collect" and len(set(names)) < len(names):
        raise PlanError("--collect names a contender twice: give one way for each")
    return pairs


def _confirm(acts: Sequence[str], source: Path, trust: bool) -> None:
    """What a file says is done with the user's leave. Raises PlanError or Exit."""
    if not acts:
        return
    lines = "".join(f"  {act}\n" for act in acts)
    if trust:
        typer.echo(f"trusted:\n{lines}", err=True, nl=False)
    elif not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise PlanError(
            f"{source} says how to collect, and nothing of it was done. It would:\n{lines}Add --trust if it may."
        )
    else:
        typer.echo(f"{source} says how to collect. It would:\n{lines}", err=True, nl=False)
        if not typer.confirm("Do all of this?", err=True):
            typer.echo("nothing was done", err=True)
            raise typer.Exit(EXIT_MISSING)


def _collect(asked: Mapping[str, Asked], found: dict[str, Collected], faults: list[str]) -> None:
    """Puts what each said into `found`, and why others did not into `faults`; a machine is asked once for the same."""
    from bakeoff.disclosure.collect.machines import collect

    collected: dict[Asked, Collected | GeneratorError] = {}
    for name, (way, config) in asked.items():
        if (way, config) not in collected:
            typer.echo(f"{name}: {way.act} …", err=True)
            try:
                collected[way, config] = collect(way, config)
            except GeneratorError as error:
                collected[way, config] = error
        answer = collected[way, config]
        if isinstance(answer, GeneratorError):
            faults.append(f"{name}: {answer}")
        else:
            found[name] = answer


def _write(found: Mapping[str, Collected], output: Path | None, force: bool) -> None:
    from bakeoff.disclosure.paper.collected import collected_to_toml

    tables = "\n".join(collected_to_toml(name, one) for name, one in found.items())
    _put(f"{HEAD.format(name=output.name if output else 'disclosure.toml')}\n{tables}", output, force)


def _put(text: str, output: Path | None, force: bool) -> None:
    """Into the file that was named, or to standard output."""
    if output is None:
        typer.echo(text)
        return
    write_whole(output, text, force)
    typer.echo(f"Disclosure: {output}")
