import pytest

from bakeoff.core.units import (
    format_duration,
    format_rate,
    format_share,
    format_size,
    parse_duration,
    parse_rate,
    parse_share,
    parse_size,
    parse_whole_numbers,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10s", 10.0),
        ("500ms", 0.5),
        ("5m", 300.0),
        ("1h30m", 5400.0),
        ("1m 30s", 90.0),
        ("250us", 0.00025),
        ("0", 0.0),
        ("1.5s", 1.5),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["10", "ten", "10 bananas", "10s5", "-3s", "", "s", "10sm", "1e3s", "nan"])
def test_what_is_not_a_duration_is_refused_with_the_right_form(text: str) -> None:
    with pytest.raises(ValueError, match="write it with its unit, such as 10s, 500ms or 5m"):
        parse_duration(text)


@pytest.mark.parametrize(
    "seconds", [0.0, 0.00025, 0.25, 0.4, 2.5, 10.0, 59.9, 60.0, 90.0, 300.0, 3600.0, 5400.0, 5401.5]
)
def test_a_formatted_duration_is_read_back(seconds: float) -> None:
    assert parse_duration(format_duration(seconds)) == pytest.approx(seconds, rel=1e-9)


@pytest.mark.parametrize(
    ("text", "size"),
    [("4096", 4096), ("4KiB", 4096), ("550kB", 550_000), ("1.5 MiB", 1_572_864), ("223B", 223)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["4k", "-1", "4 bananas", "KiB", "0.3", "1e3"])
def test_what_is_not_a_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a (size|whole number of bytes)"):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "share"), [("5%", 0.05), ("0.05", 0.05), ("100%", 1.0), ("0", 0.0), ("12.5 %", 0.125)]
)
def test_shares(text: str, share: float) -> None:
    assert parse_share(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["5", "1", "101%", "-1%", "five"])
def test_what_is_not_a_share_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write a percentage such as 5%"):
        parse_share(text)


def test_rates() -> None:
    assert parse_rate("1000/s") == 1000
    assert parse_rate("30/m") == 0.5
    assert parse_rate("7") == 7
    with pytest.raises(ValueError, match="such as 1000/s"):
        parse_rate("1000/fortnight")


def test_whole_numbers() -> None:
    assert parse_whole_numbers("1,4, 8") == (1, 4, 8)
    with pytest.raises(ValueError, match="write it like 1,4,8"):
        parse_whole_numbers("1;4")


def test_texts_for_people() -> None:
    assert [format_size(n) for n in (0, 223, 999, 1000, 5088, 61_407_689, 999_999, 2.5e12)] == [
        "0 B", "223 B", "999 B", "1 kB", "5.09 kB", "61.4 MB", "1 MB", "2.5 TB",
    ]  # fmt: skip
    assert format_rate(12345.6) == "12,346/s"
    assert format_rate(0.5213, "requests") == "0.521 requests/s"
    assert format_share(0.005) == "0.5%"
