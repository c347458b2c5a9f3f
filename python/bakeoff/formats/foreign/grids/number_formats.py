"""How cells of an .xlsx file show their numbers: with at least so many decimals, perhaps as percent.

A cell of 1.1 that shows 1.10 has one digit more to be held against, and one of 0.5 that shows 50 % means the latter
under a heading in percent. What a format hides is kept: the stored number is the exact one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

# Formats that a file does not write out.
USUAL = {"1": "0", "2": "0.00", "3": "#,##0", "4": "#,##0.00", "9": "0%", "10": "0.00%"}
MOST_STYLES, MOST_DECIMALS = 65_536, 30
# Marks that show nothing of a number: quoted text, escaped characters, colours, blanks as wide as a character.
_BESIDE = re.compile(r'"[^"]*"|[\\_*].|\[[^\]]*\]|\s')
_PLAIN = re.compile(r"[#?0,]*0(?:\.(0*)[#?]*)?(%?)")


@dataclass(frozen=True)
class NumberFormat:
    """The least number of decimals, and whether numbers are shown times 100."""

    decimals: int = 0
    percent: bool = False

    def shown(self, stored: str) -> str:
        """A stored number as the cell shows it, with all of its digits; one with a power of ten stays as it is."""
        if self.percent:
            number = Decimal(stored).scaleb(2)
            stored = str(number) if "e" in stored else f"{number:f}"
        whole, _, rest = stored.partition(".")
        if "e" not in stored.lower() and len(rest) < self.decimals:
            stored = f"{whole}.{rest:0<{self.decimals}}"
        return f"{stored}%" if self.percent else stored


def number_format(code: str) -> NumberFormat | None:
    """What the code of a format shows; None for dates, powers of ten and all that is not plain."""
    found = _PLAIN.fullmatch(_BESIDE.sub("", code.split(";")[0][:1000]))
    return NumberFormat(min(len(found[1] or ""), MOST_DECIMALS), bool(found[2])) if found else None


class Styles:
    """The format of each style, while xl/styles.xml is read."""

    def __init__(self) -> None:
        self._codes = dict(USUAL)
        self._formats: list[NumberFormat | None] = []
        self._inside = False

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "numFmt" and len(self._codes) < MOST_STYLES:
            self._codes[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif name == "cellXfs":
            self._inside = True
        elif name == "xf" and self._inside and len(self._formats) < MOST_STYLES:
            self._formats.append(number_format(self._codes.get(attributes.get("numFmtId", ""), "")))

    def end(self, name: str) -> None:
        self._inside = self._inside and name != "cellXfs"

    def of(self, style: str) -> NumberFormat | None:
        """The format of a style by its number."""
        place = int(style) if re.fullmatch(r"\d{1,6}", style) else -1
        return self._formats[place] if 0 <= place < len(self._formats) else None
