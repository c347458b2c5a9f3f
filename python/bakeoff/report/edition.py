"""How a report was asked for: with it and the run file the same report can be made again."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

KEY = "edition"


class Edition(BaseModel):
    """The flags of `bakeoff report`, as they are embedded in what it writes."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    baseline: str | None = None
    delta: float | None = None
    surfaces: bool = False
    short: bool = False
    paper: dict[str, Any] | None = None
    """The tables of a paper file, without secrets."""
