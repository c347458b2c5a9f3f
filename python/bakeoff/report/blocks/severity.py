"""How verdicts are to be taken, wherever they are shown."""

from __future__ import annotations

from bakeoff.compare.model.pair import RatioPoint, Verdict
from bakeoff.report.blocks.tree import Severity, SeverityText
from bakeoff.report.narrate.verdict.verdicts import brief_text

# By the kinds of verdicts, and of sentences of a headline.
SEVERITIES: dict[str, Severity] = {
    "loss": "bad",
    "better": "good",
    "equivalent": "good",
    "near_margin": "warning",
    "inconclusive": "warning",
    "withheld": "bad",
    "disqualified": "bad",
    "too_few": "warning",
    "noise_bias": "warning",
    "noise_unknown": "warning",
    "objective_met": "good",
    "objective_missed": "bad",
    "objective_undecided": "warning",
}


def short_verdict(of: Verdict | RatioPoint) -> SeverityText:
    """The same without the reasons of one that is withheld, which stand with the verdict on the primary endpoint."""
    verdict = of.verdict if isinstance(of, RatioPoint) else of
    decided = verdict.kind not in ("withheld", "disqualified")
    return verdict_cell(of) if decided else SeverityText(verdict.kind, SEVERITIES[verdict.kind])


def verdict_cell(of: Verdict | RatioPoint) -> SeverityText:
    """A verdict as a cell, or that at one load with what was forfeited there; one withheld names its gates alone."""
    verdict = of.verdict if isinstance(of, RatioPoint) else of
    return SeverityText(brief_text(of), SEVERITIES[verdict.kind])


def ratio_cell(text: str, low: float, high: float) -> SeverityText:
    """A ratio as a cell, with the tone of the side of 1 on which its interval lies."""
    return SeverityText(text, "good" if low > 1.0 else "bad" if high < 1.0 else "plain")
