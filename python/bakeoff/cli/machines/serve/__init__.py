"""`bakeoff serve`: the built-in targets, which can be told to misbehave in exact ways."""

from importlib import import_module

import typer

from bakeoff.cli.machines.serve.command import ServeCommand

# The kinds of target, in the order of `--help`: each is a module here with a function `serve`.
KINDS = ("web", "null", "mail", "app")


def register(app: typer.Typer) -> None:
    """Add the verb with one sub-command per kind of target."""
    verb = typer.Typer(
        name="serve", help="Serve a built-in target for demos, calibration and tests.", no_args_is_help=True
    )
    for kind in KINDS:
        verb.command(kind, cls=ServeCommand)(import_module(f"{__name__}.{kind}").serve)
    app.add_typer(verb)
