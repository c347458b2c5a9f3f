"""What lines of other methods than GET and HEAD are replayed with: a folder with bodies and the list of them.

`bodies.txt` in the folder has a line for each: method, path as in the log, file in the folder (`-` for no body) and,
if there is one, the content type. `#` begins a comment. A path without a query stands for those with any; several lines
for one method and path are used in turn.

    POST /login login.json application/json
    DELETE /cart -
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bakeoff.core.system.bounded_read import MIB, read_bounded, read_text_bounded
from bakeoff.core.units import format_size

LIST = "bodies.txt"
FORM = "METHOD PATH FILE TYPE, such as `POST /login login.json application/json`"
LIST_BYTES = MIB
BODY_BYTES = 16 * MIB
ALL_BYTES = 256 * MIB
_METHOD = re.compile(r"[A-Z][A-Z-]{0,31}")
_PATH = re.compile(r"/[^\x00-\x20\x7f]*")
_TYPE = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z/;=\" -]{1,200}")
# Those without bodies are replayed anyway, or can have none.
_NONE = {"GET", "HEAD", "CONNECT", "TRACE"}


@dataclass(frozen=True)
class GivenBody:
    """What is sent for lines with this method and path."""

    method: str
    path: str
    content_type: str
    content: bytes

    def as_tuple(self) -> tuple[str, str, str, bytes]:
        """As the engine takes it."""
        return self.method, self.path, self.content_type, self.content


def read_bodies(folder: str | None) -> Sequence[GivenBody]:
    """The bodies that a folder has; none without a folder. Raises ValueError with a sentence."""
    if folder is None:
        return ()
    listing = Path(folder) / LIST
    try:
        lines = read_text_bounded(listing, LIST_BYTES).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise ValueError(f"{listing} cannot be read ({why}): list the bodies there as {FORM}") from None
    bodies: list[GivenBody] = []
    for number, line in enumerate(lines, 1):
        words = line.split(maxsplit=3)
        if words and not words[0].startswith("#"):
            bodies.append(_body(Path(folder), f"{listing} line {number}", words))
        if sum(len(body.content) for body in bodies) > ALL_BYTES:
            raise ValueError(f"{listing}: the bodies have more than {format_size(ALL_BYTES)} together: use fewer")
    if not bodies:
        raise ValueError(f"{listing} lists nothing: write lines of {FORM}")
    return bodies


def _body(folder: Path, where: str, words: list[str]) -> GivenBody:
    if len(words) < 3 or not _METHOD.fullmatch(words[0]) or not _PATH.fullmatch(words[1]):
        raise ValueError(f"{where}: this is not {FORM}")
    method, path, name = words[:3]
    content_type = words[3].strip() if len(words) > 3 else ""
    if method in _NONE:
        raise ValueError(f"{where}: {method} requests have no body: leave the line out")
    if content_type and not _TYPE.fullmatch(content_type):
        raise ValueError(f"{where}: {content_type!r} is no content type, such as application/json")
    if name == "-":
        return GivenBody(method, path, content_type, b"")
    if "/" in name or name == "..":
        raise ValueError(f"{where}: name a file in {folder}, not {name}")
    try:
        return GivenBody(method, path, content_type, read_bounded(folder / name, BODY_BYTES))
    except OSError as error:
        raise ValueError(f"{where}: {folder / name} cannot be read ({error.strerror})") from None
