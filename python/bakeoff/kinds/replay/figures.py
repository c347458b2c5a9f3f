"""What a trial of a replay tells: its table of paths."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bakeoff.store.records.figures import Count, Figures, Number, Shape

MOST_ROWS = 1_000
Status = Annotated[int, Field(ge=100, le=599)]


class PathFigures(Shape):
    """What became of the requests for one path, method and path without its query.

    `in_log` lines ask for it; of the starts planned for it, `asked` were in the window. `answered` ended there as they
    must, in `time_s` seconds of response time together. Of all replies `other_status` did not fit the status of their
    line: the first was `got_status` where the log has `logged_status`.
    """

    path: Annotated[str, Field(max_length=1_000)]
    in_log: Count
    asked: Count
    answered: Count
    time_s: Number
    p50_ns: Number | None = None
    p99_ns: Number | None = None
    statuses: Annotated[dict[str, Count], Field(max_length=500, default_factory=dict)]
    errors: Annotated[dict[str, Count], Field(max_length=100, default_factory=dict)]
    other_status: Count = 0
    logged_status: Status | None = None
    got_status: Status | None = None


class Others(Shape):
    """All `paths` that have no row of their own, as one."""

    paths: Count
    sum: PathFigures


class Paths(Shape):
    """The most asked paths of the log, and after them those of the others that took the most time."""

    rows: Annotated[tuple[PathFigures, ...], Field(max_length=MOST_ROWS)] = ()
    others: Others | None = None


class ReplayFigures(Figures):
    paths: Paths = Paths()


PART = ReplayFigures
