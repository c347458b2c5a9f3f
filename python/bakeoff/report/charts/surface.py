"""Rates of one test as surfaces in three dimensions, drawn flat: file size and record size on the floor, rate upwards.

Small files and large records stand at the back: there rates are highest, and the slower part hides none of the faster.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from bakeoff.report.charts.drawing import drawn, later
from bakeoff.report.charts.palette import GRID, INK, MUTED
from bakeoff.report.charts.theme import WIDTH, Row, heading, rows_of, themed

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")

Point = tuple[float, float]
# Rates in the order of the grid: rows are file sizes, columns record sizes; None is not measured.
Grid = Sequence[Sequence[float | None]]

# Half the width of the floor, half its depth on paper, and the height of the highest rate, in pixels.
HALF_WIDTH, HALF_DEPTH, TALL = 200.0, 82.0, 190.0
PANEL_WIDTH = WIDTH + 10
HEIGHT = 2.0 * HALF_DEPTH + TALL + 56.0
LIGHTEST = 0.82
MOST_LABELS = 5
# Times from the lowest rate to the highest, from which on heights are logarithms.
FAR = 20.0


@dataclass(frozen=True)
class Relief:
    """The surface of one contender. `colour` is `#rrggbb`."""

    name: str
    colour: str
    rates: Grid


@drawn
def reliefs(
    surfaces: Sequence[Relief],
    records: Sequence[str],
    files: Sequence[str],
    shown: Callable[[float], str],
    titles: tuple[str, str],
) -> dict[str, Any]:
    """A Vega-Lite specification: `surfaces` side by side on one scale. `records` and `files` name columns and
    rows of the grids, `shown` writes a rate, `titles` are those of the chart and the line under it.
    """
    surfaces = [replace(surface, rates=[row[::-1] for row in surface.rates]) for surface in surfaces]
    records = records[::-1]
    scale = _scale([rate for surface in surfaces for row in surface.rates for rate in row if rate is not None])
    data: dict[str, list[Row]] = {"floor": [], "quads": [], "left": [], "right": [], "names": []}
    for place, surface in enumerate(surfaces):
        panel = _Panel(HALF_WIDTH + 70.0 + place * PANEL_WIDTH, len(records), len(files), scale)
        data["floor"] += panel.walls()
        data["quads"] += panel.quads(surface, len(data["quads"]))
        panel.label(data, records, files, shown)
        data["names"].append({"x": panel.left, "y": HEIGHT - 12.0, "t": surface.name, "c": surface.colour})
    under = f"{titles[1]}, log scale" if scale.logarithmic else titles[1]
    width = PANEL_WIDTH * len(surfaces)
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0.0, width], nice=False, zero=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[0.0, HEIGHT], nice=False, zero=False))
    closed = alt.Chart(rows_of("quads")).mark_line(interpolate="linear-closed", strokeWidth=0.7, stroke="#ffffff")
    lines = alt.Chart(rows_of("floor")).mark_line(strokeWidth=1, color=GRID)
    layers: list[Any] = [
        lines.encode(x=x, y=y, detail="l:N"),
        closed.encode(x=x, y=y, fill=alt.Fill("f:N", scale=None), detail="q:Q", order="o:Q"),
    ]
    aligned: tuple[Literal["left", "right"], ...] = ("left", "right")
    for align in aligned:
        text = alt.Chart(rows_of(align)).mark_text(align=align, baseline="middle", fontSize=11, color=MUTED)
        layers.append(text.encode(x=x, y=y, text="t:N"))
    name = alt.Chart(rows_of("names")).mark_text(align="center", fontSize=13, fontWeight="bold", color=INK)
    layers.append(name.encode(x=x, y=y, text="t:N"))
    chart = alt.layer(*layers).properties(width=width, height=HEIGHT, title=heading(titles[0], under))
    return themed(chart, data, fixed="wide")


@dataclass(frozen=True)
class Heights:
    """How high a rate stands: `ticks` are round rates from the floor to the top."""

    ticks: tuple[float, ...]
    logarithmic: bool

    def height(self, rate: float) -> float:
        """As a share of the height of the top."""
        low, high = self.ticks[0], self.ticks[-1]
        return math.log(rate / low) / math.log(high / low) if self.logarithmic else rate / high


def _scale(rates: Sequence[float]) -> Heights:
    """From 0, or by powers of ten where rates are so far apart that the lower would be a flat sheet."""
    top, least = max(rates), min((rate for rate in rates if rate > 0.0), default=0.0)
    if not least or top / least < FAR:
        return Heights(tuple(_round_up(top) * step / 4.0 for step in range(5)), False)
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(top)) + 1)
    return Heights(tuple(10.0**power for power in powers), True)


class _Panel:
    """The place of one surface: `left` is the middle of its floor, pixels."""

    def __init__(self, left: float, records: int, files: int, scale: Heights) -> None:
        self.left, self.records, self.files, self.scale = left, records, files, scale

    def at(self, record: float, file: float, rate: float) -> Point:
        """Where a point of the surface is on paper; `record` and `file` are places in the grid."""
        across, down = record / (self.records - 1), file / (self.files - 1)
        floor = 30.0 + 2.0 * HALF_DEPTH - (across + down) * HALF_DEPTH
        return self.left + (across - down) * HALF_WIDTH, floor + self.scale.height(rate) * TALL

    def walls(self) -> list[Row]:
        """The edge of the floor and the lines on the two walls at the back."""
        far_record, far_file = self.records - 1.0, self.files - 1.0
        paths = [[(0.0, far_file, rate), (0.0, 0.0, rate), (far_record, 0.0, rate)] for rate in self.scale.ticks]
        floor, top = self.scale.ticks[0], self.scale.ticks[-1]
        paths.append([(0.0, far_file, floor), (far_record, far_file, floor), (far_record, 0.0, floor)])
        corners = ((0.0, far_file), (0.0, 0.0), (far_record, 0.0))
        paths += [[(*corner, floor), (*corner, top)] for corner in corners]
        return [
            {"l": f"{self.left:.0f}-{number}", **_place(self.at(*point))}
            for number, path in enumerate(paths)
            for point in path
        ]

    def quads(self, surface: Relief, first: int) -> list[Row]:
        """Four corners for each piece between neighbours that were all measured, the farthest first."""
        rows: list[Row] = []
        pieces = [(file, record) for file in range(self.files - 1) for record in range(self.records - 1)]
        for file, record in sorted(pieces, key=lambda piece: piece[0] / self.files + piece[1] / self.records):
            ring = ((file, record), (file, record + 1), (file + 1, record + 1), (file + 1, record))
            corners = [(f, r, rate) for f, r in ring if (rate := surface.rates[f][r]) is not None]
            # Where one corner is missing a triangle is left: the edge of a matrix runs across its pieces.
            if len(corners) < 3:
                continue
            height = math.fsum(self.scale.height(rate) for _, _, rate in corners) / len(corners)
            fill = _tint(surface.colour, LIGHTEST * (1.0 - height))
            for order, (f, r, rate) in enumerate(corners):
                rows.append({"q": first + len(rows) - order, "o": order, "f": fill, **_place(self.at(r, f, rate))})
        return rows

    def label(
        self,
        data: dict[str, list[Row]],
        records: Sequence[str],
        files: Sequence[str],
        shown: Callable[[float], str],
    ) -> None:
        """Sizes along the two edges in front, rates along the one at the left."""

        def put(align: str, point: Point, text: str, across: float, below: float) -> None:
            data[align].append({"t": text, **_place((point[0] + across, point[1] - below))})

        floor = self.scale.ticks[0]
        for number in _some(len(records)):
            put("right", self.at(number, self.files - 1.0, floor), records[number], -6.0, 7.0)
        for number in _some(len(files)):
            put("left", self.at(self.records - 1.0, number, floor), files[number], 6.0, 7.0)
        put("right", self.at((self.records - 1) / 2.0, self.files - 1.0, floor), "records", -46.0, 26.0)
        put("left", self.at(self.records - 1.0, (self.files - 1) / 2.0, floor), "files", 46.0, 26.0)
        for rate in self.scale.ticks[1:]:
            put("right", self.at(0.0, self.files - 1.0, rate), shown(rate), -6.0, 0.0)


def _some(number: int) -> range:
    return range(0, number, 1 + (number - 1) // MOST_LABELS)


def _place(point: Point) -> Row:
    return {"x": round(point[0], 1), "y": round(point[1], 1)}


def _tint(colour: str, white: float) -> str:
    """`colour` with a share of white."""
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(part + (255 - part) * white):02x}" for part in parts)


def _round_up(rate: float) -> float:
    """The next of 1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8 times a power of ten: its quarters are round, too."""
    power = 10.0 ** math.floor(math.log10(rate))
    return next(step * power for step in (1.0, 1.2, 1.6, 2.0, 2.4, 3.2, 4.0, 6.0, 8.0, 10.0) if step * power >= rate)
