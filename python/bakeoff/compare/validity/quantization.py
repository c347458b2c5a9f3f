"""Rates that move in steps: a session that ends a little after the window is as if it had not been."""

from __future__ import annotations

from bakeoff.compare.advice.advice_model import QuantizedRates
from bakeoff.compare.cube.cells import cells_of
from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.model.comparison import RunInfo
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.validity.audits import littles_law
from bakeoff.store.records.run_records import RunRecord


def quantization_advice(run: RunRecord, cube: Cube, info: RunInfo) -> list[Fact]:
    """Where clients do so few operations in the window that one more of each is a larger share than what matters.

    Clients begin together, and do the same for as long as they are alike: that they all fit one more into the window,
    in every block, may be a difference of a few microseconds, and has no spread that an interval could show. Trials
    that end after a number of operations are measured to the end of the last.
    """
    law = littles_law(run, cube.kind)
    if run.imported_from is not None or not law.applies or run.planned.settings.clock.operations:
        return []
    steps: dict[str, float] = {}
    for trial in cube.usable.values():
        sessions = trial.load_step.sessions(law.per_client)
        if sessions and trial.operations and not cells_of(trial):
            steps[trial.contender] = max(steps.get(trial.contender, 0.0), sessions / trial.operations)
    quantized = {name: step for name, step in steps.items() if step > info.delta}
    if not quantized:
        return []
    return [QuantizedRates(tuple(quantized), max(quantized.values()), info.delta, info.work)]
