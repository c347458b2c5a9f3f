"""The flag by which a noise floor to quote is named; see `bakeoff.noise_floors`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bakeoff.cli.complete import run_files

NoiseFile = Annotated[
    list[Path] | None,
    typer.Option(
        "--aa",
        metavar="AA.bakeoff",
        autocompletion=run_files,
        help="Quote the noise floor of this A/A run (`bakeoff aa`); in a campaign once for each suite. Default: the "
        "newest aa-*.bakeoff in the same folder with the same machine, suite and address.",
    ),
]
