"""The report as one HTML file that opens offline and needs no script."""

from __future__ import annotations

import json
import re
import resource
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from html import escape
from importlib import resources
from typing import Any

from jinja2 import Environment, select_autoescape
from markupsafe import Markup

from bakeoff.errors import LabError
from bakeoff.report import blocks
from bakeoff.report.charts import FONT
from bakeoff.report.palette import marker
from bakeoff.report.redact import hidden
from bakeoff.visible import visible

# What V8, which draws, reserves at its start: found by trying; with 40 GiB it ends the process.
DRAWING_ADDRESSES = 66 << 30
# Beginnings of the names of heat maps, of curves over the sizes of files and records, and of surfaces over both.
MAP, SIZES, SURFACE = "chart-heat-", "chart-sizes-", "chart-surface-"


def render_html(report: blocks.Report) -> str:
    """The whole page. Charts are drawn here, once each, as SVG inside the page."""
    environment = Environment(
        autoescape=select_autoescape(default=True, default_for_string=True),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["code"] = _with_code
    template = environment.from_string(_file("report.html.j2"))
    drawn = {chart.id: Markup(draw(chart)) for chart in report.charts()}
    # Maps, their curves and surfaces are drawn from the comparison, which is in the page already.
    specs = {chart.id: chart.spec for chart in report.charts() if not chart.id.startswith((MAP, SIZES, SURFACE))}
    data = {**hidden(report.embedded), "charts": specs}
    page = template.render(
        report=report,
        css=Markup(_file("report.css")),
        drawn=drawn,
        data={name: Markup(script_json(value)) for name, value in data.items()},
        kind=lambda block: type(block).__name__,
        marker=marker,
        groups=column_groups,
        named=_named(report.contenders),
    )
    return visible(page)  # names and reasons come from files and servers


def prepare() -> None:
    """See Renderer: the drawing engine takes a third of a second to start, and reading a run file as long."""
    check_drawing()

    def start() -> None:
        import vl_convert

        vl_convert.vegalite_to_svg({"data": {"values": [{}]}, "mark": "point"})

    threading.Thread(target=start, name="bakeoff-charts", daemon=True).start()


def render(report: blocks.Report, stem: str = "") -> bytes:
    """See Renderer."""
    return render_html(report).encode("utf-8", "backslashreplace")


def beside(report: blocks.Report, stem: str) -> Mapping[str, bytes]:
    """See Renderer."""
    return {}


def check_drawing() -> None:
    """Raise LabError where the drawing engine cannot start: it would take the whole process with it."""
    allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
    if allowed != resource.RLIM_INFINITY and allowed < DRAWING_ADDRESSES:
        raise LabError(
            f"drawing charts reserves {DRAWING_ADDRESSES >> 30} GiB of addresses (not of memory), and this shell "
            f"allows {allowed >> 20} MiB: lift the limit (`ulimit -v unlimited`), or use `bakeoff compare`"
        )


def draw(chart: blocks.Chart) -> str:
    """The chart as SVG with a title and description for screen readers, safe to stand beside others in
    a page.
    """
    check_drawing()
    import vl_convert  # takes a moment to start: only when something is drawn

    svg = str(vl_convert.vegalite_to_svg(chart.spec))
    # Identifiers must differ between the drawings of a page, or one clips the other.
    svg = re.sub(r'id="((?:clip|gradient)[^"]*)"', rf'id="{chart.id}-\1"', svg)
    svg = re.sub(r"url\(#((?:clip|gradient)[^)]*)\)", rf"url(#{chart.id}-\1)", svg)
    # Hundredths of a pixel nobody sees. Only in places and shapes: a label of 0.005 is not to become 0.00.
    long = re.compile(r"(\d+\.\d)\d+" if chart.id.startswith(MAP) else r"(\d+\.\d{2})\d+")
    svg = re.sub(r'="[^"]*"', lambda value: long.sub(r"\1", value[0]), svg)
    svg = re.sub(r"rgb\((\d+), (\d+), (\d+)\)", lambda m: "#" + "".join(f"{int(c):02x}" for c in m.groups()), svg)
    # One typeface for all and the usual size: named once, they need not be named thousands of times.
    svg = svg.replace(f' font-family="{FONT}"', "").replace("<svg ", f'<svg font-family="{FONT}" ', 1)
    if sizes := Counter(re.findall(r' font-size="\d+(?:\.\d+)?px"', svg)).most_common(1):
        svg = svg.replace(sizes[0][0], "").replace("<svg ", f"<svg{sizes[0][0]} ", 1)
    svg = _plain_texts(svg)
    named = f'role="img" aria-labelledby="{chart.id}-title {chart.id}-desc" '
    inner = (
        f'<title id="{chart.id}-title">{escape(chart.title)}</title>'
        f'<desc id="{chart.id}-desc">{escape(chart.description)}</desc>'
    )
    head, _, rest = svg.partition(">")
    return head.replace("<svg ", f"<svg {named}", 1) + ">" + inner + _shared_shapes(rest, chart.id)


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


def script_json(value: Any) -> str:
    """JSON that can stand inside a script element: nothing in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=str)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def column_groups(columns: tuple[blocks.Column, ...]) -> list[tuple[str, int]]:
    """Neighbouring columns of one group as (group, how many); an empty list when no column has a group."""
    groups: list[tuple[str, int]] = []
    for column in columns:
        if groups and groups[-1][0] == column.group:
            groups[-1] = (column.group, groups[-1][1] + 1)
        else:
            groups.append((column.group, 1))
    return groups if any(group for group, _ in groups) else []


def _named(contenders: tuple[str, ...]) -> Callable[[str], Markup | str]:
    """A title or cell that is the name of a contender, with its mark before it; any other as it is."""

    def named(text: str) -> Markup | str:
        if text not in contenders:
            return text
        series = contenders.index(text)
        return Markup('<span class="s{}" aria-hidden="true">{}</span> {}').format(series % 8, marker(series), text)

    return named


def _with_code(text: str) -> Markup:
    """Escaped text in which `words between backticks` are set as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text)))


def _file(name: str) -> str:
    return resources.files("bakeoff.report").joinpath("templates", name).read_text(encoding="utf-8")
