"""How cold the caches were before each test, whether that was seen, and which cells a cache served."""

from __future__ import annotations

from collections import Counter, defaultdict

from bakeoff.compare.cube.cell_caching import CACHE_FALL, LEVEL
from bakeoff.compare.cube.cells import CellKey, cells_of, key_of
from bakeoff.compare.model.cell import CacheZone, CellComparison
from bakeoff.load.load_step import LoadStep
from bakeoff.report.blocks.tree import Block, Column, Section, Table, Text
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.cells import cache_rule, size, title
from bakeoff.report.sections.cells.heat_map import capital, sizes_of
from bakeoff.store.records.figures import CacheState, CellFigures

# From warm to cold: the names in results, and for people.
LEVELS = {
    "warm": "as the test before left them",
    "fresh": "file made by this test",
    "dropped": "file dropped from memory",
    "drop_caches": "all caches of this machine dropped",
    "command": "after the cold command",
}
RULE = (
    f"Along the file sizes of each record size: strong: within {LEVEL:g} times of the highest rate. None: within as "
    f"much of the rate of the largest files, which is at least {CACHE_FALL:g} times lower. Weak: between them. Rates "
    "alone decide this: another level of memory may end there."
)
LEGEND = (
    "A cache that is full before a test changes what is measured. Seen empty: the kernel (cachestat) showed no page "
    "of the file in memory when the clock started, in every block. Cached: in half of the blocks or more, neither the "
    "bytes on disk and wire nor the speed of the link explain the rate. Carried: bytes on disk or wire as a share of "
    "the clients' bytes, where they can be counted."
)


@report_section("caches", detail=Detail.COMPARISON)
def section(context: Context) -> Section | None:
    """Where caching ends, and what was done about caches: a row for each test of each contender."""
    compared = context.comparison.cells
    if compared is None:
        return None
    blocks = [*_rules(context, compared), *_states(context, compared)]
    return Section("Caches", tuple(blocks)) if blocks else None


def _rules(context: Context, compared: CellComparison) -> list[Block]:
    """Where caching is strong, weak and none, over file size and record size."""
    blocks: list[Block] = [
        Text(text, detail=Detail.COMPARISON) for rule in compared.caching for text in cache_rule(rule)
    ]
    rows = tuple(
        (rule.contender, f"{rule.load_step}", ", ".join(map(title, rule.tests)), *_zone(zone))
        for rule in compared.caching
        for zone in rule.zones
    )
    if rows:
        titles = ("Records", "strong to", "weak at", "none from", "times slower")
        columns = (
            Column("Contender", numeric=False), Column(context.load_step_title),
            Column(capital(compared.form.tests), numeric=False), *(Column(one) for one in titles),
        )  # fmt: skip
        blocks.append(Table("Where caching is strong, weak and none", columns, rows, RULE))
    return blocks


def _zone(zone: CacheZone) -> tuple[str, ...]:
    records = dict.fromkeys((zone.record_low_kib, zone.record_high_kib))
    return (
        " to ".join(map(size, records)),
        size(zone.strong_kib),
        ", ".join(map(size, zone.weak_kib)) or wording.MISSING,
        f"{size(zone.none_kib)}{'' if zone.levelled else ' (largest)'}",
        wording.figures(zone.fall, 2),
    )


def _states(context: Context, compared: CellComparison) -> list[Block]:
    """What was done about caches before each test, and what was seen of them."""
    rows: list[tuple[str, ...]] = []
    for load_step in context.comparison.run.load_steps:
        for name in context.names:
            rows += [(f"{load_step}", name, *row) for row in _rows(context, name, load_step)]
    if not rows:
        return []
    columns: tuple[Column, ...] = (
        Column(context.load_step_title),
        Column("Contender", numeric=False),
        Column(capital(compared.form.test), numeric=False),
        Column("Caches before", numeric=False),
        Column("Cells"),
        Column("seen empty"),
        Column("cached"),
        Column("Carried"),
        Column("Why, at the largest cached cell", numeric=False),
    )
    if len(context.comparison.run.load_steps) == 1:
        columns, rows = columns[1:], [row[1:] for row in rows]
    asked = _asked(context)
    return [Text(f"{asked} {LEGEND}"), Table("Caches of each test", columns, tuple(rows))]


def _asked(context: Context) -> str:
    cold = any((cell.cache or CacheState()).asked == "cold" for t in context.usable for cell in cells_of(t))
    return "Cold caches were asked for." if cold else "Warm caches were asked for."


def _rows(context: Context, name: str, load_step: LoadStep) -> list[tuple[str, ...]]:
    seen: dict[str, dict[CellKey, list[CellFigures]]] = defaultdict(lambda: defaultdict(list))
    for trial in context.at(name, load_step):
        for cell in cells_of(trial):
            if cell.cache:
                key = key_of(cell)
                seen[key[0]][key].append(cell)
    return [_row(test, cells) for test, cells in seen.items()]


def _row(test: str, cells: dict[CellKey, list[CellFigures]]) -> tuple[str, ...]:
    before = Counter(_reached(figures) for figures in cells.values())
    levels = [f"{LEVELS.get(level, level)}{f' ({n:,})' if len(before) > 1 else ''}" for level, n in before.items()]
    empty = sum(all(cell.cache and cell.cache.proved for cell in figures) for figures in cells.values())
    cached = {
        key: marked[-1]
        for key, figures in cells.items()
        if 2 * len(marked := [c for c in figures if c.cached]) >= len(figures)
    }
    why = wording.MISSING
    if cached:
        largest = max(cached, key=lambda key: (key[1] or 0, key[2] or 0))
        why = f"{sizes_of(largest)}: {cached[largest].cached_reason or 'no reason was recorded'}"
    return title(test), "; ".join(levels), f"{len(cells):,}", f"{empty:,}", f"{len(cached):,}", _carried(cells), why


def _carried(cells: dict[CellKey, list[CellFigures]]) -> str:
    """What disk or wire carried, as a share of what the clients moved, where that was counted."""
    every = (cell for figures in cells.values() for cell in figures)
    counted = [(cell.carried_bytes, cell.bytes) for cell in every if cell.carried_bytes is not None and cell.bytes]
    if not counted:
        return wording.MISSING
    return wording.percent(sum(carried for carried, _ in counted) / sum(moved for _, moved in counted))


def _reached(cells: list[CellFigures]) -> str:
    """The level that was reached in all blocks: the warmest of them."""
    order = list(LEVELS)
    names = [cell.cache.name for cell in cells if cell.cache]
    return min(names, key=lambda name: order.index(name) if name in order else len(order))
