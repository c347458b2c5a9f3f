"""Colours, marks and dashes of contenders, tones of parts, and the inks of charts, on light and on dark paper.

Charts are drawn in the colours of light paper; the rules of `stylesheet` give them those of dark paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

LIGHT_PAPER, DARK_PAPER = "#ffffff", "#15181c"
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
    report.
    """

    among: tuple[str, ...]

    def __new__(cls, names: Iterable[str], among: tuple[str, ...] = ()) -> Placed:
        """`among` has all of `names`, or is empty."""
        made = super().__new__(cls, names)
        made.among = among
        return made


def place_of(name: str, names: Sequence[str]) -> int:
    """The place by which a contender, one of `names`, has its colour and mark."""
    among = names.among if isinstance(names, Placed) else ()
    return (among or names).index(name)


def stylesheet() -> str:
    """Rules for a page: `--s0` … are the colours of contenders, `.s0` … text in them, and drawings follow the paper."""
    light = "".join(f"--s{i}:{colour};" for i, colour in enumerate(PALETTE))
    dark = "".join(f"--s{i}:{colour};" for i, colour in enumerate(ON_DARK))
    series = "".join(f".s{i}{{color:var(--s{i})}}" for i in range(len(PALETTE)))
    drawn = "".join(
        f'figure svg{free} [{where}="{short_hex(here)}"]{{{where}:{there}}}'
        for here, there in _DARK.items()
        for where, free in (("fill", FREE if here in PALETTE else ""), ("stroke", ""))
    )
    return f":root{{{light}}}{series}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}{drawn}}}"


def short_hex(colour: str) -> str:
    """`#aabbcc` as `#abc`, which is how drawings have it."""
    pairs = colour[1::2], colour[2::2]
    return f"#{pairs[0]}" if pairs[0] == pairs[1] else colour


def marker(series: int) -> str:
    """The mark of a contender as a character."""
    return MARKERS[SHAPES[series % len(SHAPES)]]


def colour(series: int) -> str:
    """The colour of a contender."""
    return PALETTE[series % len(PALETTE)]
