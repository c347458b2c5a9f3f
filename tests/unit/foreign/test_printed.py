"""A printed number stands for all values that its digits allow, and its marks are never guessed."""

import contextlib
import random

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign.printed import Marks, counted, marks_of, printed


@pytest.mark.parametrize(
    ("text", "value", "low", "high"),
    [
        ("238.57", 238.57, 238.565, 238.575),
        ("12", 12, 11.5, 12.5),
        ("12.3k", 12300, 12250, 12350),
        ("1.5M", 1.5e6, 1.45e6, 1.55e6),
        ("-0.50", -0.5, -0.505, -0.495),
        ("1.20e3", 1200, 1195, 1205),
        ("0", 0, -0.5, 0.5),
        (".5", 0.5, 0.45, 0.55),
    ],
)
def test_digits_give_an_interval(text: str, value: float, low: float, high: float) -> None:
    number = printed(f" {text} ")
    assert (number.text, number.value) == (text, pytest.approx(value))
    assert (number.low, number.high) == (pytest.approx(low), pytest.approx(high))


def test_rounding_is_that_of_the_tool() -> None:
    down = printed("1234", rounding="down")
    assert (down.low, down.high) == (1234, 1235)
    exact = printed("1234", rounding="exact")
    assert (exact.low, exact.high) == (1234, 1234)
    assert counted(3.5).text == ""


def test_digits_of_equal_numbers_are_equal() -> None:
    assert printed("0.2340").digits == "2340" and printed("1,234", Marks(".", ",")).digits == "1234"


@pytest.mark.parametrize(
    "text", ["", "abc", "nan", "inf", "1e999", "1e-999", "--1", "1.2.3", "1 2", "9" * 61, "1,5", "."]
)
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"number|results"):
        printed(text)


@pytest.mark.parametrize(
    ("texts", "marks"),
    [
        (["1.5", "20"], Marks(".", "")),
        (["1,5", "20"], Marks(",", "")),
        (["1,234.5"], Marks(".", ",")),
        (["1.234,5"], Marks(",", ".")),
        (["1,234,567"], Marks(".", ",")),
        (["1,234", "0.5"], Marks(".", ",")),
        (["1,234", "0,5"], Marks(",", "")),
        (["1.234", "12345"], Marks(".", "")),
        (["1,234", "12345"], Marks(",", "")),
        (["1 234,5"], Marks(",", " ")),
        (["12 345"], Marks(".", " ")),
        (["1'234.5"], Marks(".", "'")),
        (["0.123"], Marks(".", "")),
        (["1234.567"], Marks(".", "")),
        (["words", ""], Marks(".", "")),
    ],
)
def test_marks_are_known_where_a_number_is_certain(texts: list[str], marks: Marks) -> None:
    assert marks_of(texts) == marks


@pytest.mark.parametrize("texts", [["1,234"], ["1.234", "56"], ["12,345", "678"]])
def test_doubtful_marks_are_asked_about(texts: list[str]) -> None:
    with pytest.raises(PlanError, match="--decimal point or comma"):
        marks_of(texts)


@pytest.mark.parametrize("texts", [["0,5", "0.5"], ["1.234.567", "0.5"], ["1,2,3,4", "0,5"]])
def test_two_ways_in_one_file_are_refused(texts: list[str]) -> None:
    with pytest.raises(PlanError, match="in two ways"):
        marks_of(texts)


def test_numbers_are_read_by_their_marks() -> None:
    assert printed("1.234,5", Marks(",", ".")).value == 1234.5
    assert printed("1'234'567.8", Marks(".", "'")).value == 1234567.8
    for wrong in ("12.34,5", "1.2345,6"):
        with pytest.raises(ValueError, match="not a number"):
            printed(wrong, Marks(",", "."))


def test_no_characters_break_it() -> None:
    chance = random.Random(3)
    for _ in range(20_000):
        text = "".join(chance.choice("0123456789.,eE+-kM '\u00a0x") for _ in range(chance.randrange(12)))
        try:
            number = printed(text, chance.choice([Marks(), Marks(",", "."), Marks(".", ",")]))
            assert number.low <= number.value <= number.high
        except ValueError as error:
            assert "\n" not in str(error)
        with contextlib.suppress(PlanError):
            marks_of([text])
