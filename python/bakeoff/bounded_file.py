"""Files that people name, read as far as files of their kind go: a device has no end."""

import errno
import os
from pathlib import Path

from bakeoff.units import format_size

MIB = 1 << 20


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
