"""Charts drawn as SVG that stands inside a page, and the marks of their legends."""

from __future__ import annotations

import json
import re
import resource
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Any

from bakeoff.core.errors import GeneratorError
from bakeoff.core.sanitize import sanitize
from bakeoff.report.blocks import tree
from bakeoff.report.charts.palette import INK, LIGHT_PAPER, SHAPES, colour_at, short_hex
from bakeoff.report.charts.theme import FIT, FONT, LETTER, Key, fixed_of, legend_of, owners_of

# Of some 40 kB each.
KEPT_DRAWINGS = 256
# What V8, which draws, reserves at its start: found by trying; with 40 GiB it ends the process.
DRAWING_ADDRESSES = 66 << 30
# What a specification of several panels has, and that of one has not.
PANEL_KEYS = frozenset({"concat", "columns", "spacing", "resolve", "usermeta"})
# A legend under a drawing, in pixels.
LEGEND_LEFT, LEGEND_ROW, LEGEND_GAP = 8.0, 20.0, 6
# The marks of Vega in a square of 12 pixels around 0.
PATHS = {
    "square": "M-4,-4H4V4H-4Z",
    "triangle-up": "M0,-5L5,4H-5Z",
    "triangle-down": "M0,5L5,-4H-5Z",
    "triangle-right": "M5,0L-4,5V-5Z",
    "triangle-left": "M-5,0L4,5V-5Z",
    "diamond": "M0,-5.5L5.5,0L0,5.5L-5.5,0Z",
    "cross": "M-5,-1.8H-1.8V-5H1.8V-1.8H5V1.8H1.8V5H-1.8V1.8H-5Z",
    "circle": "M4.6,0A4.6,4.6,0,1,1,-4.6,0A4.6,4.6,0,1,1,4.6,0Z",
    "patch": "M-9,-5H9V5H-9Z",
}


@dataclass(frozen=True)
class Entry:
    """One entry of a legend: its mark as SVG and its words."""

    mark: str
    label: str


@dataclass(frozen=True)
class Panel:
    """One drawing of a figure; `width` in pixels, `name` whose it is in a figure of several."""

    svg: str
    width: int
    name: Entry | None = None


@dataclass(frozen=True)
class Figure:
    """A chart as it stands in a page. `fixed`: its drawing cannot be narrower, but with `few` columns."""

    title: str
    subtitle: str
    legend: tuple[Entry, ...]
    panels: tuple[Panel, ...]
    fixed: bool
    few: bool = False


def check_drawing() -> None:
    """Raise GeneratorError where the drawing engine cannot start: it would take the whole process with it."""
    allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
    if allowed != resource.RLIM_INFINITY and allowed < DRAWING_ADDRESSES:
        raise GeneratorError(
            f"drawing charts reserves {DRAWING_ADDRESSES >> 30} GiB of addresses (not of memory), and this shell "
            f"allows {allowed >> 20} MiB: lift the limit (`ulimit -v unlimited`), or use `bakeoff compare`"
        )


def figure_of(chart: tree.Chart) -> Figure:
    """The drawings of a chart, and as text what a drawing would cut off or shrink: title, legend, names of panels."""
    spec = dict(chart.spec)
    heading = spec.pop("title", {})
    entries = tuple(Entry(mark_of(key), key.label) for key in _keys_shown(spec))
    if "concat" not in spec:
        panel = Panel(_panel(spec, chart.id, chart.title, chart.description), spec.get("width", 0))
        title, subtitle, fixed = heading.get("text", chart.title), heading.get("subtitle", ""), fixed_of(spec)
        return Figure(title, subtitle, entries, (panel,), fixed is not None, fixed == "few")
    shared = {key: value for key, value in spec.items() if key not in PANEL_KEYS}
    panels = []
    for place, (one, owner) in enumerate(zip(spec["concat"], owners_of(spec), strict=True)):
        name = owner.label
        own = {**shared, "autosize": FIT, **{key: value for key, value in one.items() if key != "title"}}
        id_ = f"{chart.id}-{place}"
        svg = _panel(own, id_, f"{chart.title}: {name}", chart.description)
        panels.append(Panel(svg, own["width"], Entry(mark_of(owner), name)))
    return Figure(heading["text"], heading["subtitle"], entries, tuple(panels), False)


def _keys_shown(spec: dict[str, Any]) -> list[Key]:
    """The legend of a chart: one contender is named by the page."""
    keys = legend_of(spec)
    return keys if len(keys) > 1 or "concat" in spec else []


def contender_mark(place: int, contenders: Sequence[str]) -> str:
    """The mark of the contender at `place` of the report."""
    return mark_of(Key("", colour_at(place, contenders), SHAPES[place % len(SHAPES)]))


def mark_of(key: Key) -> str:
    """A small drawing for a legend; what it means stands beside it."""
    half = 14 if key.dash is not None else 10 if key.shape == "patch" else 7
    parts = []
    if key.dash is not None:
        dash = "" if key.dash == (1, 0) else f' stroke-dasharray="{",".join(map(str, key.dash))}"'
        parts.append(f'<path d="M-{half},0H{half}" stroke="{short_hex(key.colour)}" stroke-width="2"{dash}/>')
    if key.shape:
        fill = key.colour if key.filled else LIGHT_PAPER
        parts.append(
            f'<path d="{PATHS[key.shape]}" fill="{short_hex(fill)}" stroke="{short_hex(key.colour)}" '
            'stroke-width="1.4"/>'
        )
    size = f'width="{2 * half}" height="14" viewBox="-{half} -7 {2 * half} 14"'
    return f'<svg class="mark" aria-hidden="true" {size}>{"".join(parts)}</svg>'


def draw(chart: tree.Chart) -> str:
    """All of a chart as one drawing, with its title and its legend, for a file of its own."""
    svg = _svg(without_legend(chart.spec), chart.id, chart.title, chart.description)
    return with_legend(svg, chart.spec, FONT)


def with_legend(svg: str, spec: dict[str, Any], font: str, by: float = 1.0) -> str:
    """A drawing of `spec` without a legend, grown at its foot by the one that a page writes, `by` times as large.

    Vega's own would lie over the unit of the axis, and has no dashes.
    """
    size = re.search(r' width="([\d.]+)" height="([\d.]+)" viewBox="0 0 [\d.]+ [\d.]+"', svg)
    keys = _keys_shown(spec)
    if size is None or not keys:
        return svg
    width, top = float(size[1]) / by, float(size[2])
    parts, x, y = [], LEGEND_LEFT, LEGEND_ROW / 2  # from the foot of the drawing, before it is grown
    for key in keys:
        mark, label = mark_of(key), sanitize(key.label)
        mark_width = int(re.findall(r'width="(\d+)"', mark)[0])
        entry_width = mark_width + LEGEND_GAP + len(label) * LETTER
        if x > LEGEND_LEFT and x + entry_width > width:
            x, y = LEGEND_LEFT, y + LEGEND_ROW
        sized = re.sub(r' width="\d+" height="14"', f' width="{by * mark_width:g}" height="{by * 14:g}"', mark, count=1)
        parts.append(sized.replace("<svg ", f'<svg x="{by * x:g}" y="{top + by * (y - 7):g}" ', 1))
        parts.append(
            f'<text x="{by * (x + mark_width + LEGEND_GAP):g}" y="{top + by * (y + 4):g}" text-anchor="start" '
            f'font-size="{by * 12:g}px" '
            f'font-family="{escape(font)}" fill="{INK}">{escape(label)}</text>'
        )
        x += entry_width + 2 * LEGEND_GAP
    height = f"{top + by * (y + LEGEND_ROW / 2):g}"
    head = f' width="{size[1]}" height="{height}" viewBox="0 0 {size[1]} {height}"'
    return svg.replace(size[0], head, 1).removesuffix("</svg>") + "".join(parts) + "</svg>"


def without_legend(spec: dict[str, Any]) -> dict[str, Any]:
    """The same chart without the legend that Vega would draw."""
    return {**spec, "config": {**spec.get("config", {}), "legend": {"disable": True}}}


def _panel(spec: dict[str, Any], id_: str, title: str, description: str) -> str:
    """A drawing whose title and legend stand in the page."""
    return _svg(without_legend(spec), id_, title, description)


def vega_svg(spec: dict[str, Any]) -> str:
    """The drawing of a specification as Vega makes it: what is drawn again, as by a check of a report, is kept."""
    return _vega_svg(json.dumps(spec))


@lru_cache(maxsize=KEPT_DRAWINGS)
def _vega_svg(spec: str) -> str:
    import vl_convert  # takes a moment to start: only when something is drawn

    return str(vl_convert.vegalite_to_svg(spec))


def _svg(spec: dict[str, Any], id_: str, title: str, description: str) -> str:
    """SVG with a title and description for screen readers, safe to stand beside others in a page."""
    check_drawing()
    svg = vega_svg(spec)
    # The drawing is one image: what it shows is told by its title, its description and the table below.
    svg = re.sub(r' (?:role|aria-[a-z]+)="[^"]*"', "", svg)
    # Identifiers must differ between the drawings of a page, or one clips the other.
    svg = re.sub(r'id="((?:clip|gradient)[^"]*)"', rf'id="{id_}-\1"', svg)
    svg = re.sub(r"url\(#((?:clip|gradient)[^)]*)\)", rf"url(#{id_}-\1)", svg)
    # Hundredths of a pixel nobody sees. Only in places and shapes: a label of 0.005 is not to become 0.00.
    long = re.compile(r"(\d+\.\d)\d+" if fixed_of(spec) else r"(\d+\.\d{2})\d+")
    svg = re.sub(r'="[^"]*"', lambda value: long.sub(r"\1", value[0]), svg)
    svg = re.sub(r"rgb\((\d+), (\d+), (\d+)\)", lambda m: "#" + "".join(f"{int(c):02x}" for c in m.groups()), svg)
    # One typeface for all and the usual size: named once, they need not be named thousands of times.
    svg = svg.replace(f' font-family="{FONT}"', "").replace("<svg ", f'<svg font-family="{FONT}" ', 1)
    if sizes := Counter(re.findall(r' font-size="\d+(?:\.\d+)?px"', svg)).most_common(1):
        svg = svg.replace(sizes[0][0], "").replace("<svg ", f"<svg{sizes[0][0]} ", 1)
    svg = _plain_texts(svg)
    named = f'role="img" aria-labelledby="{id_}-title {id_}-desc" '
    inner = f'<title id="{id_}-title">{escape(title)}</title><desc id="{id_}-desc">{escape(description)}</desc>'
    head, _, rest = svg.partition(">")
    return head.replace("<svg ", f"<svg {named}", 1) + ">" + inner + _shared_shapes(rest, id_)


def _plain_texts(svg: str) -> str:
    """Numbers in their places, in few characters: a map has hundreds, a page thousands."""
    svg = re.sub(r'(<text[^>]*?) transform="translate\(([-\d.]+),([-\d.]+)\)"', r'\1 x="\2" y="\3"', svg)
    svg = re.sub(r'"#([0-9a-f])\1([0-9a-f])\2([0-9a-f])\3"', r'"#\1\2\3"', svg)
    anchors = Counter(re.findall(r'<text text-anchor="(\w+)"', svg)).most_common(1)
    if not anchors or anchors[0][1] < 50:
        return svg
    usual = anchors[0][0]
    # What said nothing began at its place: it must say so once the drawing has another rule.
    svg = re.sub(r"<text(?! text-anchor)", '<text text-anchor="start"', svg)
    svg = svg.replace(f'<text text-anchor="{usual}"', "<text")
    return svg.replace("<svg ", f'<svg text-anchor="{usual}" ', 1)


def _shared_shapes(svg: str, prefix: str) -> str:
    """Shapes that are drawn many times are defined once and used by name: a map has hundreds of hatched cells."""
    pattern = re.compile(r'<path transform="(translate\([^"]*\))" (d="[^"]{24,}"[^>]*)/>')
    often = [shape for shape, times in Counter(m[1] for m in pattern.findall(svg)).items() if times > 8]
    names = {shape: f"{prefix}-shape{index}" for index, shape in enumerate(often)}

    def used(match: re.Match[str]) -> str:
        name = names.get(match[2])
        return f'<use href="#{name}" transform="{match[1]}"/>' if name else match[0]

    shared = "".join(f'<path id="{name}" {shape}/>' for shape, name in names.items())
    return (f"<defs>{shared}</defs>" if shared else "") + pattern.sub(used, svg)
