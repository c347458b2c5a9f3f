"""Sizes as storage tools write them, where k is 1,024."""

from __future__ import annotations

import re

_SIZE = re.compile(r"(\d{1,15})\s*([kmgtKMGT]?)(?:i?[bB])?")
_SCALES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def binary_size(text: str) -> int | None:
    """Bytes of `4k`, `4KiB`, `1M`, `4096`; None for ranges and anything else."""
    found = _SIZE.fullmatch(text.strip())
    return None if found is None else int(found[1]) * _SCALES[found[2].lower()]
