"""Words of headings become units; what may mean two things says so."""

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign.printed import printed
from bakeoff.formats.foreign.table import ForeignRow, ForeignTable, ForeignValue
from bakeoff.formats.foreign.units import COUNT, MB_PER_S, split_heading, stated_unit, unit_of


@pytest.mark.parametrize(
    ("text", "quantity", "readings", "factor"),
    [
        ("MB/s", "bytes/s", 3, 1e6),
        ("MBps", "bytes/s", 3, 1e6),
        ("MB per second", "bytes/s", 3, 1e6),
        ("MiB/s", "bytes/s", 1, 2**20),
        ("KB/s", "bytes/s", 2, 1e3),
        ("Mbit/s", "bytes/s", 0, 125e3),
        ("Mbps", "bytes/s", 0, 125e3),
        ("Mb/s", "bytes/s", 0, 125e3),
        ("Gbit/s", "bytes/s", 0, 125e6),
        ("B/s", "bytes/s", 1, 1),
        ("bytes/sec", "bytes/s", 1, 1),
        ("req/s", "operations/s", 0, 1),
        ("Requests per second", "operations/s", 0, 1),
        ("IOPS", "operations/s", 0, 1),
        ("kIOPS", "operations/s", 0, 1000),
        ("ms", "time", 0, 1e-3),
        ("µs", "time", 0, 1e-6),
        ("%", "share", 0, 0.01),
        ("KiB", "bytes", 1, 1024),
        ("nginx", None, 0, 0),
        ("", None, 0, 0),
    ],
)
def test_units_are_known_by_their_names(text: str, quantity: str | None, readings: int, factor: float) -> None:
    unit = unit_of(text)
    if quantity is None:
        assert unit is None
        return
    assert unit is not None
    assert (unit.quantity, len(unit.readings), unit.factor) == (quantity, readings, pytest.approx(factor))


@pytest.mark.parametrize(
    ("heading", "name", "unit"),
    [
        ("nginx (MB/s)", "nginx", "MB/s"),
        ("latency [ms]", "latency", "ms"),
        ("Throughput, KB/s", "Throughput", "KB/s"),
        ("p99 ms", "p99", "ms"),
        ("latency_ms", "latency", "ms"),
        ("nginx 1.22 (Debian)", "nginx 1.22 (Debian)", None),
        ("clients", "clients", None),
        ("IOPS", "IOPS", "IOPS"),
        ("Apache errors", "Apache errors", None),
        ("B", "B", None),
        ("Server B", "Server B", None),
        ("size (B)", "size", "B"),
    ],
)
def test_headings_are_split(heading: str, name: str, unit: str | None) -> None:
    found, its = split_heading(heading)
    assert (found, its.name if its else None) == (name, unit)


def test_an_unknown_unit_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(PlanError, match=r"no unit that Bakeoff knows: write MB/s"):
        stated_unit("furlongs")


def test_a_value_has_the_interval_of_its_digits_in_base_units() -> None:
    value = ForeignValue(printed("238.57"), MB_PER_S, 3, 2, "nginx (MB/s)")
    assert (value.low, value.value, value.high) == pytest.approx((238.565e6, 238.57e6, 238.575e6))
    row = ForeignRow("nginx", {"clients": ForeignValue(printed("8", rounding="exact"), COUNT, 3)}, {"rate": value}, 3)
    table = ForeignTable("table", "a table", (row, ForeignRow("nginx", {}, {"rate": value}, 4, "read")))
    assert row.where() == "8 clients" and table.totals() == (row,) and table.metrics() == ("rate",)
    assert [found for _, found in table.column("rate")] == [value]
