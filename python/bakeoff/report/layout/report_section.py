"""What is known of a section of the report, beside the function that makes it: its id, its place, who is shown it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bakeoff.report.blocks.tree import Section
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.parts import ReportPart

if TYPE_CHECKING:
    from bakeoff.report.layout.context import Context


@dataclass(frozen=True)
class ReportSection:
    """One section: `make` gives its title and blocks, or None when it has nothing to say.

    `detail` is the least at which it has anything to show; its blocks say for themselves from which detail on they are
    shown, never above that. What stands `in_full` is left out of the standard edition. `fits` says of which runs it
    would say something, and something right. A section of a kind of suite stands after the general one with the id
    `after`.
    """

    id: str
    make: Callable[[Context], Section | None]
    part: ReportPart = ReportPart.RESULTS
    detail: Detail = Detail.PAGE
    after: str = ""
    fits: Callable[[Context], bool] = lambda _: True
    in_full: bool = False

    def __call__(self, context: Context) -> Section | None:
        """The section under its id and in its part."""
        made = self.make(context)
        return None if made is None else replace(made, id=self.id, part=self.part, in_full=self.in_full)


def report_section(
    id_: str,
    part: ReportPart = ReportPart.RESULTS,
    detail: Detail = Detail.PAGE,
    after: str = "",
    fits: Callable[[Context], bool] = lambda _: True,
    in_full: bool = False,
) -> Callable[[Callable[[Context], Section | None]], ReportSection]:
    """Register the function below as a section."""
    return lambda make: ReportSection(id_, make, part, detail, after, fits, in_full)
