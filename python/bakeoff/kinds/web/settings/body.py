"""What requests carry: a file read when the plan is made, and kept in the plan."""

import hashlib
import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo

from bakeoff.core.system.bounded_read import MIB, read_bounded
from bakeoff.plan.settings.fields import Strict, is_resolved

BODY_BYTES = 4 * MIB
# Of all requests of a plan together, each with its own.
BODIES_BYTES = 64 * MIB
# Methods that change nothing on a server that keeps to RFC 9110 (9.2.1): these may be tried before timing.
SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
# Of these a body means nothing (RFC 9110, 9.3).
WITHOUT_BODY = frozenset({"GET", "HEAD", "TRACE"})
_KNOWN = SAFE | {"POST", "PUT", "PATCH", "DELETE"}
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}")


class RequestBody(Strict):
    """The bytes of a file: `content` is hexadecimal."""

    name: str
    size_bytes: int = Field(ge=0, le=BODY_BYTES)
    sha256: str
    content: str


def read_body(path: Path) -> RequestBody:
    """The body that a file holds. Raises ValueError with a sentence."""
    try:
        content = read_bounded(path, BODY_BYTES)
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}): check the path") from None
    digest = hashlib.sha256(content).hexdigest()
    return RequestBody(name=path.name, size_bytes=len(content), sha256=digest, content=content.hex())


def _read(value: Any, info: ValidationInfo) -> Any:
    if value is None or is_resolved(info):
        return value
    if not isinstance(value, str):
        raise ValueError("name a file, such as body.json")
    return read_body(Path(value).expanduser())


def parse_method(value: Any) -> Any:
    """A method as it is sent; the usual ones may be given in small letters. Raises ValueError when it is none."""
    if not isinstance(value, str):
        return value
    method = value.upper() if value.upper() in _KNOWN else value
    if not _TOKEN.fullmatch(method):
        raise ValueError(f"{value!r} is no method: write GET, HEAD, POST, PUT, or another word of HTTP")
    if method.upper() == "CONNECT":
        raise ValueError("CONNECT makes a tunnel, and no reply ends: give another method")
    return method


def check_body(method: str, what: str) -> None:
    """Raise ValueError for a body with a method that has none."""
    if method in WITHOUT_BODY:
        raise ValueError(f"{what}: {method} requests have no body: give method POST or PUT, or leave the body out")


OptionalBody = Annotated[RequestBody | None, BeforeValidator(_read)]
Method = Annotated[str, BeforeValidator(parse_method)]
