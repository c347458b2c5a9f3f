"""Draws a test bed: generators left, switches in the middle, servers right, and the links between them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from bakeoff.report.charts.palette import DOMAIN, INK, LIGHT_PAPER, MUTED, ZONE, marker
from bakeoff.report.charts.theme import CONFIG

# Of the drawing, in pixels: places of the three columns from left to right, and of what is between them.
WIDTH = 860
SIDE, SWITCH = 250, 130
LEFT, MIDDLE, RIGHT = 8, (WIDTH - SWITCH) // 2, WIDTH - SIDE - 8
LINE, EDGE, GAP, GROUP_GAP, STACK, BEND, MARK = 15, 9, 16, 52, 4, 6, 16
LETTERS = 38
MOST_LINES = 4
NAMES, WORDS, LABELS = 13, 11.5, 11
NO_SPEED, NO_DUPLEX = "speed not disclosed", "duplex not disclosed"


@dataclass(frozen=True)
class Box:
    """A machine, or `count` alike ones; `members` are their names in the table."""

    name: str
    role: str
    count: int
    text: str
    serves: tuple[str, ...]
    members: tuple[str, ...]

    @property
    def title(self) -> str:
        """`60 × client-01 … client-60`."""
        return f"{self.count} × {self.name}" if self.count > 1 else self.name

    @property
    def lines(self) -> list[str]:
        """What it is, in lines; who is served stands below."""
        text_lines = textwrap.wrap(self.text, 18 if self.role == "switch" else LETTERS)
        return [*text_lines[: MOST_LINES - 1], "…"] if len(text_lines) > MOST_LINES else text_lines


@dataclass(frozen=True)
class Cable:
    """A link between the boxes at two places."""

    one: int
    other: int
    speed: str
    duplex: str
    count: int

    @property
    def above(self) -> str:
        """How fast it is."""
        speed = self.speed or NO_SPEED
        return f"{self.count} × {speed}" if self.count > 1 else speed

    @property
    def below(self) -> str:
        """Its duplex, where it is known."""
        return f"{self.duplex} duplex" if self.duplex else ""

    @property
    def words(self) -> str:
        """Both."""
        return ", ".join(filter(None, (self.above, self.below or NO_DUPLEX)))


@dataclass
class _Place:
    """Where a box is drawn."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


@dataclass
class _Ink:
    """The rows of the three sorts of marks."""

    boxes: list[dict[str, Any]] = field(default_factory=list)
    lines: list[dict[str, Any]] = field(default_factory=list)
    texts: list[dict[str, Any]] = field(default_factory=list)


def drawing_of(boxes: Sequence[Box], cables: Sequence[Cable], names: Sequence[str], source: str) -> dict[str, Any]:
    """The specification of the diagram. `names` are the contenders in the order of their marks."""
    places, height = _places(boxes, cables)
    ink = _Ink()
    bends: list[int] = []
    for cable in cables:
        _cable(cable, places, boxes, ink, bends)
    for box, place in zip(boxes, places, strict=True):
        _box(box, place, names, ink)
    return _specification(ink, height, source)


def _places(boxes: Sequence[Box], cables: Sequence[Cable]) -> tuple[list[_Place], float]:
    """A switch with the machines that are linked with it is a group; groups stand below each other."""
    switches = [at for at, box in enumerate(boxes) if box.role == "switch"]
    homes: dict[int | None, list[int]] = {at: [] for at in switches} | {None: []}
    for at, box in enumerate(boxes):
        if box.role != "switch":
            ends = {cable.other if cable.one == at else cable.one for cable in cables if at in (cable.one, cable.other)}
            homes[next((switch for switch in switches if switch in ends), None)].append(at)
    places: dict[int, _Place] = {}
    top = 2.0 * STACK + 2
    for switch, members in homes.items():
        if switch is None and not members:
            continue
        left = [at for at in members if boxes[at].role == "generator"]
        right = [at for at in members if boxes[at].role != "generator"]
        heights = {at: _height(boxes[at]) for at in (*members, *([switch] if switch is not None else []))}
        tall = max(
            _column(left, heights), _column(right, heights), heights.get(switch, 0.0) if switch is not None else 0
        )
        alone = len(right) == len(boxes)
        for column, x in ((left, LEFT), (right, (WIDTH - SIDE) / 2 if alone else RIGHT)):
            y = top + (tall - _column(column, heights)) / 2
            for at in column:
                places[at] = _Place(x, y, SIDE, heights[at])
                y += heights[at] + GAP
        if switch is not None:
            places[switch] = _Place(MIDDLE, top, SWITCH, tall)
        top += tall + GROUP_GAP
    return [places[at] for at in range(len(boxes))], top - GROUP_GAP + STACK + 2


def _height(box: Box) -> float:
    return 2 * EDGE + NAMES + 3 + LINE * (len(box.lines) + len(box.serves))


def _column(members: Sequence[int], heights: dict[int, float]) -> float:
    return sum(heights[at] for at in members) + GAP * max(0, len(members) - 1)


def _cable(cable: Cable, places: Sequence[_Place], boxes: Sequence[Box], ink: _Ink, bends: list[int]) -> None:
    one, other = sorted((cable.one, cable.other), key=lambda at: places[at].x)
    a, b = places[one], places[other]
    if a.x == b.x:  # one above the other
        upper, lower = sorted((a, b), key=lambda place: place.y)
        x = upper.x + upper.width / 2
        _label(cable, x + 8, (upper.y + upper.height + lower.y) / 2, "left", ink)
        _line(cable, [(x, upper.y + upper.height), (x, lower.y)], ink)
        return
    # A switch is as tall as its group, so that links to it are level.
    y1 = _level(a, b) if boxes[one].role == "switch" else a.middle
    y2 = _level(b, a) if boxes[other].role == "switch" else b.middle
    x1, x2 = a.x + a.width, b.x
    bar = one if boxes[one].role == "switch" else other if boxes[other].role == "switch" else None
    if y1 == y2 or bar is None:
        _label(cable, (x1 + x2) / 2, (y1 + y2) / 2, "center", ink)
        _line(cable, [(x1, y1), (x2, y2)], ink)
        return
    # To the switch of another group: out of the box, along its side, and into the switch beyond all labels.
    bends.append(bar)
    step = BEND * len(bends)
    place, y = places[bar], places[other if bar == one else one].middle + BEND * 2
    down = place.y > y
    level = place.y + step + EDGE if down else place.y + place.height - step - EDGE
    x, start, end = (x2 - step, x2, x1) if bar == one else (x1 + step, x1, x2)
    _line(cable, [(start, y), (x, y), (x, level), (end, level)], ink)
    ink.texts.append({"x": (x1 + x2) / 2, "y": level - 8, "text": cable.above, "kind": "label", "align": "center"})


def _line(cable: Cable, points: Sequence[tuple[float, float]], ink: _Ink) -> None:
    """A line through points; several links are two lines."""
    for (x1, y1), (x2, y2) in pairwise(points):
        for shift in (0.0,) if cable.count == 1 else (-1.5, 1.5):
            dx, dy = (shift, 0.0) if x1 == x2 else (0.0, shift)
            ink.lines.append({"x": x1 + dx, "y": y1 + dy, "x2": x2 + dx, "y2": y2 + dy})


def _level(bar: _Place, end: _Place) -> float:
    """Where a line from `end` meets a switch: level, or at its nearest corner."""
    return min(max(end.middle, bar.y + EDGE), bar.y + bar.height - EDGE)


def _label(cable: Cable, x: float, y: float, align: str, ink: _Ink) -> None:
    """Speed above the line, duplex below it; what is half duplex stands out."""
    ink.texts.append({"x": x, "y": y - 9, "text": cable.above, "kind": "label", "align": align})
    if cable.below:
        kind = "warned" if cable.duplex == "half" else "label"
        ink.texts.append({"x": x, "y": y + 10, "text": cable.below, "kind": kind, "align": align})


def _box(box: Box, place: _Place, names: Sequence[str], ink: _Ink) -> None:
    behind = (2 * STACK, STACK, 0) if box.count > 2 else (STACK, 0) if box.count > 1 else (0,)
    for shift in behind:
        ink.boxes.append(
            {"x": place.x + shift, "y": place.y - shift, "x2": place.x + place.width + shift,
             "y2": place.y + place.height - shift, "kind": "switch" if box.role == "switch" else "machine"}
        )  # fmt: skip
    centred = box.role == "switch"
    x = place.x + place.width / 2 if centred else place.x + EDGE + 2
    lines = [*box.lines, *box.serves]
    # The words of a switch stand in the middle of its height.
    y = place.middle - (NAMES + 3 + LINE * len(lines)) / 2 + NAMES / 2
    align = "center" if centred else "left"
    letters = 16 if centred else LETTERS - 4
    title = box.title if len(box.title) <= letters else f"{box.title[: letters - 1]}…"
    ink.texts.append({"x": x, "y": y, "text": title, "kind": "name", "align": align})
    for number, line in enumerate(lines):
        at = y + NAMES / 2 + 3 + LINE * (number + 0.5)
        served = number >= len(box.lines) and line in names
        if served:  # apart, as few typefaces have the mark
            ink.texts.append({"x": x, "y": at, "text": marker(names.index(line)), "kind": "word", "align": align})
        word = {"x": x + MARK * served, "y": at, "text": line[:LETTERS], "kind": "word", "align": align}
        ink.texts.append(word)


def _specification(ink: _Ink, height: float, source: str) -> dict[str, Any]:
    sides = {"x": (0, WIDTH), "y": (0, height)}
    axes = {
        side: {
            "field": side,
            "type": "quantitative",
            "axis": None,
            "scale": {"domain": list(ends), "nice": False, "zero": False, "reverse": side == "y"},
        }
        for side, ends in sides.items()
    }
    ends = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    layers: list[dict[str, Any]] = [
        {"data": {"name": "links"}, "mark": {"type": "rule", "stroke": MUTED, "strokeWidth": 1.6},
         "encoding": {**axes, **ends}},
    ]  # fmt: skip
    for kind, fill, corner in (("machine", ZONE, 4), ("switch", LIGHT_PAPER, 0)):
        mark = {"type": "rect", "fill": fill, "stroke": DOMAIN, "strokeWidth": 1.2, "cornerRadius": corner}
        layers.append(_only("boxes", {"kind": kind}, mark, {**axes, **ends}))
    styles: dict[str, dict[str, Any]] = {
        "name": {"fontSize": NAMES, "fontWeight": "bold", "color": INK},
        "word": {"fontSize": WORDS, "color": INK},
        "label": {"fontSize": LABELS, "color": MUTED},
        "warned": {"fontSize": LABELS, "fontWeight": "bold", "color": INK},
    }
    for kind, look in styles.items():
        for align in ("left", "center"):
            mark = {"type": "text", "baseline": "middle", "align": align, **look}
            words = {**axes, "text": {"field": "text", "type": "nominal"}}
            layers.append(_only("texts", {"kind": kind, "align": align}, mark, words))
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.4.1.json",
        "title": {"text": "The test bed", "subtitle": source},
        "width": WIDTH,
        "height": height,
        "autosize": {"type": "pad"},
        "layer": [layer for layer in layers if _rows(layer, ink)],
        "datasets": {"links": ink.lines, "boxes": ink.boxes, "texts": ink.texts},
        "config": CONFIG,
        "usermeta": {"fixed": "wide"},
    }


def _only(name: str, values: dict[str, str], mark: dict[str, Any], encoding: dict[str, Any]) -> dict[str, Any]:
    """A layer of the rows with these values."""
    chosen = [{"filter": {"field": key, "equal": value}} for key, value in values.items()]
    return {"data": {"name": name}, "transform": chosen, "mark": mark, "encoding": encoding}


def _rows(layer: dict[str, Any], ink: _Ink) -> bool:
    """Whether a layer draws anything."""
    rows = {"links": ink.lines, "boxes": ink.boxes, "texts": ink.texts}[layer["data"]["name"]]
    wanted = {chosen["filter"]["field"]: chosen["filter"]["equal"] for chosen in layer.get("transform", ())}
    return any(all(row.get(key) == value for key, value in wanted.items()) for row in rows)
