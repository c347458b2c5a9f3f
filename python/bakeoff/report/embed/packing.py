"""Data inside a page: as it is where it is short, packed where it would be the better part of the page."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from typing import Any

from bakeoff.core.errors import GeneratorError

PLAIN, PACKED = "application/json", "application/gzip;base64"
"""What the `type` of a script element says."""
SHORT = 8_192
"""So many characters are left as they are, to be read by eye."""
MOST_UNPACKED = 64 << 20


def script_of(value: Any) -> tuple[str, str]:
    """Type and content of a script element that holds `value`: nothing in it can end the element."""
    # Signs of other scripts as escapes: what steers a terminal or turns a line round would be unseen here.
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, default=str)
    if len(text) > SHORT:
        packed = gzip.compress(text.encode(), compresslevel=9, mtime=0)
        return PACKED, base64.b64encode(packed).decode()
    return PLAIN, text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def text_of(type_: str, content: str) -> str:
    """The JSON of a script element. Raises GeneratorError for what is not packed as it says, or is larger than any
    report.
    """
    if type_ != PACKED:
        return content
    try:
        packed = base64.b64decode(content.strip(), validate=True)
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
        text = unpacker.decompress(packed, MOST_UNPACKED)
    except (ValueError, zlib.error) as error:  # also letters that are none of base64
        raise GeneratorError(f"the data in this report cannot be unpacked ({error}): write the report again") from None
    if not unpacker.eof:
        raise GeneratorError("the data in this report is cut off, or larger than any report: write the report again")
    return text.decode("utf-8", "replace")
