"""Tables as TOML."""

import json
from collections.abc import Mapping
from typing import Any


def table_to_toml(head: str, table: Mapping[str, Any]) -> str:
    """One table, its inner ones on a line each."""
    plain = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    lines = [head, *(line_to_toml(key, value) for key, value in plain.items())]
    lines += [
        f"{key_to_toml(key)} = {{ {', '.join(f'{key_to_toml(k)} = {_value(v)}' for k, v in value.items())} }}"
        for key, value in inner.items()
    ]
    return "\n".join(lines) + "\n"


def line_to_toml(key: str, value: Any) -> str:
    """`key = value`, for a value that is no table."""
    return f"{key_to_toml(key)} = {_value(value)}"


def key_to_toml(key: str) -> str:
    """A key, in quotes where it needs them."""
    return key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    # JSON's escapes are TOML's, but for DEL, which TOML wants escaped.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
