"""One long trial of each contender, told interval by interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bakeoff.compare.limits.soak import soak_of
from bakeoff.compare.shapes.loop import Shape
from bakeoff.store.records.run_records import RunRecord

if TYPE_CHECKING:
    from bakeoff.compare.model.subject import Subject


class SoakRun(Shape):
    """What the intervals tell stands beside what the load says."""

    goes_on = False

    @classmethod
    def fits(cls, run: RunRecord) -> bool:
        return "soak" in run.planned.shape.names

    def findings(self, subject: Subject) -> Mapping[str, Any]:
        return {**super().findings(subject), "soak": soak_of(subject.run)}


PART = SoakRun
