"""How to read the verdicts."""

from __future__ import annotations

from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.report.blocks.tree import Bullets, Section, Text
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording

OPEN_LOOP = (
    "In an open loop the response time from the planned start decides where neither is overloaded. A contender that "
    "answers less than 99 % of what was offered is overloaded: alone, it forfeits that rate. Where both are "
    "overloaded, their answers per second are compared. Where more than 0.1 % of the operations failed or never "
    "began, the next higher percentile stands in.",
)


@report_section("reading", ReportPart.APPENDIX)
def section(context: Context) -> Section:
    """The rules behind each verdict, with the numbers of this run."""
    delta = wording.percent(context.comparison.run.delta)
    return Section(
        "How to read the verdicts",
        (
            Text(
                "The unit is the block, never the single request: within a block both contenders "
                "see the same seed and "
                "nearly the same moment, and only their ratio counts. All ratios are handled as logarithms."
            ),
            Bullets(
                (
                    f"better: the 95 % interval of the ratio excludes 1, and the difference is at least {delta}. The "
                    "paired t test (Holm-corrected) and the exact sign-flip test both reach 0.05. No validity check "
                    "is red.",
                    f"equivalent within ±{delta}: two one-sided tests show that the true ratio lies inside "
                    f"{1 / (1 + context.comparison.run.delta):.3f} to "
                    f"{1 + context.comparison.run.delta:.3f}.",
                    f"faster, size open: a difference is certain, but whether it is larger than {delta} is not.",
                    "inconclusive: the run showed neither a difference nor equivalence. The further blocks named give "
                    "an 80 % chance of an answer if the ratio seen is the true one. Where they would take over a day, "
                    "the spread of blocks is named instead. An interval that excludes 1 is not enough: the test that "
                    "failed is named.",
                    "withheld: the numbers would allow a verdict, but a validity check forbids it. The leader failed "
                    "trials or too many operations, or the generator was the limit where it matters.",
                    "disqualified: a contender lost, damaged, doubled or misplaced data, or gave wrong content. It "
                    "can neither win nor be equivalent, whatever its speed.",
                    f"no verdict: fewer than {MINIMUM_BLOCKS} usable blocks; no sign-flip test can reach 0.05 then.",
                    *(OPEN_LOOP if context.is_open_loop else ()),
                    "A trial that a contender lost (it failed, served nothing, or starved clients) counts as ten times "
                    "slower, or as the widest pair that both served. One that was voided or interrupted leaves its "
                    "pair out. All of them are listed above.",
                )
            ),
        ),
    )
