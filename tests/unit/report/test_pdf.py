"""The report in print says what the page says, in a file that prints, reads aloud and holds nothing that runs."""

from __future__ import annotations

import io
import re
import unicodedata
from dataclasses import replace
from functools import cache

import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium
import pytest

from bakeoff.compare import compare_run
from bakeoff.core.errors import GeneratorError
from bakeoff.report.blocks.tree import Bullets, Cards, Chart, Column, Report, Section, Table
from bakeoff.report.compose import compose
from bakeoff.report.layout.brief import brief
from bakeoff.report.renderers import pdf
from tests.unit.compare.synthetic import run
from tests.unit.compare.synthetic_cells import matrix_run
from tests.unit.report.test_renderers import report_of

# Where the text of a page begins and ends, as shares of its height.
TOP, BOTTOM = 0.0875, 0.926
HOSTILE = '#panic("x") $a$ *b* `c` #include "report.json" <label> @ref \x1b[31m'


@cache
def paper() -> tuple[Report, bytes]:
    whole = run()
    report = compose(whole, compare_run(whole))
    return report, pdf.render(report)


def pages(made: bytes) -> list[str]:
    """The text of each page, on one line; where a word is parted it is one again."""
    document = pypdfium2.PdfDocument(io.BytesIO(made))
    return [" ".join(page.get_textpage().get_text_bounded().replace("\x02", "").split()) for page in document]


def signs(text: str) -> str:
    """What of a text does not depend on where its lines end."""
    return "".join(sign for sign in unicodedata.normalize("NFKC", text) if sign.isalnum() or sign in "×÷%.,$*#@[")


def test_the_first_page_says_who_wins_and_how_sure() -> None:
    report, made = paper()
    first = pages(made)[0]
    assert report.title in first and report.verdict in first
    for sentence in report.headline:
        assert signs(sentence) in signs(first)
    assert "Contents" in first and all(section.title in first for section in report.sections[:3])


def test_every_page_is_numbered_and_headed_and_every_figure_and_table_has_a_number() -> None:
    report, made = paper()
    read = pages(made)
    for number, text in enumerate(read, 1):
        assert f"page {number} of {len(read)}" in text
        assert number == 1 or text.startswith(report.title), "the running head"
    whole = " ".join(read)
    figures = [int(number) for number in re.findall(r"Figure (\d+)\.", whole)]
    assert figures == list(range(1, len(report.charts()) + 1))
    tables = [int(number) for number in re.findall(r"Table (\d+)\.", whole)]
    assert tables == list(range(1, len(tables) + 1)) and len(tables) >= len(report.charts())


def test_all_values_of_every_table_and_chart_are_printed() -> None:
    """What the page folds away cannot be unfolded on paper."""
    report, made = paper()
    whole = signs(" ".join(pages(made)))
    tables = [block for section in report.sections for block in section.blocks if isinstance(block, Table)]
    for table in (*tables, *(chart.table for chart in report.charts())):
        for row in table.rows:
            for cell in row:
                assert signs(cell) in whole, (table.title, cell)


def test_it_is_tagged_and_every_figure_has_words() -> None:
    report, made = paper()
    document = pypdfium2.PdfDocument(io.BytesIO(made))
    assert pdfium.FPDFCatalog_IsTagged(document.raw)
    said = b"".join(_alternatives(page) for page in document).decode("utf-16-le")
    for chart in report.charts():
        assert chart.description[:40] in said, chart.id


def _alternatives(page: pypdfium2.PdfPage) -> bytes:
    tree, texts = pdfium.FPDF_StructTree_GetForPage(page.raw), []

    def walk(element: object) -> None:
        length = pdfium.FPDF_StructElement_GetAltText(element, None, 0)
        if length > 2:
            buffer = (
                pdfium.c_char_Array(length) if hasattr(pdfium, "c_char_Array") else (pdfium.ctypes.c_char * length)()
            )
            pdfium.FPDF_StructElement_GetAltText(element, buffer, length)
            texts.append(buffer.raw[:-2])
        for child in range(pdfium.FPDF_StructElement_CountChildren(element)):
            if inner := pdfium.FPDF_StructElement_GetChildAtIndex(element, child):
                walk(inner)

    for child in range(pdfium.FPDF_StructTree_CountChildren(tree)):
        walk(pdfium.FPDF_StructTree_GetChildAtIndex(tree, child))
    pdfium.FPDF_StructTree_Close(tree)
    return b"".join(texts)


def test_drawings_are_vectors_in_an_embedded_typeface() -> None:
    _, made = paper()
    assert b"/Subtype /Image" not in made and b"/Subtype/Image" not in made, "a picture of pixels"
    document = pypdfium2.PdfDocument(io.BytesIO(made))
    second = np.asarray(document[1].render(scale=1).to_numpy())
    assert len(np.unique(second.reshape(-1, second.shape[-1]), axis=0)) > 20, "nothing is drawn"


def test_no_text_is_read_as_markup() -> None:
    table = Table(HOSTILE, report_table().columns, ((HOSTILE, "1"),))
    made = pdf.render(report_of(table))
    whole = signs(" ".join(pages(made)))
    assert signs(HOSTILE.replace("\x1b", "")) in whole


def report_table() -> Table:
    report, _ = paper()
    return next(block for section in report.sections for block in section.blocks if isinstance(block, Table))


def test_the_short_edition_has_two_pages_and_the_same_result() -> None:
    report, _ = paper()
    short = brief(report)
    read = pages(pdf.render(short))
    assert len(read) <= 2
    assert all(signs(sentence) in signs(read[0]) for sentence in report.headline)


def test_a_matrix_fits_its_pages() -> None:
    """No table is wider than the paper: every page has its right margin."""
    whole = matrix_run(lambda *_: 1.2)
    document = pypdfium2.PdfDocument(io.BytesIO(pdf.render(compose(whole, compare_run(whole)))))
    for page in document:
        picture = np.asarray(page.render(scale=1, grayscale=True).to_numpy())
        assert picture[:, -40:].min() > 200, "ink in the margin"


def test_small_tables_are_whole_on_a_page_and_drawings_leave_no_more_than_a_quarter_empty() -> None:
    report, _ = paper()
    columns = (Column("Mark", numeric=False), Column("Value"))
    tables = tuple(Table(f"Many {n}", columns, tuple((f"T{n}R{r}", "1") for r in range(9))) for n in range(8))
    chart = next(block for section in report.sections for block in section.blocks if isinstance(block, Chart))
    drawn = tuple(replace(chart, id=f"{chart.id}-{n}") for n in range(7))
    lines = (Bullets(tuple("word" for _ in range(9))),)
    sections = (Section("Many", tables, "many"), Section("Drawn", (*drawn[:4], *lines, *drawn[4:]), "drawn"))
    document = pypdfium2.PdfDocument(io.BytesIO(pdf.render(replace(report, sections=sections))))
    read = [page.get_textpage().get_text_bounded() for page in document]
    for number in range(len(tables)):
        on = {index for index, text in enumerate(read) if f"T{number}R" in text}
        assert len(on) == 1, f"table {number} is on pages {sorted(on)}"
    last = max(index for index, text in enumerate(read) if "Figure 7." in text)
    for page in list(document)[1:last]:
        ink = np.asarray(page.render(scale=1, grayscale=True).to_numpy()).min(axis=1) < 200
        body = np.flatnonzero(ink[int(TOP * len(ink)) : int(BOTTOM * len(ink))])
        assert body.max() > 0.75 * (BOTTOM - TOP) * len(ink), "more than a quarter of the page is empty"


def test_without_typst_the_advice_is_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(GeneratorError, match=r"bakeoff\[pdf\]"):
        pdf.prepare()


def test_figures_in_print_name_their_contenders() -> None:
    report, made = paper()
    names = [
        card.title
        for section in report.sections
        for block in section.blocks
        if isinstance(block, Cards)
        for card in block.cards
    ]
    (page,) = [text for text in pages(made) if "Figure 1." in text]
    before = page[: page.index("Figure 1.")]
    axis = before[before.index("Simulated clients") :]
    assert len(names) > 1 and all(name in axis for name in names), "each stands in the legend, under the axis"


def test_contenders_have_their_marks_in_tables() -> None:
    _, made = paper()
    whole = " ".join(pages(made))
    assert re.search(r"● ?nginx", whole) and re.search(r"■ ?apache", whole)
