"""Columns of printed tables: letters as large as fit, whole numbers and words, and nothing beyond the margin."""

from __future__ import annotations

import io

import pypdfium2
import pytest

from bakeoff.report.blocks.print_columns import NARROWEST_WORDS, PAGE_PT, SIZES_PT, columns_of
from bakeoff.report.blocks.tree import Column, Table
from bakeoff.report.renderers import pdf
from tests.unit.report.test_renderers import report_of

MARGIN_PT = 62.3
LONG = "A load thread waited for a processor for more than 5 % of the window: something else ran on its core."
WORDS = Column("Meaning", numeric=False)


def of(columns: tuple[Column, ...], *row: str) -> Table:
    return Table("Any", columns, (row, row))


def test_what_fits_is_as_wide_as_it_is() -> None:
    made = columns_of(of((Column("Clients"), Column("Rate")), "4", "12,000"), ())
    assert (made.size_pt, made.shares) == (SIZES_PT[0], ())


def test_sentences_share_what_numbers_leave() -> None:
    made = columns_of(of((Column("Clients"), WORDS, WORDS), "4", LONG, LONG), ())
    number, first, second = made.shares
    assert made.size_pt == SIZES_PT[0]
    assert sum(made.shares) == pytest.approx(PAGE_PT, rel=0.01)
    assert first == pytest.approx(second) and first > 4 * number


@pytest.mark.parametrize("count", [4, 9, 14, 22])
def test_letters_are_as_small_as_numbers_need_and_no_smaller(count: int) -> None:
    made = columns_of(of((Column("N"),) * count, *["1,234.5"] * count), ())
    smaller = [size for size in SIZES_PT if size < made.size_pt]
    assert smaller or count == 22
    if made.size_pt < SIZES_PT[0]:
        larger = SIZES_PT[SIZES_PT.index(made.size_pt) - 1]
        assert count * (7 * larger * 0.48 + made.inset_pt) > PAGE_PT


def test_numbers_are_never_given_less_than_they_are_wide() -> None:
    made = columns_of(of((Column("A long title of many words"), WORDS), "1,234,567.89 – 2,345,678.91", LONG), ())
    assert made.shares[0] >= 27 * made.size_pt * 0.48
    assert made.shares[1] >= NARROWEST_WORDS * made.size_pt * 0.48


def test_a_printed_table_of_sentences_stays_on_its_page() -> None:
    """Were the last column what is left over, it would be set a word in a line, or beyond the margin."""
    columns = (Column("Mark", numeric=False), WORDS, Column("What to do", numeric=False))
    table = Table("What the marks mean", columns, (("generator-waited", LONG, LONG),))
    made = pdf.render(report_of(table))
    document = pypdfium2.PdfDocument(io.BytesIO(made))
    for page in document:
        text = page.get_textpage()
        right = max(text.get_rect(i)[2] for i in range(text.count_rects()))
        assert right <= page.get_width() - MARGIN_PT + 1.0
        lines = text.get_text_bounded().splitlines()
        assert sum(line.strip() in LONG.split() for line in lines) <= 2
