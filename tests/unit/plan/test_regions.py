"""Regions of a surface as they are written."""

import pytest

from bakeoff.plan.settings.regions import Region, parse_region


def test_limits_on_both_sides_and_in_any_order() -> None:
    assert parse_region("small-office=files<=2MiB,records<=32KiB") == Region(
        name="small-office", file_most=2 << 20, record_most=32 << 10
    )
    assert parse_region("middle = records>=4KiB, files>=1MiB,files<=8MiB").file_least == 1 << 20


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("files<=2MiB", "is not a region: write NAME="),
        ("a=", "is not a region"),
        ("a=files<2MiB", "is not a region"),
        ("a=files<=2", ""),
        ("a=files<=2MiB,files<=3MiB", "names a limit twice"),
        ("a=files<=1MiB,files>=2MiB", "is empty"),
        ("a=files<=2parsecs", "is not a size"),
    ],
)
def test_what_is_no_region_is_refused_with_the_form(text: str, why: str) -> None:
    if not why:
        assert parse_region(text).file_most == 2
        return
    with pytest.raises(ValueError, match=why):
        parse_region(text)
