"""What reports know of a kind of suite. `DEFAULT` is what holds for a kind that does not say otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bakeoff.kinds import load
from bakeoff.report.layout.report_section import ReportSection

if TYPE_CHECKING:
    from bakeoff.report.layout.context import Context


class ReportPart:
    """The part of a kind for reports: derive from it, and set or override what differs.

    `sections` are its own, each of which says behind which general one it stands. `rate_curves` are the metrics that
    are charted first. `figures_shown` names the figures of its trials that its sections show; those that nobody
    shows stand in a table of their own, as do the operations unless `tells_operations`.
    """

    sections: Sequence[ReportSection] = ()
    rate_curves: Sequence[str] = ("rate", "throughput")
    figures_shown: frozenset[str] = frozenset()
    tells_operations: bool = False

    def splits_time(self, context: Context) -> bool:
        """Whether a section of its own has a better split of an operation's time than the steps have."""
        return False

    def audit_notes(self, context: Context) -> tuple[str, ...]:
        """Sentences beside the audits."""
        return ()

    def narrative(self, context: Context) -> tuple[str, ...]:
        """What a client does, and what counts as an operation, in sentences that hold for this plan."""
        return ()


DEFAULT = ReportPart()


def report_part(name: str) -> ReportPart:
    """What reports know of a kind; the default part for a kind without one, known or not."""
    part: ReportPart = load(name, "report", DEFAULT)
    return part
