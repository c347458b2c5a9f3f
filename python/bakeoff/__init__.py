"""Bakeoff: which of these servers is faster under my load, by how much, and where does each break?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from bakeoff.opened import OpenRun

__version__ = "0.1.0"
__all__ = ["__version__", "open"]


def open(path: str | os.PathLike[str]) -> OpenRun:
    """A run file for programs and notebooks; see `bakeoff.opened`. Raises RunFileError when it is asked for something
    and the file is none, or damaged.
    """
    from pathlib import Path

    from bakeoff.opened import OpenRun  # NumPy and more: the command line need not wait for it

    return OpenRun(Path(path))
