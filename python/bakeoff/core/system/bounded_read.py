"""Files that people name, read as far as files of their kind go: a device has no end."""

import errno
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any

from bakeoff.core.units import format_size

MIB = 1 << 20
MOST_KEY_PARTS = 64
# `a.b."c".d`: each part costs the parser as much as all before it.
_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')[ \t]*+\.[ \t]*+"""
# Keys begin lines, tables, and the members of inline tables.
_DOTTED = re.compile(rf"(?:^|[\[{{,])[ \t]*(?:{_PART}){{{MOST_KEY_PARTS}}}")


def why_no_file(path: Path) -> str:
    """Why nobody can read a file there: "does not exist", "is a folder", "is not a plain file", "cannot be reached
    (Permission denied)"; "" for a plain file.
    """
    mode, fault = _mode(path)
    return fault or ("" if stat.S_ISREG(mode) else "is a folder" if stat.S_ISDIR(mode) else "is not a plain file")


def why_no_folder(path: Path) -> str:
    """As `why_no_file`, for a folder: "is not a folder" of a file."""
    mode, fault = _mode(path)
    return fault or ("" if stat.S_ISDIR(mode) else "is not a folder")


def _mode(path: Path) -> tuple[int, str]:
    """The mode of what is there, or why that is not known."""
    try:
        return path.stat().st_mode, ""
    except (FileNotFoundError, ValueError):  # a name with a zero byte names no file
        return 0, "does not exist"
    except OSError as error:
        return 0, f"cannot be reached ({error.strerror})"


def read_bounded(path: Path, most: int) -> bytes:
    """The bytes of a file. Raises OSError, also for a name that cannot be one and for more than `most` bytes."""
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except ValueError as error:  # a zero byte, or no text
        raise OSError(errno.EINVAL, str(error), str(path)) from None
    if len(data) > most:
        raise OSError(errno.EFBIG, f"more than {format_size(most)}: is it the right file?", os.fspath(path))
    return data


def read_text_bounded(path: Path, most: int) -> str:
    """The text of a file in UTF-8. Raises OSError and UnicodeDecodeError."""
    return read_bounded(path, most).decode("utf-8")


def loads_toml(text: str) -> dict[str, Any]:
    """TOML that people wrote, as a table. Raises ValueError, also for keys with too many parts, and RecursionError."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") >= MOST_KEY_PARTS and _DOTTED.search(line):
            raise ValueError(f"line {number}: a key of more than {MOST_KEY_PARTS} parts")
    return tomllib.loads(text)
