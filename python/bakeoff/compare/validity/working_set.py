"""Did all that was worked on fit into a cache? Then what was measured may be memory."""

from __future__ import annotations

from typing import Any

from bakeoff.compare.advice.advice_model import WorkingSet
from bakeoff.compare.cube.cells import cells_of
from bakeoff.compare.validity.client_options import settings_by_name
from bakeoff.core.system.mounts import is_server
from bakeoff.store.records.figures import CacheState, Figures, figures_of
from bakeoff.store.records.run_records import RunRecord, TrialRecord

# Whose memory it is.
CONTROL_GROUP, MACHINE, SERVER = "control group", "machine", "server"


def working_set_bytes(trial: TrialRecord, model: type[Figures]) -> int:
    """The largest set of files that the clients of a trial went through together; 0 where it is not known."""
    return trial.figures(model).working_set_bytes(trial.load_step.clients)


def were_cold(trials: list[TrialRecord]) -> bool:
    """Whether the kernel showed this machine's cache empty before each cell, or the cell made its file itself. It
    cannot show the server's.
    """
    caches = [cell.cache or CacheState() for t in trials for cell in cells_of(t) if not cell.skipped]
    shown = [cache.asked == "cold" and cache.proved is True for cache in caches]
    fresh = [cache.asked == "cold" and cache.name == "fresh" for cache in caches]
    return any(shown) and all(one or other for one, other in zip(shown, fresh, strict=True))


def fits_into_caches(run: RunRecord, trials: list[TrialRecord]) -> list[WorkingSet]:
    """That the largest working set of `trials` fits into the memory of the client or of the server."""
    model = figures_of(run.kind)
    largest = max((working_set_bytes(trial, model) for trial in trials), default=0)
    place, own = _memory(run.environment)
    server = run.planned.settings.servers_memory_bytes or 0
    direct = [table.get("direct") is True for table in settings_by_name(run).values()]
    by_protocol = all(is_server(contender.address) for contender in run.contenders)
    past_client = (bool(direct) and all(direct)) or were_cold(trials) or by_protocol
    places = [(place, 0 if past_client else own), (SERVER, server)]
    fitting = [(name, memory) for name, memory in places if 0 < largest <= memory]
    if not fitting:
        return []
    # A rehearsal is to be short: it says so, and no more.
    return [WorkingSet(largest, dict(fitting), run.planned.size == "quick")]


def _memory(environment: dict[str, Any]) -> tuple[str, int]:
    """What bounds the cache of the load-generating machine, and to how many bytes; 0 where that is not known."""
    memory, sizes = environment.get("memory"), list[int]()
    for name in ("memory_limit_bytes", "memory_bytes"):
        for table in (memory if isinstance(memory, dict) else {}, environment):
            if isinstance(size := table.get(name), (int, float)):
                sizes.append(int(size))
                if name == "memory_limit_bytes":
                    return CONTROL_GROUP, min(sizes)
    return MACHINE, next(iter(sizes), 0)
