"""The report in print: one PDF with contents, numbered figures and tables, running heads and tags for screen readers.

Typst sets it from a template that reads the report as JSON: no text of a report is ever read as markup. Charts are the
same drawings as those of the page, as vectors in the typeface of the text. What the page folds away is in the appendix.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any, Final

from bakeoff.errors import LabError
from bakeoff.report import blocks
from bakeoff.report.palette import PALETTE
from bakeoff.report.redact import hidden
from bakeoff.report.svg import check_drawing, with_legend, without_legend
from bakeoff.report.theme import FONT
from bakeoff.visible import visible

TYPEFACE = "Libertinus Serif"
"""Of the text and the drawings: it comes with Typst, and PDF/UA wants it embedded."""
ACCESSIBLE: Final = "ua-1"
"""PDF/UA-1, ISO 14289-1: Typst refuses to set what does not meet it, such as a figure without words for it."""
NO_SIGN = "could not be displayed"
ADVICE = "making a PDF needs Typst: pip install 'bakeoff[pdf]', or give the report a name that ends in .html"


def prepare() -> None:
    """See Renderer."""
    check_drawing()
    if importlib.util.find_spec("typst") is None:
        raise LabError(ADVICE)


def render(report: blocks.Report, stem: str = "") -> bytes:
    """See Renderer."""
    with tempfile.TemporaryDirectory(prefix="bakeoff-pdf-") as folder:
        root = Path(folder)
        content = {**_content(report), "charts": {chart.id: _draw(chart, root) for chart in report.charts()}}
        _write(root / "report.json", content)
        _write(root / "data.json", {"title": report.title, **hidden(report.embedded)})
        template = resources.files("bakeoff.report").joinpath("templates", "report.typ")
        with resources.as_file(template) as source:
            shutil.copy(source, root / "report.typ")
        return _compiled(root / "report.typ")


def beside(report: blocks.Report, stem: str) -> Mapping[str, bytes]:
    """See Renderer."""
    return {}


def _compiled(source: Path) -> bytes:
    """PDF/UA; only where no typeface of this machine has a sign, as in a name in another script, a PDF without."""
    import typst

    try:
        return bytes(typst.compile(str(source), root=str(source.parent), pdf_standards=[ACCESSIBLE]))
    except typst.TypstError as error:
        if NO_SIGN not in str(error):
            raise LabError(f"Typst cannot set this report ({error}): write it as .html, and report this") from error
    return bytes(typst.compile(str(source), root=str(source.parent)))


def _write(path: Path, content: object) -> None:
    text = json.dumps(_shown(content), ensure_ascii=False, allow_nan=False, default=str)
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def _shown(content: object) -> object:
    """The same with all text made visible: names and reasons come from files and servers."""
    if isinstance(content, str):
        return visible(content)
    if isinstance(content, Mapping):
        return {_shown(name): _shown(value) for name, value in content.items()}
    return [_shown(value) for value in content] if isinstance(content, list | tuple) else content


def _draw(chart: blocks.Chart, root: Path) -> str:
    """The chart as a file of vectors; its name."""
    import vl_convert  # takes a moment to start: only when something is drawn

    path = root / f"{chart.id}.svg"
    spec = without_legend(chart.spec)
    svg = str(vl_convert.vegalite_to_svg({**spec, "config": {**spec["config"], "font": TYPEFACE}}))
    path.write_text(with_legend(svg, spec, TYPEFACE).replace(escape(FONT), TYPEFACE), encoding="utf-8")
    return path.name


def _content(report: blocks.Report) -> dict[str, Any]:
    return {
        "title": report.title,
        "subtitle": report.subtitle,
        "verdict": report.verdict,
        "tone": report.tone,
        "short": report.short,
        "cover": None if report.cover is None else asdict(report.cover),
        "headline": [{"text": text, "tone": tone} for text, tone in zip(report.headline, report.tones, strict=True)],
        "facts": report.facts,
        "sections": [
            {"title": section.title, "blocks": [_block(block) for block in section.blocks]}
            for section in report.sections
        ],
    }


def _block(block: blocks.Block) -> dict[str, Any]:
    match block:
        case blocks.Text():
            return {"kind": "text", "text": block.text, "tone": block.tone, "advice": block.advice}
        case blocks.Bullets():
            return {"kind": "bullets", "items": block.items}
        case blocks.Table():
            return _table(block)
        case blocks.Chart():
            return {
                "kind": "chart",
                "id": block.id,
                "title": block.title,
                "description": block.description,
                "wide": block.wide,
                "table": _table(block.table),
            }
        case blocks.Cards():
            return {"kind": "cards", "cards": [_card(card) for card in block.cards]}
        case blocks.Listing():
            return {"kind": "listing", "title": block.title, "text": block.text}
        case blocks.Prose():
            return {"kind": "prose", "by": block.by, "passages": [asdict(passage) for passage in block.passages]}


def _table(table: blocks.Table) -> dict[str, Any]:
    return {
        "kind": "table",
        "title": table.title,
        "columns": [
            {"title": column.title, "numeric": column.numeric, "group": column.group} for column in table.columns
        ],
        "rows": [[{"text": cell, "tone": getattr(cell, "tone", "plain")} for cell in row] for row in table.rows],
        "note": table.note,
        "folded": table.folded,
    }


def _card(card: blocks.Card) -> dict[str, Any]:
    return {
        "title": card.title,
        "figure": card.figure,
        "caption": card.caption,
        "lines": card.lines,
        "tone": card.tone,
        "colour": PALETTE[card.series % len(PALETTE)],
    }
