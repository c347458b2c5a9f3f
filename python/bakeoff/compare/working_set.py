"""Did all that was worked on fit into a cache? Then what was measured may be memory."""

from __future__ import annotations

from bakeoff.compare import settings
from bakeoff.compare.model import Advisory
from bakeoff.compare.surface import cells_of
from bakeoff.store.records import RunRecord, TrialRecord
from bakeoff.units import format_size

# IOzone's rule: files of three times the cache leave little of them in it.
TIMES = 3


def working_set_bytes(trial: TrialRecord) -> int:
    """The largest set of files that the clients of a trial went through together; 0 where it is not known."""
    if (touched := trial.workload.get("touched_bytes")) is not None:
        return int(touched)
    shared = "region_bytes" in trial.workload  # all clients on one file
    sizes = [int(cell.get("file_bytes") or 0) for cell in cells_of(trial) if not cell.get("skipped")]
    return max(sizes, default=0) * (1 if shared else trial.mix_clients)


def were_cold(trials: list[TrialRecord]) -> bool:
    """Whether the kernel showed this machine's cache empty before each cell, or the cell made its file itself. It
    cannot show the server's.
    """
    caches = [cell.get("cache") or {} for t in trials for cell in cells_of(t) if not cell.get("skipped")]
    shown = [cache.get("asked") == "cold" and cache.get("proved") is True for cache in caches]
    fresh = [cache.get("asked") == "cold" and cache.get("name") == "fresh" for cache in caches]
    return any(shown) and all(one or other for one, other in zip(shown, fresh, strict=True))


def fits_into_caches(run: RunRecord, trials: list[TrialRecord]) -> list[Advisory]:
    """A warning when the largest working set of ``trials`` fits into the memory of the client or of the server."""
    largest = max((working_set_bytes(trial) for trial in trials), default=0)
    own = int((run.environment.get("memory") or {}).get("memory_bytes") or run.environment.get("memory_bytes") or 0)
    server = int(settings.number(run.plan, "server_memory", 0.0))
    past_client = settings.flag(run.plan, "direct") or were_cold(trials)
    places = [("this machine", 0 if past_client else own), ("the server", server)]
    fitting = [(name, memory) for name, memory in places if 0 < largest <= memory]
    if not fitting:
        return []
    names = " and of ".join(f"{name} ({format_size(memory)})" for name, memory in fitting)
    most = max(memory for _, memory in fitting)
    if run.plan.get("size") == "quick":
        # A rehearsal is to be short: it says so, and no more.
        return [Advisory(f"A quick run: all files fit into the memory of {names}.", "Reads may come from a cache.")]
    return [
        Advisory(
            f"All files of a trial ({format_size(largest)} at most) fit into the memory of {names}: what is read may "
            "come from a cache.",
            f"For figures of disks use files of {format_size(TIMES * most)} or more together, or cold caches.",
        )
    ]
