"""Tables of Markdown."""

from collections.abc import Iterable, Sequence


def cell(text: str) -> str:
    """Text that stands in a cell as it is."""
    for sign in "\\|<>*_[]":
        text = text.replace(sign, f"\\{sign}")
    return text


def code(text: str) -> str:
    """Text as code in a cell, where only the bar ends it."""
    return f"`{text}`".replace("|", "\\|") if text else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are ready; ends with an empty line."""
    lines = [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines) + "\n"
