"""The report as one HTML file that opens offline and needs no script."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from html import escape
from importlib import resources

from jinja2 import Environment, select_autoescape
from markupsafe import Markup

from bakeoff.core.redact import hidden
from bakeoff.core.sanitize import sanitize
from bakeoff.report.blocks import tree
from bakeoff.report.blocks.narrow import stacks, wide
from bakeoff.report.charts.palette import marker, stylesheet
from bakeoff.report.charts.svg import check_drawing, contender_mark, figure_of, vega_svg
from bakeoff.report.embed.packing import script_of
from bakeoff.report.layout.chapters import chapters_of

# Ids of the section that tells it, in a campaign and in a single run.
RESULTS = ("all-suites", "result")
# Beginnings of the ids of maps of cells, of curves over their sizes, and of surfaces.
CELL_CHARTS = ("chart-heat-", "chart-sizes-", "chart-surface-")


def render_html(report: tree.Report) -> str:
    """The whole page. Charts are drawn here, once each, as SVG inside the page."""
    environment = Environment(
        autoescape=select_autoescape(default=True, default_for_string=True),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["code"] = _with_code
    environment.filters["cell_class"] = _cell_class
    environment.filters["drawn"] = Markup
    environment.filters["passages"] = _passages
    template = environment.from_string(_file("report.html.j2"))
    figures = {chart.id: figure_of(chart) for chart in report.charts()}
    # Maps, their curves and surfaces are drawn from the comparison, which is in the page already.
    specs = {chart.id: chart.spec for chart in report.charts() if not chart.id.startswith(CELL_CHARTS)}
    data = {**hidden(report.embedded), "charts": specs}
    page = template.render(
        report=report,
        css=Markup(_file("report.css") + stylesheet(report.contenders)),
        figures=figures,
        data={name: script_of(value) for name, value in data.items()},
        kind=lambda block: type(block).__name__,
        mark=lambda series: Markup(contender_mark(series, report.contenders)),
        groups=column_groups,
        stacks=stacks,
        wide=wide,
        named=_named(report.contenders),
        chapters=chapters_of(report),
        result=_result(report.sections),
    )
    return sanitize(page)  # names and reasons come from files and servers


def prepare() -> None:
    """See Renderer: the drawing engine takes a third of a second to start, and reading a run file as long."""
    check_drawing()
    first = {"data": {"values": [{}]}, "mark": "point"}
    threading.Thread(target=vega_svg, args=(first,), name="bakeoff-charts", daemon=True).start()


def render(report: tree.Report, stem: str = "") -> bytes:
    return render_html(report).encode("utf-8", "backslashreplace")


def sidecar_files(report: tree.Report, stem: str) -> Mapping[str, bytes]:
    return {}


def column_groups(columns: tuple[tree.Column, ...]) -> list[tuple[str, int]]:
    """Neighbouring columns of one group as (group, how many); an empty list when no column has a group."""
    groups: list[tuple[str, int]] = []
    for column in columns:
        if groups and groups[-1][0] == column.group:
            groups[-1] = (column.group, groups[-1][1] + 1)
        else:
            groups.append((column.group, 1))
    return groups if any(group for group, _ in groups) else []


def _result(sections: tuple[tree.Section, ...]) -> str:
    """Where the result stands: behind what an author says first."""
    ids = [section.id for section in sections]
    return next((id_ for id_ in (*RESULTS, *ids) if id_ in ids), "")


def _named(contenders: tuple[str, ...]) -> Callable[[str], Markup | str]:
    """A title or cell that is the name of a contender, with its mark before it; any other as it is."""

    def named(text: str) -> Markup | str:
        if text not in contenders:
            return text
        series = contenders.index(text)
        return Markup('<span class="s{}" aria-hidden="true">{}</span> {}').format(series, marker(series), text)

    return named


def _cell_class(column: tree.Column, cell: str) -> Markup:
    """The class of a cell: words are aligned otherwise than numbers, and what is good or bad stands out."""
    words = [] if column.numeric else ["w"]
    words += [cell.severity] if isinstance(cell, tree.SeverityText) and cell.severity != "plain" else []
    return Markup(f' class="{" ".join(words)}"') if words else Markup("")


def _with_code(text: str) -> Markup:
    """Escaped text in which `words between backticks` are set as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text)))


def _passages(passages: tuple[tree.Passage, ...]) -> Markup:
    """Paragraphs and lists. An item is a line with its marker, as lists of people begin and end anywhere."""
    made = Markup("")
    for passage in passages:
        words = Markup("").join(_span(span) for span in passage.spans)
        if passage.level:
            form = Markup('<p class="item" style="--level:{}"><span class="marker">{}</span> {}</p>\n')
            made += form.format(min(passage.level, 6), passage.marker, words)
        else:
            made += Markup("<p>{}</p>\n").format(words)
    return made


def _span(span: tree.Span) -> Markup:
    made = Markup("{}").format(span.text)
    for wanted, tag in ((span.code, "code"), (span.emphasis, "em"), (span.strong, "strong")):
        made = Markup(f"<{tag}>{{}}</{tag}>").format(made) if wanted else made
    if span.link:
        made = Markup('<a href="{}" rel="noopener noreferrer nofollow">{}</a>').format(span.link, made)
    return made


def _file(name: str) -> str:
    return resources.files("bakeoff.report").joinpath("templates", name).read_text(encoding="utf-8")
