"""Were the caches cold that were asked to be? One that stays full looks faster than a disk that has to be read."""

from __future__ import annotations

from bakeoff.compare.advice.advice_model import NotCold
from bakeoff.compare.cube.cells import cells_of
from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.model.fact import Fact


def cold_advice(cube: Cube) -> list[Fact]:
    """Whose caches could not be emptied before cells although that was asked for, beside those whose were."""
    asked, full = (dict.fromkeys(cube.contenders, 0) for _ in range(2))
    for trial in cube.usable.values():
        for cell in cells_of(trial):
            # A cell that makes its file itself finds nothing of it in a cache.
            if cell.cache and cell.cache.asked == "cold" and cell.cache.name != "fresh" and not cell.skipped:
                asked[trial.contender] += 1
                full[trial.contender] += cell.cache.name == "warm"
    stayed = [name for name in cube.contenders if full[name]]
    if not stayed:
        return []
    emptied = tuple(name for name in cube.contenders if asked[name] and not full[name])
    return [NotCold({name: (full[name], asked[name]) for name in stayed}, emptied)]
