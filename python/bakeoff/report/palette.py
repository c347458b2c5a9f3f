"""Colours, markers and dashes. The stylesheet of the page repeats the colours for dark paper."""

from __future__ import annotations

# Okabe and Ito's colours, which all common kinds of colour blindness can tell apart, then three more.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B8860B", "#56B4E9", "#7F3C8D", "#666666")
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
STEP_COLOURS = ("#4E79A7", "#F2A541", "#76B7B2", "#B07AA1", "#9C9C9C", "#E15759")
INK = "#2b2f36"
MUTED = "#5d6673"
GRID = "#e6e9ed"
ZONE = "#eef1f4"


def marker(series: int) -> str:
    """The mark of a contender as a character."""
    return MARKERS[SHAPES[series % len(SHAPES)]]


def colour(series: int) -> str:
    """The colour of a contender."""
    return PALETTE[series % len(PALETTE)]
