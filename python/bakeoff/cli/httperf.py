"""`bakeoff httperf`: httperf's options and output on the engine of this program."""

import sys

import typer

from bakeoff import __version__
from bakeoff.httperf.getopt import OPTIONS, SHORT

EXIT_INTERRUPTED = 130
INTRODUCTION = """\
usage: bakeoff httperf [options]     (httperf's options; any beginning that only one of them has will do)
       bakeoff httperf --side-by-side RUN.bakeoff RUN.bakeoff ...

bakeoff httperf --server www --num-conns 100 --rate 10
bakeoff httperf --server www --wsess 10,5,2 --rate 1 --timeout 5 --ssl
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "httperf",
        add_help_option=False,
        context_settings={
            "ignore_unknown_options": True,
            "allow_extra_args": True,
            "allow_interspersed_args": False,
            "help_option_names": [],
        },
    )(httperf)


def httperf(context: typer.Context) -> None:
    """Connections or sessions at a rate, with httperf's options and httperf's output (-h lists the options)."""
    from bakeoff.agents.make import make_agent
    from bakeoff.httperf.options import parse
    from bakeoff.httperf.progress import Progress
    from bakeoff.httperf.run import run

    options = parse(context.args)
    if options.help or options.version:
        typer.echo(usage() if options.help else f"bakeoff httperf {__version__}", nl=not options.help)
        return
    if options.beside:
        from bakeoff.httperf.beside import beside

        _write(beside(options.beside, options.json))
        return
    progress = Progress(sys.stderr, options.settings, sys.stderr.isatty())
    if run(options, make_agent(), _write, _tell, progress):
        raise typer.Exit(EXIT_INTERRUPTED)


def usage() -> str:
    """All options, a line each."""
    short = {name: letter for letter, name in SHORT.items()}
    lines = []
    for option in OPTIONS:
        value = f"[={option.metavar}]" if option.takes == "maybe" else f" {option.metavar}" if option.metavar else ""
        lead = f"-{short[option.name]} " if option.name in short else "   "
        lines.append(f"  {lead}{f'--{option.name}{value}':<34} {option.help}")
    return f"{INTRODUCTION}\n" + "\n".join(lines) + "\n"


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _tell(text: str) -> None:
    sys.stderr.write(text if text.startswith("Run file") else f"bakeoff: {text}")
    sys.stderr.flush()
