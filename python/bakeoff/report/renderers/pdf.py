"""The report in print: one PDF with contents, numbered figures and tables, running heads and tags for screen readers.

Typst sets it from a template that reads the report as JSON: no text of a report is ever read as markup. Charts are the
same drawings as those of the page, as vectors in the typeface of the text. What the page folds away is in the appendix.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
from importlib import resources
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Final

from bakeoff.core.errors import GeneratorError
from bakeoff.core.redact import hidden
from bakeoff.core.sanitize import sanitize
from bakeoff.report.blocks import tree
from bakeoff.report.blocks.print_columns import SIZES_PT, columns_of
from bakeoff.report.blocks.print_rows import side_by_side
from bakeoff.report.charts.palette import colour_at, marker
from bakeoff.report.charts.svg import check_drawing, vega_svg, with_legend, without_legend
from bakeoff.report.charts.theme import FIT, FONT, HEIGHT, PAGE_WIDTH, WIDTH
from bakeoff.report.layout.chapters import TESTING, VALUES, chapters_of

TYPEFACE = "Libertinus Serif"
"""Of the text and the drawings: it comes with Typst, and PDF/UA wants it embedded."""
ACCESSIBLE: Final = "ua-1"
"""PDF/UA-1, ISO 14289-1: Typst refuses to set what does not meet it, such as a figure without words for it."""
GROWTH = 1.4
"""Of the letters in drawings of more than so many pixels, which are set at half of their size."""
SET_WHOLE = 900
HALF_WIDTH, HALF_HEIGHT = 360, 210
"""Of drawings that stand two in a row, in pixels."""
LETTERS = frozenset({"fontSize", "labelFontSize", "titleFontSize", "subtitleFontSize"})
AS_IT_IS = frozenset({"datasets", "usermeta"})
VALUES_PT: Final = 6.6
"""Of the letters of tables in the appendix, at most."""
NO_SIGN = "could not be displayed"
ADVICE = "making a PDF needs Typst: pip install 'bakeoff[pdf]', or give the report a name that ends in .html"


def prepare() -> None:
    check_drawing()
    if importlib.util.find_spec("typst") is None:
        raise GeneratorError(ADVICE)


def render(report: tree.Report, stem: str = "") -> bytes:
    with tempfile.TemporaryDirectory(prefix="bakeoff-pdf-") as folder:
        root = Path(folder)
        content = {**_content(report), "charts": {chart.id: _draw(chart, root) for chart in report.charts()}}
        _write(root / "report.json", content)
        _write(root / "data.json", {"title": report.title, **hidden(report.embedded)})
        template = resources.files("bakeoff.report").joinpath("templates", "report.typ")
        with resources.as_file(template) as source:
            shutil.copy(source, root / "report.typ")
        return _compiled(root / "report.typ")


def sidecar_files(report: tree.Report, stem: str) -> Mapping[str, bytes]:
    return {}


def _compiled(source: Path) -> bytes:
    """PDF/UA; only where no typeface of this machine has a sign, as in a name in another script, a PDF without."""
    import typst

    try:
        return bytes(typst.compile(str(source), root=str(source.parent), pdf_standards=[ACCESSIBLE]))
    except typst.TypstError as error:
        if NO_SIGN not in str(error):
            raise GeneratorError(
                f"Typst cannot set this report ({error}): write it as .html, and report this"
            ) from error
    return bytes(typst.compile(str(source), root=str(source.parent)))


def _write(path: Path, content: object) -> None:
    text = json.dumps(_shown(content), ensure_ascii=False, allow_nan=False, default=str)
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def _shown(content: object) -> object:
    """The same with all text made visible: names and reasons come from files and servers."""
    if isinstance(content, str):
        return sanitize(content)
    if isinstance(content, Mapping):
        return {_shown(name): _shown(value) for name, value in content.items()}
    return [_shown(value) for value in content] if isinstance(content, list | tuple) else content


def _draw(chart: tree.Chart, root: Path) -> str:
    """The chart as a file of vectors; its name."""
    path = root / f"{chart.id}.svg"
    plain = _in_print(chart)
    by = GROWTH if plain.get("width", PAGE_WIDTH) > SET_WHOLE else 1.0
    spec = without_legend(_grown(plain, by))
    svg = vega_svg({**spec, "config": {**spec["config"], "font": TYPEFACE}})
    path.write_text(with_legend(svg, spec, TYPEFACE, by).replace(escape(FONT), TYPEFACE), encoding="utf-8")
    return path.name


def _in_print(chart: tree.Chart) -> dict[str, Any]:
    """The drawing without its title, which is in the caption; as wide as half of the page where it can be drawn so."""
    spec = {name: value for name, value in chart.spec.items() if name != "title"}
    return {**spec, "width": HALF_WIDTH, "height": HALF_HEIGHT} if _half(chart) else spec


def _half(chart: tree.Chart) -> bool:
    """Whether it can be drawn to any size: letters of maps would be too small."""
    usual = {"autosize": FIT, "width": WIDTH, "height": HEIGHT}
    return not chart.wide and all(chart.spec.get(name) == value for name, value in usual.items())


def _grown(part: Any, by: float) -> Any:
    """A specification with larger letters."""
    if isinstance(part, Mapping):
        return {name: value if name in AS_IT_IS else _larger(name, value, by) for name, value in part.items()}
    return [_grown(one, by) for one in part] if isinstance(part, list) else part


def _larger(name: str, value: Any, by: float) -> Any:
    return round(value * by, 1) if name in LETTERS and isinstance(value, int | float) else _grown(value, by)


def _content(report: tree.Report) -> dict[str, Any]:
    chapters = chapters_of(report)
    body = [_chapter(one, report.contenders) for one in chapters if not one.is_appendix]
    appendices = [_chapter(one, report.contenders) for one in chapters if one.is_appendix]
    cover = report.cover
    return {
        "title": cover.title if cover is not None and cover.title else report.title,
        "subtitle": report.subtitle if cover is None or not cover.title else f"{report.title}. {report.subtitle}",
        "verdict": report.verdict,
        "severity": report.severity,
        "short": report.extent == "brief",
        "cover": None if cover is None else asdict(cover),
        "caveat": report.caveat,
        "headline": report.summary or report.headline,
        "facts": report.facts,
        "blocks": _brief(chapters, report.contenders) if report.extent == "brief" else [],
        "chapters": [one for one in body if one["sections"]],
        "appendices": []
        if report.extent == "brief"
        else _with_values(appendices, [*body, *appendices] if report.with_values else []),
        "with_values": report.with_values,
    }


def _brief(chapters: Sequence[tree.Chapter], contenders: Sequence[str]) -> list[dict[str, Any]]:
    """All blocks in the order of their weight: what stands in a summary, the drawings, the suites, how it was tested.
    What is of one suite says so.
    """
    found: list[tuple[int, dict[str, Any]]] = []
    for chapter in chapters:
        for section in chapter.sections:
            for block in section.blocks:
                made = _block(block, contenders)
                text = "title" if made["kind"] in ("table", "chart") else "text"
                if section.chapter and text in made:
                    made[text] = f"{section.chapter}: {made[text]}"
                is_last = chapter.title == TESTING.title
                weight = 3 if is_last else 1 if made["kind"] == "chart" else 2 if section.chapter else 0
                found.append((weight, {**made, "page": 1 + (weight in (1, 3))}))
    ordered = [block for _, block in sorted(found, key=lambda one: one[0])]
    return [{"page": 2, **block} for block in side_by_side(ordered)]


def _with_values(appendices: list[dict[str, Any]], chapters: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The appendices, with the values of figures and what a page folds away in that of all values, chapter by
    chapter.
    """
    values = [
        {"title": chapter["title"], "blocks": side_by_side([_values(block) for block in chapter["folded"]])}
        for chapter in chapters
        if chapter["folded"]
    ]
    kept = [one for one in appendices if one["sections"] or one["title"] == VALUES.title]
    if values and all(one["title"] != VALUES.title for one in kept):
        letter = ascii_uppercase[len(kept)]
        kept.append({"heading": f"Appendix {letter}: {VALUES.title}", "title": VALUES.title, "sections": []})
    return [{**one, "values": _numbered(one, values) if one["title"] == VALUES.title else []} for one in kept]


def _numbered(chapter: dict[str, Any], values: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each under the letter of the appendix, behind the sections that it has."""
    letter = chapter["heading"].removeprefix("Appendix ")[:1]
    first = 1 + sum(bool(one["title"]) for one in chapter["sections"])
    return [{**one, "title": f"{letter}.{at} {one['title']}"} for at, one in enumerate(values, first)]


def _values(block: dict[str, Any]) -> dict[str, Any]:
    """What stands for a block in the appendix: of a chart its table, or itself where it is folded."""
    if block["kind"] != "chart":
        return block
    if block["folded"]:
        return {**block, "with_values": True}
    return (
        {**block["table"], "title": block["title"], "name": f"values-{block['id']}"}
        if block["table"]["rows"]
        else {
            "kind": "described",
            "text": f"{block['title']}: {block['description']}",
            "name": f"values-{block['id']}",
        }
    )


def _chapter(chapter: tree.Chapter, contenders: Sequence[str]) -> dict[str, Any]:
    """Its sections that have something to show, and all of it that is in the appendix."""
    sections: list[dict[str, Any]] = []
    folded: list[dict[str, Any]] = []
    for section in chapter.sections:
        made = [{**_block(one, contenders), "name": f"{section.id}-{n}"} for n, one in enumerate(section.blocks)]
        away = [block for block in made if block["kind"] == "listing" or block.get("folded")]
        shown = [block for block in made if block not in away]
        folded += [one for one in made if one in away or one["kind"] == "chart"]
        if shown:
            number = f"{chapter.number}.{1 + sum(bool(one['title']) for one in sections)} " if section.title else ""
            title = f"{number}{section.title}"
            listed = [one for one in away if one["kind"] != "table" or one["rows"]]
            sections.append({"title": title, "shown": side_by_side(shown), "folded": listed})
    return {
        "heading": chapter.heading,
        "title": chapter.title,
        "starts": chapter.is_suite,
        "sections": sections,
        "folded": folded,
    }


def _block(block: tree.Block, contenders: Sequence[str]) -> dict[str, Any]:
    match block:
        case tree.Text():
            return {"kind": "text", "text": block.text, "severity": block.severity, "advice": block.advice}
        case tree.Bullets():
            return {"kind": "bullets", "items": block.items}
        case tree.Table():
            return _table(block, contenders, block.folded)
        case tree.Chart():
            return {
                "kind": "chart",
                "id": block.id,
                "title": block.title,
                "description": block.description,
                "subtitle": block.spec.get("title", {}).get("subtitle", ""),
                "wide": block.wide,
                "half": _half(block),
                "folded": block.folded,
                "table": _table(block.table, contenders, True),
            }
        case tree.Cards():
            return {"kind": "cards", "cards": [_card(card, contenders) for card in block.cards]}
        case tree.Listing():
            return {"kind": "listing", "title": block.title, "text": block.text}
        case tree.Prose():
            return {"kind": "prose", "by": block.by, "passages": [asdict(passage) for passage in block.passages]}


def _mark(name: str, contenders: Sequence[str]) -> dict[str, str] | None:
    """The mark of a contender in its colour; None for what is no contender's name."""
    if name not in contenders:
        return None
    series = contenders.index(name)
    return {"sign": marker(series), "colour": colour_at(series, contenders)}


def _table(table: tree.Table, contenders: Sequence[str], of_values: bool = False) -> dict[str, Any]:
    named = {place for place, column in enumerate(table.columns) if column.title == "Contender"}
    set_ = columns_of(table, contenders, VALUES_PT if of_values else SIZES_PT[0])
    return {
        "kind": "table",
        "title": table.title,
        "size_pt": set_.size_pt,
        "inset_pt": set_.inset_pt / 2,
        "shares": set_.shares,
        "width_pt": set_.width_pt,
        "columns": [
            {
                "title": column.title,
                "numeric": column.numeric,
                "group": column.group,
                "mark": _mark(column.title, contenders),
                "of": _mark(column.group, contenders),
            }
            for column in table.columns
        ],
        "rows": [
            [
                {
                    "text": cell,
                    "severity": getattr(cell, "severity", "plain"),
                    "mark": _mark(cell, contenders) if place in named else None,
                }
                for place, cell in enumerate(row)
            ]
            for row in table.rows
        ],
        "note": table.note,
        "folded": table.folded,
    }


def _card(card: tree.Card, contenders: Sequence[str]) -> dict[str, Any]:
    return {
        "title": card.title,
        "figure": card.figure,
        "caption": card.caption,
        "lines": card.lines,
        "severity": card.severity,
        "colour": colour_at(card.series, contenders),
    }
