"""The verbs of the command line: a name and a sentence each, and a module that is loaded when the verb is called.

So `bakeoff --help` and completion load neither the engine nor NumPy, and a verb loads only what it needs itself.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from bakeoff.core.errors import PlanError

# The first paragraph of each verb's own help, in the order of `bakeoff --help`, which has them in these groups.
GROUPS = {
    "Measure": {
        "demo": "Compare two built-in web servers that differ in one known way.",
        "run": "Compare contenders by a suite, a plan file, a run, or a campaign.",
        "capacity": "Find the highest load each contender carries under an objective.",
        "soak": "Load contenders for hours, and store the figures of each hour.",
        "aa": "Measure the noise floor: one server as two contenders.",
        "plan": "Show trials, their order and duration; nothing is sent.",
        "resume": "Finish a run that was interrupted.",
    },
    "Read": {
        "compare": "Say which contender is better, by how much, and how sure that is.",
        "check": "Say by exit code whether a contender is worse or misses a limit.",
        "report": "Write the report: HTML that opens offline, PDF, Markdown or text.",
        "audit": "Find what cannot be true in results of others.",
        "history": "Show runs of one plan over time, and where a level changed.",
        "show": "List the trials of a run file.",
        "explain": "Say what a mark or state of a trial means, and what to do.",
    },
    "Share": {
        "verify": "Compute every word and number of a report again, and compare.",
        "challenge": "Measure another contender by the plan of a report.",
        "disclose": "Write what a paper discloses of machines and servers.",
        "export": "Write a run in the format of another tool or program.",
        "import": "Make a run file of what other tools have measured.",
    },
    "Machines": {
        "doctor": "Say what of this machine limits a run, and how to mend it.",
        "cluster": "Let many machines send load together: start, join, status, stop.",
        "serve": "Serve a built-in target for demos, calibration and tests.",
        "users": "Accounts for mail runs: make, convert, check.",
        "corpus": "Write the corpus of a suite to a folder, with its manifest.",
        "inventory": "Count the files of a share by size, to weigh file-matrix by them.",
    },
    "Tools": {
        "suites": "List the suites, or show one with its settings in each size.",
        "access": "List, read or write access specifications of Iometer (.icf).",
        "httperf": "Load by httperf's options, with httperf's output (-h lists them).",
        "iozone": "The file matrix by IOzone's options, with IOzone's output.",
    },
}
VERBS = {name: text for group in GROUPS.values() for name, text in group.items()}
# What Typer's page of help imports for Markdown and tracebacks, which are both off here: half of its time.
UNUSED = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}

# Verbs whose module cannot have their name: it is a word of Python.
MODULES = {"import": "importing"}


class LazyVerb(TyperCommand):
    """Stands for a verb in lists, and becomes it when it is called or completed."""

    def __init__(self, name: str, summary: str, group: str) -> None:
        super().__init__(name, help=summary, rich_help_panel=group)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the verb itself, which is loaded for it."""
        assert self.name is not None
        return load(self.name).make_context(info_name, args, parent, **extra)


class Verbs(TyperGroup):
    """All verbs, none of them loaded."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for group, verbs in GROUPS.items():
            for name, summary in verbs.items():
                self.add_command(LazyVerb(name, summary, group))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb that is meant. Raises PlanError for the name of a suite or a file without one."""
        word = args[0] if args else ""
        if word not in VERBS and not word.startswith("-"):
            from bakeoff.plan.suites import suite_names

            if word in suite_names():
                raise PlanError(f"{word} is a suite, not a command: bakeoff run {' '.join(args)}")
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """As Typer draws it."""
        with _left_out(UNUSED):
            import_module("typer.rich_utils")
        super().format_help(ctx, formatter)


@cache
def load(name: str) -> TyperCommand | TyperGroup:
    """The verb itself: imports its module."""
    app = typer.Typer()
    import_module(f"bakeoff.cli.{_folder(name)}.{MODULES.get(name, name)}").register(app)
    command = get_group(app).commands[name]
    assert isinstance(command, TyperCommand | TyperGroup)
    return command


def _folder(name: str) -> str:
    """The folder of a verb: that of its group."""
    return next(group for group, verbs in GROUPS.items() if name in verbs).lower()


@contextmanager
def _left_out(modules: dict[str, str]) -> Iterator[None]:
    """While modules are imported that want the class of each of these: it is an empty one. They themselves are not
    loaded, and can be later.
    """
    absent = [name for name in modules if name not in sys.modules]
    for name in absent:
        sys.modules[name] = ModuleType(name)
        setattr(sys.modules[name], modules[name], type(modules[name], (), {}))
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]
