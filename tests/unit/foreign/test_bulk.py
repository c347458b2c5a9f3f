"""Numbers that are read all at once are those that are read one by one."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bakeoff.formats.foreign.bulk.digits import digits_of
from bakeoff.formats.foreign.bulk.figures import Listed, Stretch
from bakeoff.formats.foreign.bulk.rows import Block, BlockRows, count_numbers
from bakeoff.formats.foreign.printed import Printed, Rounding, printed
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignRow, ForeignTable, ForeignValue
from bakeoff.formats.foreign.units import MB_PER_S, PER_S
from bakeoff.formats.importers import importer
from bakeoff.formats.importers.base import Options

ROOT = Path(__file__).parents[3]
HEADING = "clients,nginx (req/s),apache (req/s)\n"


def texts(number: int) -> list[str]:
    """Digits with and without a point, zeros before and behind them."""
    chance = random.Random(1)
    found = ["0", "0.0", "7.", "007", "0.070", "12345678901234", "999999999.9999"]
    for _ in range(number):
        digits = "".join(chance.choice("0123456789") for _ in range(chance.randrange(1, 13)))
        at = chance.randrange(1, len(digits) + 1)
        found.append(digits if chance.random() < 0.3 else f"{digits[:at]}.{digits[at:]}")
    return found


def stretch(rounding: Rounding, words: list[str]) -> Stretch:
    found = digits_of(("\n".join(words) + "\n").encode(), b",")
    assert found is not None and len(found[0]) == len(words)
    return Stretch(found[0], np.arange(2, len(words) + 2), PER_S, 3, "rate", rounding)


@pytest.mark.parametrize("rounding", ["nearest", "down", "exact"])
def test_numbers_are_those_that_printed_gives(rounding: Rounding) -> None:
    words = texts(2000)
    cells = [ForeignValue(printed(text, rounding=rounding), PER_S, at, 3, "rate") for at, text in enumerate(words, 2)]
    at_once, one_by_one = stretch(rounding, words), Listed(cells)
    assert [at_once[row] for row in range(len(words))] == cells
    for name in ("value", "low", "high", "factors", "integer", "decimals", "digits", "codes"):
        assert np.array_equal(getattr(at_once, name), getattr(one_by_one, name)), name


def test_texts_are_equal_where_their_codes_are() -> None:
    words = ["12", "12.", "012", "1.2", "12.0", "1.20", "", "1e3", "1,200", "0", "00"]
    codes = Listed([ForeignValue(Printed(text, 1, 1, 1), PER_S, 1) for text in words]).codes.tolist()
    assert len(set(codes)) == len(words) and codes[words.index("")] == 0


@pytest.mark.parametrize("text", ["1,2", "1,x\n", "1,-2\n", "1,.5\n", "1,2.3.4\n", "1,123456789012345\n", "1,1e3\n"])
def test_what_is_not_plain_is_left_to_others(text: str) -> None:
    assert digits_of(text.encode(), b",") is None


def test_ends_of_lines_are_counted_in_numbers() -> None:
    found = digits_of(b"1,2.5\n\n3\n", b",")
    assert (
        found is not None
        and found[1].tolist() == [2, 2, 3]
        and [found[0].text(at) for at in range(3)] == ["1", "2.5", "3"]
    )


def read(path: Path, text: str, form: str, options: Options) -> ForeignTable:
    path.write_bytes(text.encode())
    return importer(form).read(Source(path), options)


TABLES = {
    "rates": HEADING + "".join(f"{at},{at * 901.25:.2f},{at * 87}\n" for at in range(1, 40)),
    "Windows": "\ufeff" + (HEADING + "1,901.5,87\n2,1800.25,90\n").replace("\n", "\r\n").rstrip(),
    "metrics": "clients;rate [req/s];mean [ms]\n1;901.5;1.11\n2;1800.25;1.12\n",
    "sizes": "file size [KB],read (MB/s)\n4,10.5\n64,11.25\n",
    "title": "Rates of two servers\n" + HEADING + "1,901.5,87\n2,1800.25,90\n",
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_the_same_as_read_cell_by_cell(name: str, tmp_path: Path) -> None:
    path, options = tmp_path / "t.csv", Options(contender="nginx" if name == "metrics" else None)
    at_once = read(path, TABLES[name], "table", options)
    one_by_one = read(path, TABLES[name].rstrip() + "\n# a comment is no number\n", "table", options)
    assert isinstance(at_once.rows, BlockRows) and isinstance(one_by_one.rows, tuple)
    assert tuple(at_once.rows) == one_by_one.rows and count_numbers(at_once.rows) == count_numbers(one_by_one.rows)
    assert (at_once.stated, at_once.better, at_once.missing) == (
        one_by_one.stated,
        one_by_one.better,
        one_by_one.missing,
    )


@pytest.mark.parametrize(
    "more",
    ["5,-,7\n", "Total,3,4\n", "5,1.234,7\n5,1.2 MB/s,7\n", "5,7\n", '"5",7,8\n', "5, 7,8\n", "5,7,\n"],
)
def test_a_table_with_other_cells_is_read_cell_by_cell(more: str, tmp_path: Path) -> None:
    found = read(tmp_path / "t.csv", HEADING + "1,901.5,87\n2,1800.25,90\n" + more, "table", Options())
    assert isinstance(found.rows, tuple) and found.rows[0].values["rate"].number.text == "901.5"


def test_points_that_may_stand_between_thousands_are_asked_about(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="--decimal"):
        read(tmp_path / "t.csv", HEADING + "1,1.234,5.678\n2,2.345,6.789\n", "table", Options())
    found = read(tmp_path / "t.csv", HEADING + "1,0.234,5.678\n2,2.345,6.789\n", "table", Options())
    assert isinstance(found.rows, BlockRows) and found.rows[1].values["rate"].number.value == 5.678


def matrix() -> tuple[str, str]:
    """What IOzone prints around its matrix, and a matrix whose first test leaves out a size."""
    head, _, _ = (ROOT / "tests/data/iozone/auto-excel.txt").read_text().partition("              64       4")
    chance, lines = random.Random(2), []
    for file in (64, 128, 256):
        for record in (4, 8, 16):
            rates = [chance.randrange(10**4, 10**6) for _ in range(13)]
            rates[0] = 0 if file == 64 else rates[0]
            lines.append(f"{file:>16}{record:>8}" + "".join(f" {rate:>8}" for rate in rates) + "\n")
    return head, "".join(lines)


def test_a_matrix_is_the_same_as_read_line_by_line(tmp_path: Path) -> None:
    head, rows = matrix()
    first, rest = rows[: rows.index("\n") + 1], rows[rows.index("\n") + 1 :]
    at_once = read(tmp_path / "i.txt", head + rows + "\niozone test complete.\n", "iozone", Options())
    one_by_one = read(tmp_path / "j.txt", head + first + "\n" + rest, "iozone", Options())
    assert isinstance(at_once.rows, BlockRows) and isinstance(one_by_one.rows, tuple)
    assert len(at_once.rows) == 9 * 13 - 3 and at_once.stated == one_by_one.stated
    plain = [(row.part, row.load["record size"].number, row.values["throughput"].number) for row in one_by_one.rows]
    assert [
        (row.part, row.load["record size"].number, row.values["throughput"].number) for row in at_once.rows
    ] == plain
    assert at_once.rows[0] == one_by_one.rows[0] and at_once.rows[0].part == "rewrite"


def _unplaced(row: ForeignRow) -> ForeignRow:
    """A row without its line, which an empty line above changes."""
    load, values = ({name: replace(one, line=0) for name, one in of.items()} for of in (row.load, row.values))
    return replace(row, line=0, load=load, values=values)


@pytest.mark.parametrize(
    ("before", "after", "refusal"),
    [
        ("             128       4", "              64       4", "twice"),
        ("             128       4", "             128     256", "do not make a file"),
        ("             128       4", "               128       4", "columns"),
    ],
)
def test_a_row_that_cannot_be_is_refused_with_its_line(before: str, after: str, refusal: str, tmp_path: Path) -> None:
    head, rows = matrix()
    assert rows.count(before) == 1
    with pytest.raises(Exception, match=f"line {head.count(chr(10)) + 4}: .*{refusal}"):
        read(tmp_path / "i.txt", head + rows.replace(before, after), "iozone", Options())


def test_rows_of_blocks_stand_in_the_order_of_lines_and_then_of_blocks() -> None:
    one, two = stretch("nearest", ["1", "2"]), stretch("nearest", ["3", "4", "5"])
    late = Block("a", "late", np.array([3, 5]), {}, {"rate": one})
    early = Block("a", "early", np.array([2, 3, 4]), {}, {"rate": two})
    rows = BlockRows([late, early, Block("a", "none", np.zeros(0, dtype=np.int64), {}, {})])
    assert [row.part for row in rows] == ["early", "late", "early", "early", "late"]
    assert [block.part for block in rows.blocks] == ["early", "late"] and len(rows) == 5
    assert rows[1:3] == tuple(rows)[1:3] and late[0:1] == (late[0],)


def test_the_unit_of_a_stretch_is_that_of_each_number() -> None:
    words = ["1", "2"]
    found = Stretch(stretch("nearest", words).numbers, np.arange(2), MB_PER_S)
    assert found.factors.tolist() == [1e6, 1e6] and found[1].value == 2e6
