"""Colours, marks and dashes of contenders, tones of parts, and the inks of charts, on light and on dark paper.

Charts are drawn in the colours of light paper; the rules of `stylesheet` give them those of dark paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

LIGHT_PAPER, DARK_PAPER = "#ffffff", "#15181c"
# A colour that is less apart from its paper is hardly seen.
LEAST_CONTRAST = 3.0
NO_COLOURS: Mapping[str, str] = MappingProxyType({})
# By the place of a contender in the plan. Any two are told apart with each kind of colour blindness, and each stands
# out from its paper (`tests/unit/report/test_palette.py`).
PALETTE = ("#0072b2", "#d55e00", "#1f6743", "#b83174", "#4d3908", "#098fe8", "#7125ea", "#23272f")
ON_DARK = ("#4ba3dc", "#f08a45", "#b4f5d5", "#d61a5c", "#f1d979", "#65d5fb", "#9a2df0", "#677491")
SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
)
# The same marks as characters.
MARKERS = {
    "circle": "●",
    "square": "■",
    "triangle-up": "▲",
    "diamond": "◆",
    "cross": "✚",
    "triangle-down": "▼",
    "triangle-right": "▶",
    "triangle-left": "◀",
}
DASHES = ([1, 0], [7, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3], [10, 4], [3, 1])
# Parts of a whole, dark to light: greys, as colours are contenders, and in the order of their lightness on black and
# white prints.
PARTS = ("#2f3740", "#7c8794", "#c3cad2", "#525c68", "#a0a9b3", "#e3e7eb")
INK = "#2b2f36"
MUTED = "#5d6673"
GRID = "#e6e9ed"
DOMAIN = "#9aa3ae"
ZONE = "#eef1f4"
# Cells keep their colours: they are mixed from those of two contenders.
FREE = ":not(.fixed svg)"
# What an ink of light paper is on dark paper, where it is not the same.
_DARK = {
    INK: "#e6e8eb",
    MUTED: "#a0a9b5",
    GRID: "#2c323a",
    DOMAIN: "#7c8693",
    ZONE: "#20262d",
    LIGHT_PAPER: DARK_PAPER,
    **dict(zip(PALETTE, ON_DARK, strict=True)),
}


class Placed(tuple[str, ...]):
    """Names of contenders of a chapter, each of which keeps the colour and mark of its place `among` those of the whole
    report. `colours` are those that its author chose, by name.
    """

    among: tuple[str, ...]
    colours: Mapping[str, str]

    def __new__(
        cls, names: Iterable[str], among: tuple[str, ...] = (), colours: Mapping[str, str] = NO_COLOURS
    ) -> Placed:
        """`among` has all of `names`, or is empty."""
        made = super().__new__(cls, names)
        made.among = among
        made.colours = colours
        return made

    def only(self, names: Iterable[str]) -> Placed:
        """Some of them, with the colours and marks that they have among all."""
        return Placed(names, self.among or tuple(self), self.colours)


AS_PLANNED = Placed(())


def place_of(name: str, names: Sequence[str]) -> int:
    """The place by which a contender, one of `names`, has its colour and mark."""
    among = names.among if isinstance(names, Placed) else ()
    return (among or names).index(name)


def colour_of(name: str, names: Sequence[str]) -> str:
    """The colour of a contender, one of `names`: that which the author chose, or that of its place."""
    own = names.colours if isinstance(names, Placed) else NO_COLOURS
    return own.get(name) or PALETTE[place_of(name, names) % len(PALETTE)]


def colour_at(place: int, contenders: Sequence[str]) -> str:
    """The colour of the contender at a place of the report."""
    return colour_of(contenders[place], contenders) if place < len(contenders) else PALETTE[place % len(PALETTE)]


def stylesheet(contenders: Sequence[str] = ()) -> str:
    """Rules for a page: `--s0` … are the colours of contenders, `.s0` … text in them, and drawings follow the paper."""
    own = {place: colour_of(name, contenders) for place, name in enumerate(contenders)}
    hues = [own.get(place, PALETTE[place % len(PALETTE)]) for place in range(max(len(PALETTE), len(own)))]
    on_dark = dict(_DARK) | {hue: _on_dark(hue) for hue in hues if hue not in _DARK}
    light = "".join(f"--s{i}:{hue};" for i, hue in enumerate(hues))
    dark = "".join(f"--s{i}:{on_dark[hue]};" for i, hue in enumerate(hues))
    series = "".join(f".s{i}{{color:var(--s{i})}}" for i in range(len(hues)))
    drawn = "".join(
        f'figure svg{free} [{where}="{short_hex(here)}"]{{{where}:{there}}}'
        for here, there in on_dark.items()
        for where, free in (("fill", FREE if here in (*PALETTE, *hues) else ""), ("stroke", ""))
    )
    return f":root{{{light}}}{series}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}{drawn}}}"


def short_hex(colour: str) -> str:
    """`#aabbcc` as `#abc`, which is how drawings have it."""
    pairs = colour[1::2], colour[2::2]
    return f"#{pairs[0]}" if pairs[0] == pairs[1] else colour


def marker(series: int) -> str:
    """The mark of a contender as a character."""
    return MARKERS[SHAPES[series % len(SHAPES)]]


def contrast(one: str, other: str) -> float:
    """How far two colours are apart in lightness, from 1 to 21, as WCAG 2 has it."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255.0 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _on_dark(colour: str) -> str:
    """The same with as much white as it needs to stand out from dark paper."""
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    for tenths in range(11):
        lighter = "#" + "".join(f"{part + (255 - part) * tenths // 10:02x}" for part in parts)
        if contrast(lighter, DARK_PAPER) >= LEAST_CONTRAST:
            return lighter
    return LIGHT_PAPER
