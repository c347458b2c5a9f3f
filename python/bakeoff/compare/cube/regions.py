"""The regions of cells, by their sizes, that a plan wants apart."""

from __future__ import annotations

from dataclasses import dataclass

from bakeoff.compare.model.cell import CellRatio
from bakeoff.core.units import format_binary
from bakeoff.plan.settings.shared import CommonSettings


@dataclass(frozen=True)
class Region:
    """Ranges in bytes, both ends included; None: no limit."""

    name: str
    files: tuple[int | None, int | None]
    records: tuple[int | None, int | None]

    def holds(self, cell: CellRatio) -> bool:
        """Whether a cell lies inside. One without a size has no place in a range."""
        return _inside(cell.file_kib, self.files) and _inside(cell.record_kib, self.records)

    @property
    def words(self) -> str:
        """`small office region (files to 2 MiB, records to 32 KiB)`."""
        parts = [part for part in (_range("files", self.files), _range("records", self.records)) if part]
        return f"{self.name} region ({', '.join(parts)})"


SMALL_OFFICE = Region("small office", (None, 2 << 20), (None, 32 << 10))


def regions_of(settings: CommonSettings) -> tuple[Region, ...]:
    """The regions that a plan has; the small-office region for settings that know of none."""
    if settings.separate_regions is None:
        return (SMALL_OFFICE,)
    return tuple(
        Region(one.name, (one.file_least, one.file_most), (one.record_least, one.record_most))
        for one in settings.separate_regions
    )


def _inside(size_kib: float | None, limits: tuple[int | None, int | None]) -> bool:
    least, most = limits
    if least is None and most is None:
        return True
    if size_kib is None:
        return False
    size = size_kib * 1024.0
    return (least is None or size >= least) and (most is None or size <= most)


def _range(what: str, limits: tuple[int | None, int | None]) -> str:
    least, most = limits
    if least is None:
        return "" if most is None else f"{what} to {format_binary(most)}"
    return f"{what} from {format_binary(least)}" + ("" if most is None else f" to {format_binary(most)}")
