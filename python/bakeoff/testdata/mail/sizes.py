"""Tables of values with weights: message sizes, numbers of recipients."""

from collections.abc import Callable, Mapping

from bakeoff.core.units import exact_size, parse_size

KB = 1024

# SPECmail2001 white paper: kilobytes and per cent of the messages of an Internet provider.
ISP_2001 = tuple(
    (kb * KB, share)
    for kb, share in (
        (1, 10.20),
        (2, 30.71),
        (3, 20.59),
        (4, 10.78),
        (5, 5.88),
        (6, 3.74),
        (10, 7.44),
        (100, 9.79),
        (1000, 0.69),
        (2675, 0.18),
    )
)
# The same source: shares of messages with one, two … twenty recipients; two on average.
_RECIPIENT_SHARES = (
    *(85.73, 1.66, 1.49, 1.34, 1.20, 1.08, 0.97, 0.88, 0.79, 0.71),
    *(0.64, 0.58, 0.52, 0.47, 0.42, 0.38, 0.34, 0.31, 0.28, 0.21),
)
RECIPIENTS_2001 = tuple(enumerate(_RECIPIENT_SHARES, 1))
SIZE_TABLES = {"isp-2001": ISP_2001}
RECIPIENT_TABLES = {"isp-2001": RECIPIENTS_2001}

Table = tuple[tuple[int, float], ...]


def parse_sizes(text: str) -> Table:
    """`isp-2001`, or `SIZE=WEIGHT,…` such as `4KiB=90,100KiB=10`, or one size. Raises ValueError with the form."""
    return SIZE_TABLES.get(text) or _table(text, parse_size, "isp-2001, 4KiB, or 4KiB=90,100KiB=10")


def parse_recipients(text: str) -> Table:
    """`isp-2001`, or `COUNT=WEIGHT,…` such as `1=9,3=1`, or one number. Raises ValueError with the form."""
    return RECIPIENT_TABLES.get(text) or _table(text, int, "isp-2001, 1, or 1=90,3=10")


def sizes_text(table: Table) -> str:
    """What `parse_sizes` reads back: `isp-2001`, `4KiB=90,100KiB=10`, `4KiB`."""
    return _written(table, SIZE_TABLES, exact_size)


def recipients_text(table: Table) -> str:
    """What `parse_recipients` reads back: `isp-2001`, `1=90,3=10`, `1`."""
    return _written(table, RECIPIENT_TABLES, str)


def _written(table: Table, known: Mapping[str, Table], of: Callable[[int], str]) -> str:
    for name, other in known.items():
        if table == other:
            return name
    if len(table) == 1 and table[0][1] == 1:
        return of(table[0][0])
    return ",".join(f"{of(value)}={weight:.15g}" for value, weight in table)


def _table(text: str, parse: object, forms: str) -> Table:
    rows = []
    for part in text.split(","):
        value, equals, weight = part.strip().partition("=")
        try:
            rows.append((int(parse(value)), float(weight) if equals else 1.0))  # type: ignore[operator]
        except ValueError:
            raise ValueError(f"{part.strip()!r} is not a line of a table: write {forms}") from None
    if any(value < 1 or not 0 <= weight < float("inf") for value, weight in rows) or not any(w for _, w in rows):
        raise ValueError(f"{text!r}: values must be at least 1 and some weight more than 0: write {forms}")
    return tuple(rows)
