"""Text of quantities to numbers and back: durations, sizes, shares, rates.

Parsers raise ValueError with one sentence that shows the right form; a number without its unit is refused
rather than guessed (0 needs none).
"""

import re
from collections.abc import Sequence

from bakeoff.core.times import us_of

_NUMBER = r"([0-9]{1,40}(?:\.[0-9]{1,40})?)"
LONGEST = 100  # no quantity that people write is longer
LARGEST = 2**63 - 1  # what files and the engine hold
_DURATIONS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_SIZES = {
    "B": 1, "kB": 1000, "KB": 1000, "MB": 1000**2, "GB": 1000**3,
    "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
}  # fmt: skip


def parse_duration(text: str) -> float:
    """Seconds of `10s`, `500ms`, `5m`, `1h30m`, `0`."""
    compact = text.strip().replace(" ", "")
    if re.fullmatch(r"0+(\.0+)?", compact):
        return 0.0
    parts = re.findall(_NUMBER + r"(us|µs|ms|min|s|m|h)", compact) if len(compact) < LONGEST else []
    if not parts or "".join(number + unit for number, unit in parts) != compact:
        raise ValueError(f"{text!r} is not a duration: write it with its unit, such as 10s, 500ms or 5m")
    return sum(float(number) * _DURATIONS[unit] for number, unit in parts)


def format_duration(seconds: float) -> str:
    """Short text that `parse_duration` reads back: `250ms`, `10s`, `1.5s`, `5m`, `1h30m`."""
    if seconds == 0:
        return "0s"
    if seconds < 0.001:
        return f"{us_of(seconds):g}us"
    if seconds < 1:
        return f"{seconds * 1e3:g}ms"
    if seconds < 60:
        return f"{seconds:.10g}s"
    hours, rest = divmod(seconds, 3600)
    minutes, left = divmod(rest, 60)
    text = f"{hours:g}h" if hours else ""
    text += f"{minutes:g}m" if minutes else ""
    return text + (f"{left:.10g}s" if left else "")


def parse_size(text: str) -> int:
    """Bytes of `4096`, `4096B`, `4KiB`, `550kB`, `1.5MiB`."""
    match = re.fullmatch(_NUMBER + r"\s*([A-Za-z]*)", text.strip())
    unit = match[2] if match else ""
    if match is None or (unit and unit not in _SIZES):
        raise ValueError(f"{text!r} is not a size: write it in bytes or with a unit, such as 4096, 4KiB or 64kB")
    size = float(match[1]) * _SIZES.get(unit, 1)
    if size != int(size):
        raise ValueError(f"{text!r} is not a whole number of bytes")
    if size > LARGEST:
        raise ValueError(f"{text!r} is larger than any file")
    return int(size)


def format_size(count: float) -> str:
    """Bytes for people, decimal units: `223 B`, `5.1 kB`, `59.2 MB`."""
    if abs(count) < 1000:
        return f"{count:.0f} B"
    for unit in ("kB", "MB", "GB"):
        count /= 1000
        if abs(count) < 999.5:
            return f"{count:.3g} {unit}"
    return f"{count / 1000:.4g} TB"


def format_binary(count: float) -> str:
    """Bytes for people, binary units: `32 KiB`, `2 MiB`, `512 B`."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= scale:
            return f"{count / scale:.4g} {unit}"
    return f"{count:.0f} B"


def exact_size(count: int) -> str:
    """Bytes as `parse_size` reads them back, as short as it goes: `32KiB`, `4GB`, `1000KiB`, `513B`."""
    forms = [f"{count // scale}{unit}" for unit, scale in _SIZES.items() if unit != "KB" and count % scale == 0]
    return min(forms, key=len)


def parse_share(text: str) -> float:
    """Fraction of `5%` (0.05); a plain fraction below 1, such as `0.05`, is taken as it is."""
    compact = text.strip().replace(" ", "")
    match = re.fullmatch(_NUMBER + r"(%?)", compact)
    value = float(match[1]) / (100 if match[2] else 1) if match else -1.0
    if match is None or value > 1 or (value == 1 and not match[2]):
        raise ValueError(f"{text!r} is not a share: write a percentage such as 5% (0% to 100%)")
    return value


def format_share(value: float) -> str:
    """`5%`, `0.5%`."""
    return f"{value * 100:.6g}%"


def parse_rate(text: str) -> float:
    """Per second of `1000/s`, `30/m`; a plain number is per second."""
    match = re.fullmatch(_NUMBER + r"\s*(?:/\s*(s|m|min|h))?", text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a rate: write it per unit of time, such as 1000/s")
    return float(match[1]) / _DURATIONS[match[2] or "s"]


def format_rate(per_second: float, unit: str = "") -> str:
    """`12,345/s`, `0.52/s`, with `unit` between: `88.0 requests/s`."""
    number = f"{per_second:,.0f}" if per_second >= 1000 else f"{per_second:.3g}"
    return f"{number} {unit}/s" if unit else f"{number}/s"


def plural(number: int, one: str, many: str | None = None) -> str:
    """ "1 block", "8 blocks"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def names(items: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    if len(items) < 2:
        return "".join(items)
    return ", ".join(items[:-1]) + " and " + items[-1]


def parse_link_speed(text: str) -> float:
    """Bytes per second of `1Gbit/s`, `100Mbit/s`, `10Gbit`."""
    match = re.fullmatch(_NUMBER + r"\s*([kMG]?)bit(?:/s)?", text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not the speed of a link: write it like 1Gbit/s or 100Mbit/s")
    return float(match[1]) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[match[2]] / 8


def parse_whole_numbers(text: str) -> tuple[int, ...]:
    """Numbers of `1,4,8`."""
    try:
        return tuple(parse_whole(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"{text!r} is not a list of whole numbers: write it like 1,4,8") from None


def parse_whole(text: str) -> int:
    """A whole number. Raises ValueError."""
    if len(text) >= LONGEST or abs(number := int(text)) > LARGEST:
        raise ValueError(f"{text[:LONGEST]} is more than {LARGEST:,}")
    return number
