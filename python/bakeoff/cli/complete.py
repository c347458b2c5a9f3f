"""What a shell is offered for values: suites, files, contenders, marks, formats. Nothing here may fail or print."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import typer

from bakeoff.plan.suites import suite_names

MOST_FILES = 200


def one_of(values: Iterable[str]) -> Callable[[str], list[str]]:
    """One of these words."""
    words = tuple(values)

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


def list_of(values: Iterable[str]) -> Callable[[str], list[str]]:
    """Some of these words with commas between them, each once."""
    words = tuple(values)

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        there = before.split(",")
        return [f"{before}{comma}{word}" for word in words if word.startswith(last) and word not in there]

    return complete


def files(*endings: str) -> Callable[[str], list[str]]:
    """Files with one of these endings, or any, and folders on the way."""

    def complete(incomplete: str) -> list[str]:
        folder, slash, start = incomplete.rpartition("/")
        place = Path(folder + slash).expanduser() if slash else Path()
        found = []
        try:
            for path in sorted(place.iterdir()):
                if path.name.startswith(start) and (start or not path.name.startswith(".")):
                    if path.is_dir():
                        found.append(f"{folder}{slash}{path.name}/")
                    elif not endings or path.name.endswith(endings):
                        found.append(f"{folder}{slash}{path.name}")
        except (OSError, RuntimeError, ValueError):
            return []
        return found[:MOST_FILES]

    return complete


run_files = files(".bakeoff")
plan_files = files(".toml")
any_files = files()


def plans_and_suites(ctx: typer.Context, incomplete: str) -> list[str]:
    """The first word of a plan: a suite, a plan file or a run file. What follows it is a contender: NAME=ADDRESS."""
    if ctx.params.get("words"):
        return folder_addresses(incomplete)
    suites = [name for name in suite_names() if name.startswith(incomplete)]
    return suites + files(".toml", ".bakeoff")(incomplete)


def folder_addresses(incomplete: str) -> list[str]:
    """Of `NAME=fold` the folders that it may mean."""
    name, equals, start = incomplete.partition("=")
    if not equals or "://" in start:
        return []
    return [f"{name}={path}" for path in any_files(start) if path.endswith("/")]


def contenders(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of contenders of the run files on the line."""
    from bakeoff.store.sqlite.read import read_run

    names: list[str] = []
    for path in _words(ctx, "paths", "path"):
        try:
            names += [one.name for one in read_run(Path(path)).contenders]
        except Exception:
            continue
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]


def resets(ctx: typer.Context, incomplete: str) -> list[str]:
    """`NAME=` of the contenders on the line, for their commands."""
    names = [
        word.partition("=")[0] for word in _words(ctx, "words") if "=" in word and ":" not in word.partition("=")[0]
    ]
    return [f"{name}=" for name in names if f"{name}=".startswith(incomplete)]


def watches(ctx: typer.Context, incomplete: str) -> list[str]:
    """`NAME=` of the contenders on the line, then how one can be watched."""
    name, equals, _ = incomplete.partition("=")
    if not equals:
        return resets(ctx, incomplete)
    forms = (f"{name}={form}" for form in ("pid:", "pidfile:/", "cgroup:/", "ssh://", "http://"))
    return [form for form in forms if form.startswith(incomplete)]


def _words(ctx: typer.Context, *arguments: str) -> list[str]:
    """What was given for one of these arguments. Behind a flag that has no value yet they are not sorted yet."""
    given: Any = next((value for name in arguments if (value := ctx.params.get(name))), ctx.args)
    words: Sequence[Any] = given if isinstance(given, (list, tuple)) else (given,)
    return [str(word) for word in words]
