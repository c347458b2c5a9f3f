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

from bakeoff.errors import PlanError

# The first paragraph of each verb's own help, in the order of `bakeoff --help`.
VERBS = {
    "demo": "Compare two built-in web servers that differ in one known way, and write the report.",
    "run": "Compare contenders: run a plan file, a suite with flags, the plan of a run once more, or a campaign.",
    "soak": "Load contenders for hours, one after the other, and store what each hour came to.",
    "capacity": "Find the highest load that each contender carries under an objective, and who carries more.",
    "plan": "Show the trials, their order and the duration of a plan without running it. Nothing is sent to a server.",
    "aa": "Measure the noise floor of a set-up: one server as two contenders, in interleaved blocks.",
    "resume": "Finish a run that was interrupted: the trials that are missing run, the others stay as they are.",
    "show": "List the trials of a run file.",
    "explain": "Say what a mark or state of a trial means, and what to do about it.",
    "compare": "Say which contender is better, by how much, and how sure that is.",
    "check": "Say by the exit code whether a contender is worse than the baseline by more than is allowed, or misses "
    "a limit.",
    "report": "Write the report of a run: one HTML file that opens offline, a PDF to print, Markdown or plain text.",
    "verify": "Compute every word and number of a report again, and compare.",
    "challenge": "Measure another contender by the plan of a report, beside those that the report is about.",
    "disclose": "Write what a paper discloses: fields to be filled in, or what machines tell of themselves.",
    "import": "Make a run file of what another tool has printed, so that it can be compared and reported.",
    "export": "Write a run in the format of another tool or program.",
    "corpus": "Write the corpus of a suite to a folder, with a manifest of sizes and hashes.",
    "suites": "List the suites, or show one with its settings in each size.",
    "access": "List access specifications of file-blocks, or read and write them as Iometer files (.icf).",
    "inventory": "Count the files of a share by size, so that file-matrix can weigh its cells by them.",
    "doctor": "Say what of this machine limits a run, and the command that mends it.",
    "cluster": "Let many machines send load together: start, join, status, stop.",
    "users": "Accounts for mail runs: make, convert, check.",
    "serve": "Serve a built-in target for demos, calibration and tests.",
    "httperf": "Connections or sessions at a rate, with httperf's options and httperf's output (-h lists the options).",
    "iozone": "The file matrix with IOzone's options and IOzone's output (-h lists the options).",
}
# What Typer's page of help imports for Markdown and tracebacks, which are both off here: half of its time.
UNUSED = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}

# Verbs whose module cannot have their name: it is a word of Python.
MODULES = {"import": "importing"}


class LazyVerb(TyperCommand):
    """Stands for a verb in lists, and becomes it when it is called or completed."""

    def __init__(self, name: str, summary: str) -> None:
        super().__init__(name, help=summary)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the verb itself, which is loaded for it."""
        assert self.name is not None
        return load(self.name).make_context(info_name, args, parent, **extra)


class Verbs(TyperGroup):
    """All verbs, none of them loaded."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, summary in VERBS.items():
            self.add_command(LazyVerb(name, summary))

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
    import_module(f"bakeoff.cli.{MODULES.get(name, name)}").register(app)
    command = get_group(app).commands[name]
    assert isinstance(command, TyperCommand | TyperGroup)
    return command


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
