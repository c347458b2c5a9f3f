"""Bakeoff: which of these servers is faster under my load, by how much, and where does each break?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from bakeoff.api import OpenCampaign, OpenRun

__version__ = "0.1.0"
__all__ = ["__version__", "open"]


def open(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    failed: Sequence[str] = (),
    notes: Sequence[tuple[str, str]] = (),
) -> OpenRun | OpenCampaign:
    """A run file for programs and notebooks, several together, or the folder of a campaign; see `bakeoff.api`. Of
    several, those that `failed` (path, name or letter) are repeated by others, and `notes` of day and text say why.
    Raises RunFileError when it is asked for something and a file is none, or damaged, and PlanError for files that
    cannot be told of together.
    """
    from os import PathLike
    from pathlib import Path

    from bakeoff.api import opened  # NumPy and more: the command line need not wait for it

    paths = [path] if isinstance(path, str | PathLike) else path
    return opened([Path(each) for each in paths], failed, notes)
