"""Small files of the system, such as those below /proc and /sys."""

from pathlib import Path


def read_text(path: Path) -> str:
    """What is in the file, without the spaces around it; empty when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def whole(text: str) -> int | None:
    """The number that a text is, None when it is none or has a sign."""
    return int(text) if text.isascii() and text.isdigit() else None
