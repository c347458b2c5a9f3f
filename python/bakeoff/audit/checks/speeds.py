"""More bytes a second than a link, a bus or the memory carries: only a cache explains them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bakeoff.audit.facts import AboveSpeed, CacheEnd, Carrier, FitsMemory
from bakeoff.audit.finding import Finding, Outcome
from bakeoff.audit.given import Given
from bakeoff.audit.interval import Bools
from bakeoff.audit.table import Column, Table
from bakeoff.compare.model.fact import Fact
from bakeoff.formats.foreign.table import FILE_SIZE

KEY = "speed"


def check(table: Table, given: Given) -> Iterator[Outcome]:
    """Every figure in bytes a second against each speed that was given."""
    limits: dict[Carrier, float | None] = {
        "link": given.link_bytes_per_s,
        "bus": given.bus_bytes_per_s,
        "memory": given.memory_bytes_per_s,
    }
    speeds = [column for column in table.measured if column.unit.quantity == "bytes/s"]
    for column in speeds:
        # The highest one that is broken says most.
        broken = [(kind, limit) for kind, limit in limits.items() if limit is not None]
        for kind, limit in sorted(broken, key=lambda one: one[1]):
            yield _against(table, column, kind, limit)
    if speeds and given.memory_bytes is not None and FILE_SIZE in table.columns:
        yield _in_memory(table, given.memory_bytes)


def _against(table: Table, column: Column, kind: Carrier, limit: float) -> Outcome:
    above: Bools = column.known & (column.base.low > limit)
    findings = tuple(
        Finding(
            KEY,
            "impossible",
            (table.place(column, row),),
            AboveSpeed(kind, float(column.base.middle[row]), limit),
        )
        for row in map(int, np.flatnonzero(above))
    )
    shows: tuple[Fact, ...] = ()
    if above.any():
        shows = (_cache_end(table, column, kind, above),)
    return Outcome(KEY, table.file, int(column.known.sum()), findings, shows)


def _cache_end(table: Table, column: Column, kind: Carrier, above: Bools) -> CacheEnd:
    """Up to which size of file a cache explains what is above the limit."""
    size = table.columns.get(FILE_SIZE)
    largest = beyond = None
    if size is not None:
        largest = float(np.nanmax(size.base.low[above]))
        larger = size.base.low[column.known & ~above & (size.base.low > largest)]
        beyond = float(np.nanmin(larger)) if larger.size else None
    return CacheEnd(kind, int(above.sum()), int(column.known.sum()), largest, beyond)


def _in_memory(table: Table, memory: float) -> Outcome:
    size = table.columns[FILE_SIZE]
    rows = int((size.base.low <= memory).sum())
    shows = (FitsMemory(rows, int(size.known.sum()), memory),) if rows else ()
    return Outcome("memory", table.file, int(size.known.sum()), (), shows)
