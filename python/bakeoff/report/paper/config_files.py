"""Configuration files side by side: equal or not by their hashes, and how the texts differ where they were given."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from bakeoff.disclosure.paper.collected import Collected, ConfigFile
from bakeoff.report.blocks.tree import Block, Column, Listing, Table

NOTE = "SHA-256 of the file; with * of its text without secrets, as secrets can be guessed from their hash."
SHORT = 12
MOST_LINES = 600
ABSENT = "absent, or could not be read"


def config_files(found: Mapping[str, Collected], names: tuple[str, ...]) -> list[Block]:
    """Nothing where no file was collected."""
    files = {name: {file.path: file for file in one.files} for name, one in found.items()}
    shown = [name for name in names if name in files]
    paths = sorted({path for own in files.values() for path in own})
    if not paths:
        return []
    differing = [path for path in paths if len({_hash(files[name].get(path)) for name in shown}) > 1]
    blocks: list[Block] = []
    if differing:
        columns = (Column("File", False), *(Column(name, False) for name in shown))
        rows = tuple((path, *(_short(files[name].get(path)) for name in shown)) for path in differing)
        blocks.append(Table("Configuration files that differ", columns, rows, NOTE))
    same = tuple((path, *_full(files[shown[0]][path])) for path in paths if path not in differing)
    columns = (Column("File", False), Column("Bytes"), Column("SHA-256", False))
    if same:
        one = len(shown) == 1
        title = f"Configuration files of {shown[0]}" if one else f"Configuration files: the same of {', '.join(shown)}"
        blocks.append(Table(title, columns, same, NOTE, folded=True))
    whole = tuple(
        (name, path, *_full(file))
        for path in differing
        for name in shown
        if (file := files[name].get(path)) is not None
    )
    if whole:
        titles = (Column("Contender", False), *columns)
        blocks.append(Table("Hashes of configuration files that differ", titles, whole, NOTE, folded=True))
    return [*blocks, *(listing for path in paths for listing in _texts(path, files, shown))]


def _texts(path: str, files: Mapping[str, Mapping[str, ConfigFile]], names: list[str]) -> list[Block]:
    """The text of the first that gave it, and of the others what differs."""
    given = [(name, file) for name in names if (file := files[name].get(path)) is not None and file.text]
    if not given:
        return []
    first, basis = given[0]
    same = [name for name, file in given if file.text == basis.text]
    listings: list[Block] = [Listing(f"{path} of {', '.join(same)}", _bounded(basis.text.splitlines()))]
    for name, file in given:
        if file.text != basis.text:
            lines = difflib.unified_diff(basis.text.splitlines(), file.text.splitlines(), first, name, lineterm="")
            listings.append(Listing(f"{path}: {first} against {name}", _bounded(list(lines))))
    return listings


def _bounded(lines: list[str]) -> str:
    more = len(lines) - MOST_LINES
    return "\n".join([*lines[:MOST_LINES], *([f"… {more} more lines"] if more > 0 else [])])


def _hash(file: ConfigFile | None) -> str:
    return file.sha256 if file else ""


def _short(file: ConfigFile | None) -> str:
    return f"{file.sha256[:SHORT]} …{'*' * file.redacted}, {file.bytes:,} bytes" if file else ABSENT


def _full(file: ConfigFile) -> tuple[str, str]:
    return f"{file.bytes:,}", file.sha256 + "*" * file.redacted
