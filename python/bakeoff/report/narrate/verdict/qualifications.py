"""What qualifies verdicts, in few words: what is so of several contenders is said once, the worst of them first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bakeoff.compare.model.pair import Gate
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.verdict.gates import also, gate_text

MOST = 3
"""Contenders that a clause names: all of them stand among the notes on the measurement."""


def noted(gates: Iterable[Gate]) -> tuple[str, ...]:
    """A clause for each thing that is to be noted, in the order in which they come."""
    found: dict[str, dict[str, Gate]] = {}
    for gate in gates:
        text = gate_text(gate)
        found.setdefault(gate.name if also(gate) else text, {}).setdefault(text, gate)
    return tuple(_clause(sorted(gates.values(), key=lambda gate: -gate.weight)) for gates in found.values())


def _clause(worst_first: Sequence[Gate]) -> str:
    first, *others = worst_first
    clauses = [gate_text(first), *(also(gate) for gate in others[: MOST - 1])]
    left = len(worst_first) - MOST
    if left > 0:
        clauses.append(f"less with {wording.plural(left, 'other')}")
    return ", ".join(clauses)
