"""What a check finds: where, what was expected, what stands there, why that may be, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from bakeoff.audit.repairs import Repair
from bakeoff.audit.table import Place
from bakeoff.compare.model.fact import Fact

# A number that cannot be with what stands beside it, and one that can, but seldom is.
Grade = Literal["impossible", "off"]
# certain: no value of the printed digits fits. likely: one number explains it, and others agree. possible: chance may.
Sure = Literal["certain", "likely", "possible"]


@dataclass(frozen=True)
class Finding:
    """`places` are the numbers that do not go together, the suspected one first. `repairs` would each mend it.
    `comparisons` is how many of its check it stands for: a unit is that of many rows.
    """

    check: str
    grade: Grade
    places: tuple[Place, ...]
    fact: Fact
    sure: Sure = "certain"
    repairs: tuple[Repair, ...] = ()
    comparisons: int = 1


@dataclass(frozen=True)
class Outcome:
    """What one check says of one table: how many numbers it `checked`, what it found, and what all numbers have in
    common (`shows`): a unit, a pause.
    """

    check: str
    table: str
    checked: int = 0
    findings: tuple[Finding, ...] = ()
    shows: tuple[Fact, ...] = field(default=())

    @property
    def consistent(self) -> int:
        """How many comparisons no finding stands for. A number may be a copy of several."""
        return max(0, self.checked - sum(finding.comparisons for finding in self.findings))
