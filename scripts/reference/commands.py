"""The tree of commands, read from what the command line itself parses with."""

import inspect
import re
from dataclasses import dataclass
from typing import Any

from typer.core import TyperArgument, TyperGroup
from typer.main import get_command

from bakeoff.cli.app import app
from bakeoff.cli.tools import iozone
from bakeoff.cli.verbs import load

ARGUMENTS, OPTIONS = "Arguments", "Options"


@dataclass(frozen=True)
class Word:
    """An argument or a flag: how it is written, and what it means."""

    form: str
    meaning: str


@dataclass(frozen=True)
class Command:
    """A command: `summary` is one sentence, `rest` are the paragraphs after it, `panels` the groups of its words, and
    `verbatim` a table of options that the command prints itself.
    """

    words: tuple[str, ...]
    usage: str
    summary: str
    rest: tuple[str, ...]
    panels: dict[str, tuple[Word, ...]]
    verbatim: str
    commands: tuple["Command", ...]

    @property
    def name(self) -> str:
        """`bakeoff serve web`."""
        return " ".join(self.words)

    def all(self) -> list["Command"]:
        """This command and all below it."""
        return [self, *(inner for command in self.commands for inner in command.all())]


def tree() -> Command:
    """`bakeoff` with everything below it."""
    root = get_command(app)
    context = root.context_class(root, info_name="bakeoff", **root.context_settings)
    return _command(root, context, ("bakeoff",))


def _command(command: Any, context: Any, words: tuple[str, ...]) -> Command:
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    usage = command.get_usage(context).removeprefix("Usage: ")
    inner = command.list_commands(context) if isinstance(command, TyperGroup) else []
    return Command(
        words=words,
        usage=" ".join(usage.split()),
        summary=" ".join(paragraphs[0].split()),
        rest=tuple(paragraphs[1:]),
        panels=_panels(command, context),
        verbatim=iozone.USAGE if words[1:] == ("iozone",) else "",
        commands=tuple(_below(command, context, words, name) for name in inner),
    )


def _below(group: Any, context: Any, words: tuple[str, ...], name: str) -> Command:
    command: Any = load(name) if len(words) == 1 else group.get_command(context, name)
    below = command.context_class(command, info_name=name, parent=context, **command.context_settings)
    return _command(command, below, (*words, name))


def _panels(command: Any, context: Any) -> dict[str, tuple[Word, ...]]:
    """Arguments first, then the flags without a panel, then the others as they come."""
    found: dict[str, list[Word]] = {ARGUMENTS: [], OPTIONS: []}
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is not None:
            plain = ARGUMENTS if isinstance(param, TyperArgument) else OPTIONS
            panel = getattr(param, "rich_help_panel", None) or plain
            form = re.sub(r" <[^>]*>$", "", record[0]) if plain == ARGUMENTS else record[0]  # the type says nothing
            found.setdefault(panel, []).append(Word(" ".join(form.split()), " ".join(record[1].split())))
    return {name: tuple(words) for name, words in found.items() if words}
