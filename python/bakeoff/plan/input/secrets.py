"""Values that are nobody else's: in plan files and on command lines an environment variable may stand for them.

`basic_auth = "$BAKEOFF_BASIC_AUTH"`: what stands for one has none of the marks that such a value needs (`:` or `=`), so
that the two cannot be taken for each other.
"""

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ValidationInfo
from pydantic.fields import FieldInfo

from bakeoff.plan.settings.fields import extra_of, is_resolved

# What is left out of anything that is made to be passed on, by a part of its name.
SECRET = ("password", "passwd", "secret", "token", "authorization", "basic_auth", "cookie", "api-key", "api_key")
_VARIABLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


def from_environment(value: Any, info: ValidationInfo) -> Any:
    """The value of the variable that stands for it, for each of several. Raises ValueError where there is none."""
    if is_resolved(info):
        return value
    if isinstance(value, (list, tuple)):
        return type(value)(from_environment(item, info) for item in value)
    variable = _VARIABLE.fullmatch(value) if isinstance(value, str) else None
    if variable is None:
        return value
    if not os.environ.get(variable[1]):
        raise ValueError(f"the environment has no {variable[1]}: export {variable[1]}='…' with what it stands for")
    return os.environ[variable[1]]


def masked(key: str, field: FieldInfo, value: Any, whose: str = "") -> tuple[Any, Sequence[str]]:
    """A value as a plan file may have it, and the variables that stand in it for secrets; `whose` it is, where it is
    not that of the whole run.
    """
    kind = extra_of(field).get("secret")
    if kind is None:
        return value, ()
    names = _names("_".join(filter(None, ("BAKEOFF", re.sub(r"[^A-Z0-9]+", "_", whose.upper()), key.upper()))))
    if isinstance(value, str):
        return _mask(value, kind, names)
    shown = [_mask(item, kind, names) for item in value]
    return [item for item, _ in shown], [name for _, used in shown for name in used]


def _mask(text: str, kind: object, names: Iterator[str]) -> tuple[str, Sequence[str]]:
    """`kind` is `all`, or `named` where only what is called like a secret is one: `Authorization: …`."""
    name = text.partition(":")[0].lower()
    if _VARIABLE.fullmatch(text) or (kind == "named" and not any(part in name for part in SECRET)):
        return text, ()
    variable = next(names)
    return f"${variable}", (variable,)


def _names(first: str) -> Iterator[str]:
    yield first
    number = 2
    while True:
        yield f"{first}_{number}"
        number += 1
