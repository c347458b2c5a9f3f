"""Lists of what is asked for: `weight METHOD path @body type` a line, all but the path may be left out."""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationInfo

from bakeoff.core.system.bounded_read import MIB, read_text_bounded
from bakeoff.core.units import format_size
from bakeoff.kinds.web.settings.body import BODIES_BYTES, RequestBody, check_body, parse_method, read_body
from bakeoff.plan.settings.fields import Strict, is_resolved

FORM = "`weight path`, such as `3 /index.html`, or `weight METHOD path @FILE TYPE`"
_WEIGHT = re.compile(r"[-+.\d]|inf|nan", re.ASCII)
_TYPE = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z/;=\"-]{1,200}")


class UrlLine(Strict):
    """A line; no `method` means that of the plan."""

    weight: float
    path: str
    method: str | None = None
    body: RequestBody | None = None
    content_type: str | None = None

    @property
    def name(self) -> str:
        """How results call it."""
        return self.path if self.method is None else f"{self.method} {self.path}"


def _read_urls(value: Any, info: ValidationInfo) -> Any:
    """`#` begins a comment."""
    if value is None:
        return value
    if is_resolved(info):  # a list of weight and path is of a plan of version 0.1
        pairs = isinstance(value, (list, tuple)) and all(isinstance(line, (list, tuple)) for line in value)
        return [UrlLine(weight=line[0], path=line[1]) for line in value if len(line) == 2] if pairs else value
    if not isinstance(value, str):
        raise ValueError(f"name a file with lines of {FORM}")
    path = Path(value).expanduser()
    try:
        lines = read_text_bounded(path, 16 * MIB).splitlines()
    except OSError as error:
        raise ValueError(f"{value} cannot be read ({error.strerror}): check the path") from None
    except UnicodeDecodeError:
        raise ValueError(f"{value} is not text in UTF-8") from None
    urls: list[UrlLine] = []
    bodies_bytes = 0
    for number, line in enumerate(lines, 1):
        if line.split("#")[0].strip():
            urls.append(_line(path, f"{value} line {number}", line))
            bodies_bytes += urls[-1].body.size_bytes if urls[-1].body else 0
        if bodies_bytes > BODIES_BYTES:
            raise ValueError(f"{value}: the bodies have more than {format_size(BODIES_BYTES)} together: use fewer")
    if not urls:
        raise ValueError(f"{value} names no path: write lines of {FORM}")
    return urls


def _line(listing: Path, where: str, line: str) -> UrlLine:
    words = line.split(" #")[0].split()
    wrong = ValueError(f"{where}: {line.strip()!r} is not {FORM}")
    weight = words.pop(0) if len(words) > 1 and _WEIGHT.match(words[0]) else "1"
    method = words.pop(0) if len(words) > 1 and words[0][0].isalpha() else None
    path, *rest = words
    try:
        share = float(weight)
    except ValueError:
        raise wrong from None
    if not 0 < share < float("inf") or not path.startswith("/") or len(rest) > 2:
        raise wrong
    if rest and (not rest[0].startswith("@") or len(rest[0]) < 2):
        raise wrong
    if method is None and rest:
        raise ValueError(f"{where}: name the method before the path of a line with a body, such as POST")
    try:
        method = None if method is None else parse_method(method)
        if rest and method is not None:
            check_body(method, rest[0])
        body = read_body(listing.parent / rest[0][1:]) if rest else None
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    if len(rest) == 2 and not _TYPE.fullmatch(rest[1]):
        raise ValueError(f"{where}: {rest[1]!r} is no content type, such as application/json")
    return UrlLine(weight=share, path=path, method=method, body=body, content_type=rest[1] if len(rest) == 2 else None)


Urls = Annotated[tuple[UrlLine, ...] | None, BeforeValidator(_read_urls)]
