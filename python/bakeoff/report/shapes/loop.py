"""A closed loop in reports. Other shapes say what differs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from bakeoff.compare.failures.error_replies import ErrorReplies
from bakeoff.compare.model.comparison import ContenderSummary
from bakeoff.report.blocks.facts import failures
from bakeoff.report.blocks.tree import Card
from bakeoff.report.layout.report_section import ReportSection
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.validity.client_options import ways
from bakeoff.report.narrate.validity.error_replies import error_replies_text

if TYPE_CHECKING:
    from bakeoff.report.layout.context import Context


class ShapeReport:
    """What a report does as the load of its run was laid out: derive from it, and override what differs."""

    # Whether the load did not wait, so that response times count from planned starts.
    is_open_loop: ClassVar[bool] = False

    def sections(self) -> Sequence[ReportSection]:
        """Sections of its own, each of which says behind which general one it stands."""
        return ()

    def hides(self, context: Context) -> frozenset[str]:
        """The ids of general sections that would say nothing of such a run, or nothing right."""
        return frozenset()

    def load(self, context: Context, each: str) -> str:
        """What a contender went through; `each` says how long each load lasted."""
        return f"{wording.load_steps(context.comparison.run.load_steps)}{each}"

    def response(self, context: Context) -> str:
        """What response times are of."""
        return (
            "Service time of successful operations in a closed loop: a client sends its next operation when the last "
            "one is done, so a slow server is also asked less often. Percentiles are taken from the full histogram of "
            "each trial; the point is the geometric mean of the blocks."
        )

    def card(self, context: Context, c: ContenderSummary, series: int) -> Card:
        """The key figures of one contender."""
        figure, caption = self.figure(context, c)
        return Card(
            title=c.name,
            figure=figure,
            caption=caption,
            lines=(
                *self.course(context, c),
                ("Failed", failures(c)),
                *(
                    [("Answered", error_replies_text(ErrorReplies(c.operations, c.error_replies)))]
                    if c.error_replies
                    else []
                ),
                ("Address", c.address),
                *([("Asked", asked)] if (asked := _asked(context, c)) else []),
            ),
            series=series,
            severity="good" if context.comparison.winner == c.name else "plain",
        )

    def figure(self, context: Context, c: ContenderSummary) -> tuple[str, str]:
        """Its peak, and at which load."""
        if c.peak_load_step is not None and c.peak_is_bimodal:
            ends = f"{wording.figures(c.peak_lowest)} – {wording.figures(c.peak_highest)}"
            one = f"{ends} {context.comparison.run.rate_unit}"
            return one, f"no one peak: blocks differ, at {c.peak_load_step.words}"
        at = f"peak, at {c.peak_load_step.words}" if c.peak_load_step else "no usable trial"
        if not math.isnan(c.peak_low):
            at = f"{at} (95 % {wording.figures(c.peak_low)} – {wording.figures(c.peak_high)})"
        return f"{wording.figures(c.peak)} {context.comparison.run.rate_unit}", at

    def course(self, context: Context, c: ContenderSummary) -> tuple[tuple[str, str], ...]:
        """Where its curve flattens, and the response time at its peak."""
        saturation = f"from {c.saturation_load_step.words}" if c.saturation_load_step else c.saturation()
        shape = (("Saturation", saturation), ("Shape", sentence(c.shape)))
        return (*shape, ("p99 at the peak", f"{wording.figures(c.peak_p99_ms)} ms"))


def _asked(context: Context, c: ContenderSummary) -> str:
    """How clients talked with it, where that differs."""
    return ways(context.comparison.client_options, context.words, context.names).get(c.name, "")
