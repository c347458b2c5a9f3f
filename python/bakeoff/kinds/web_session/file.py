"""Session files: the steps of a session in TOML, read when the plan is made, and kept in the plan.

[[step]]
name = "login page"
path = "/login"
[step.take]
csrf = { between = ['name="csrf" value="', '"'] }

[[step]]
name = "log in"
method = "POST"
path = "/login"
headers = ["Content-Type: application/x-www-form-urlencoded"]
body = "user=u{client}&csrf={csrf:url}"
expect = { status = 200, text = "Welcome" }
"""

import difflib
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo

from bakeoff.core.system.bounded_read import MIB, loads_toml, read_text_bounded
from bakeoff.core.units import parse_duration
from bakeoff.kinds.web.settings.body import BODY_BYTES, RequestBody, check_body, parse_method, read_body
from bakeoff.kinds.web.settings.statuses import SUCCESS, parse_expect
from bakeoff.plan.settings.fields import Strict, is_resolved

FILE_BYTES = 4 * MIB
# Those of the engine (`crates/workloads/src/web_session/plan.rs`).
STEPS_MAX = 100
VALUES_MAX = 100
PAUSE_MAX_S = 86_400.0
# The value that nobody takes: the number of the client.
CLIENT = "client"
ESCAPES = ("url", "json", "none")
# Fields that a session writes itself.
_OWN_FIELDS = {"host", "connection", "content-length", "transfer-encoding", "cookie"}
_NAME = re.compile(r"[^\x00-\x1f\x7f/]{1,60}")
_VALUE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}")
_FIELD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_PLACE = re.compile(rb"\{([A-Za-z_][A-Za-z0-9_]*)(?::([a-z]+))?\}")
_COOKIE = re.compile(r"[^\x00-\x20\x7f=;,]{1,200}")
_POINTER = re.compile(r"(/([^~/]|~[01])*){0,32}")
_EXAMPLES = {
    "header": '"Location"',
    "cookie": '"sid"',
    "json": '"/order/0/id"',
    "between": "['before', 'after']",
}
_STEP_KEYS = ("name", "method", "path", "headers", "body", "body_file", "fill", "expect", "take", "think")


class Take(Strict):
    """A value of a reply; `what` is the name of a field or a cookie, a JSON pointer, or the marks around it."""

    name: str
    way: Literal["header", "cookie", "json", "between"]
    what: tuple[str, ...]


class Step(Strict):
    """One request of a session and what its reply must be; with `fill` the body has values in it."""

    name: str
    method: str
    path: str
    headers: tuple[tuple[str, str], ...] = ()
    body: RequestBody | None = None
    fill: bool = True
    expect: str = SUCCESS
    texts: tuple[str, ...] = ()
    take: tuple[Take, ...] = ()
    think_s: float = Field(0.0, ge=0.0, le=PAUSE_MAX_S)


class SessionFile(Strict):
    """A session as its file has it; `cookies` says whose they are: a session's, a client's, or not read (off)."""

    name: str
    cookies: Literal["session", "client", "off"]
    steps: tuple[Step, ...] = Field(min_length=1, max_length=STEPS_MAX)

    @property
    def pauses_s(self) -> float:
        """The pauses between its steps; what follows the last one is no part of it."""
        return sum(step.think_s for step in self.steps[:-1])


def _read(value: Any, info: ValidationInfo) -> Any:
    if value is None or is_resolved(info):
        return value
    if not isinstance(value, str):
        raise ValueError("name a session file, such as session.toml")
    return read_session(Path(value).expanduser())


def read_session(path: Path) -> SessionFile:
    """The session that a file holds. Raises ValueError with a sentence."""
    try:
        table = loads_toml(read_text_bounded(path, FILE_BYTES))
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}): check the path") from None
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply: a session has a table for each step") from None
    except ValueError as error:
        raise ValueError(f"{path} is not valid TOML: {error}") from None
    try:
        return _session(table, path)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _session(table: Mapping[str, Any], path: Path) -> SessionFile:
    _known(table, ("cookies", "step"))
    cookies = table.get("cookies", "session")
    if cookies not in ("session", "client", "off"):
        raise ValueError('cookies: say "session" (each begins without), "client" (kept) or "off"')
    steps = table.get("step")
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps) or not steps:
        raise ValueError("write a table [[step]] for each request of the session, with its path")
    if len(steps) > STEPS_MAX:
        raise ValueError(f"a session has {STEPS_MAX} steps at most, not {len(steps)}")
    values = {CLIENT}
    read: list[Step] = []
    for number, each in enumerate(steps, 1):
        name = each.get("name", f"{number}")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"step {number}: its name is a text of up to 60 characters, without /")
        if any(name == other.name for other in read):
            raise ValueError(f"step {name}: another step has that name")
        try:
            read.append(_step(name, each, path.parent, values, cookies))
        except ValueError as error:
            raise ValueError(f"step {name}: {error}") from None
    if len(values) > VALUES_MAX:
        raise ValueError(f"{VALUES_MAX} values at most are taken, the client's number among them")
    return SessionFile(name=path.name, cookies=cookies, steps=tuple(read))


def _step(name: str, table: Mapping[str, Any], folder: Path, values: set[str], cookies: str) -> Step:
    """One step; the names of what it takes are added to `values`."""
    _known(table, _STEP_KEYS)
    method = parse_method(_text(table, "method", "GET"))
    path = _text(table, "path", "")
    if any(ord(c) <= 32 or ord(c) == 127 for c in path) or not (path.startswith("/") or _PLACE.match(path.encode())):
        raise ValueError("path: write one that begins with / or a value, without blanks: /cart/{item}")
    _check_places("path", path.encode(), values, "url")
    headers = _headers(table.get("headers", []), values)
    body, fill = _body(table, folder, method, values)
    expect, texts = _expected(table.get("expect", SUCCESS))
    take = _takes(table.get("take", {}), cookies)
    if method == "HEAD" and (texts or any(one.way in ("json", "between") for one in take)):
        raise ValueError("replies to HEAD have no body to look at: ask by GET")
    values |= {one.name for one in take}
    return Step(
        name=name,
        method=method,
        path=path,
        headers=headers,
        body=body,
        fill=fill,
        expect=expect,
        texts=texts,
        take=take,
        think_s=_pause(table.get("think", 0)),
    )


def _known(table: Mapping[str, Any], keys: Sequence[str]) -> None:
    for key in table:
        if key not in keys:
            near = difflib.get_close_matches(key, keys, 1)
            raise ValueError(
                f"there is no {key!r}" + (f": did you mean {near[0]}?" if near else f": {', '.join(keys)}")
            )


def _text(table: Mapping[str, Any], key: str, default: str) -> str:
    value = table.get(key, default)
    if not isinstance(value, str):
        raise ValueError(f"{key} is a text")
    return value


def _texts(value: Any, what: str) -> tuple[str, ...]:
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not all(isinstance(text, str) and text for text in found):
        raise ValueError(f"{what} is a text, or a list of texts, none of them empty")
    return tuple(found)


def _pause(value: Any) -> float:
    if isinstance(value, str):
        pause_s = parse_duration(value)
        if pause_s <= PAUSE_MAX_S:
            return pause_s
    elif value == 0 and not isinstance(value, bool):
        return 0.0
    raise ValueError('think: write a time with its unit, such as "500ms", a day at most')


def _headers(value: Any, values: set[str]) -> tuple[tuple[str, str], ...]:
    found = []
    for line in _texts(value, "headers") if value else ():
        name, colon, content = (part.strip() for part in line.partition(":"))
        if not colon or not _FIELD.fullmatch(name) or not content or any(ord(c) < 32 or ord(c) == 127 for c in content):
            raise ValueError(f"headers: {line!r} is not a header: write 'Name: value'")
        if name.lower() in _OWN_FIELDS:
            raise ValueError(f"headers: {name} is set by the session itself: leave it out")
        _check_places("headers", content.encode(), values, "none")
        found.append((name, content))
    return tuple(found)


def _body(table: Mapping[str, Any], folder: Path, method: str, values: set[str]) -> tuple[RequestBody | None, bool]:
    fill = table.get("fill", True)
    if not isinstance(fill, bool) or ("fill" in table and "body_file" not in table):
        raise ValueError("fill = false lets a body_file be sent as it is, braces and all")
    if "body" in table and "body_file" in table:
        raise ValueError("body or body_file: leave one of the two out")
    body = None
    if "body_file" in table:
        body = read_body(folder / _text(table, "body_file", ""))
    elif "body" in table:
        content = _text(table, "body", "").encode()
        if len(content) > BODY_BYTES:
            raise ValueError(f"body: {BODY_BYTES // MIB} MiB at most")
        digest = hashlib.sha256(content).hexdigest()
        body = RequestBody(name="body", size_bytes=len(content), sha256=digest, content=content.hex())
    if body is not None:
        check_body(method, "body")
        if fill:
            _check_places("body", bytes.fromhex(body.content), values, None)
    return body, fill


def _check_places(what: str, text: bytes, values: set[str], unnamed: str | None) -> None:
    """Raise ValueError for a value that no step takes before, or that does not say how it is written."""
    for place in _PLACE.finditer(text):
        whole, name = place[0].decode(), place[1].decode()
        how = unnamed if place[2] is None else place[2].decode()
        if name not in values:
            near = difflib.get_close_matches(name, values, 1)
            meant = f": did you mean {{{near[0]}}}?" if near else f" (there are {', '.join(sorted(values))})"
            raise ValueError(f"{what}: no step before takes {whole}{meant}")
        if how is None and name != CLIENT:
            ways = ", ".join(f"{{{name}:{escape}}}" for escape in ESCAPES)
            raise ValueError(f"{what}: say how {whole} is written there, one of {ways}")
        if how not in (None, *ESCAPES):
            raise ValueError(f"{what}: {whole} is written in no known way: {', '.join(ESCAPES)}")


def _expected(value: Any) -> tuple[str, tuple[str, ...]]:
    """Statuses and texts."""
    table = value if isinstance(value, dict) else {"status": value}
    _known(table, ("status", "text"))
    status = table.get("status", SUCCESS)
    try:
        expect = parse_expect(status)
    except ValueError as error:
        raise ValueError(f"expect: {error}") from None
    if "different" in expect:
        raise ValueError("expect: replies of sessions are not compared: leave `different` out")
    return expect, _texts(table["text"], "expect: text") if "text" in table else ()


def _takes(value: Any, cookies: str) -> tuple[Take, ...]:
    if not isinstance(value, dict):
        raise ValueError("take: write csrf = { between = ['value=\"', '\"'] } in a table [step.take]")
    return tuple(_take(name, way, cookies) for name, way in value.items())


def _take(name: str, table: Any, cookies: str) -> Take:
    if not _VALUE.fullmatch(name) or name == CLIENT:
        raise ValueError(f"take: {name} can be no value: use letters, digits and _, and not {CLIENT}, its own number")
    if not isinstance(table, dict) or len(table) != 1 or next(iter(table)) not in _EXAMPLES:
        raise ValueError(f'take: {name}: say one of {", ".join(_EXAMPLES)}, such as {name} = {{ header = "Location" }}')
    way, given = next(iter(table.items()))
    what = _texts(given, f"take: {name}: {way}") if given != "" else ("",)
    if way == "between":
        is_right = len(what) == 2
    else:
        form = {"header": _FIELD, "cookie": _COOKIE, "json": _POINTER}[way]
        is_right = len(what) == 1 and form.fullmatch(what[0]) is not None
    if not is_right:
        raise ValueError(f"take: {name}: write {way} = {_EXAMPLES[way]}")
    if way == "cookie" and cookies == "off":
        raise ValueError(f"take: {name}: cookies are off")
    return Take.model_validate({"name": name, "way": way, "what": what})


OptionalSession = Annotated[SessionFile | None, BeforeValidator(_read)]
