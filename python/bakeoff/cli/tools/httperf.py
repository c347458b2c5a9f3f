"""`bakeoff httperf`: httperf's options and output on the engine of this program."""

import sys
from typing import TYPE_CHECKING, Any

import typer
from typer._click.shell_completion import CompletionItem
from typer.core import TyperCommand

from bakeoff import __version__
from bakeoff.compat.httperf.getopt import GROUPS, SHORT, Option

if TYPE_CHECKING:
    from bakeoff.agents.base import Agent

EXIT_INTERRUPTED = 130
INTRODUCTION = """\
usage: bakeoff httperf [options]
       bakeoff httperf --side-by-side RUN.bakeoff RUN.bakeoff ...

httperf's options, and httperf's report. Any beginning that only one option has will do: --num-con 5. What is in
parentheses holds without the option.

  100 connections of one call each, 10 a second:
    bakeoff httperf --server www --num-conns 100 --rate 10
  10 sessions of 5 calls with 2 s to think, one begun each second, over TLS:
    bakeoff httperf --server www --wsess 10,5,2 --rate 1 --timeout 5 --ssl
  As fast as the server answers, kept to be compared with another run:
    bakeoff httperf --server www --num-conns 100000 -o www.bakeoff
  One of four machines, for 28 hours; then the four results beside each other:
    bakeoff httperf --server www --num-conns 1000000 --rate 10 --client 0/4 --timeout 5 -o 0.bakeoff
    bakeoff httperf --side-by-side 0.bakeoff 1.bakeoff 2.bakeoff 3.bakeoff
  1,000 connections a second by four machines of a cluster, in one report:
    bakeoff httperf --server www --num-conns 100000 --rate 1000 --cluster HEAD:6379 --agents 4
"""


class Httperf(TyperCommand):
    """Completes httperf's options, which are not the parser's."""

    def shell_complete(self, ctx: Any, incomplete: str) -> list[CompletionItem]:
        """Options by their beginning, and values where there are few."""
        from bakeoff.compat.httperf.completion import completions

        return [CompletionItem(word, help=text or None) for word, text in completions(ctx.args, incomplete)]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "httperf",
        cls=Httperf,
        add_help_option=False,
        context_settings={
            "ignore_unknown_options": True,
            "allow_extra_args": True,
            "allow_interspersed_args": False,
            "help_option_names": [],
        },
    )(httperf)


def httperf(context: typer.Context) -> None:
    """Load by httperf's options, with httperf's output (-h lists them)."""
    from bakeoff.compat.httperf.options import parse

    options = parse(context.args)
    if options.help or options.version:
        typer.echo(usage() if options.help else f"bakeoff httperf {__version__}", nl=not options.help)
        return
    if options.side_by_side:
        from bakeoff.compat.httperf.side_by_side import side_by_side

        _write(side_by_side(options.side_by_side, options.json))
        return
    from bakeoff.agents.make import cluster_machines, make_agent
    from bakeoff.compat.httperf.progress import Progress
    from bakeoff.compat.httperf.run import run

    progress = Progress(sys.stderr, options.settings, sys.stderr.isatty())
    if options.cluster is None:
        agent: Agent = make_agent()
    else:
        from bakeoff.compat.httperf.divided import Divided

        agent = Divided(cluster_machines(options.cluster, options.agents))
    if run(options, agent, _write, _tell, progress):
        raise typer.Exit(EXIT_INTERRUPTED)


def usage() -> str:
    """All options in groups, a line each."""
    groups = (f"\n{title}:\n" + "".join(map(_line, options)) for title, options in GROUPS.items())
    return INTRODUCTION + "".join(groups)


def _line(option: Option) -> str:
    value = f"[={option.metavar}]" if option.takes == "maybe" else f" {option.metavar}" if option.metavar else ""
    letter = next((f"-{letter}" for letter, name in SHORT.items() if name == option.name), "")
    return f"  {letter:<3}{f'--{option.name}{value}':<31} {option.help}\n"


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _tell(text: str) -> None:
    sys.stderr.write(text if text.startswith("Run file") else f"bakeoff: {text}")
    sys.stderr.flush()
