"""A plan as given on the command line, written as the plan file that says the same."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bakeoff.plan.load import PlanInput


def plan_to_toml(given: "PlanInput") -> str:
    """The text of a plan file. Only what was given is written: defaults stay those of the suite."""
    parts = [table_to_toml("[plan]", given.plan)]
    if given.settings:
        parts.append(table_to_toml("[settings]", given.settings))
    if given.capacity is not None:
        parts.append(table_to_toml("[capacity]", given.capacity))
    if given.fleet:
        parts.append(table_to_toml("[fleet]", given.fleet))
    parts += [table_to_toml(f"[agents.{_key(name)}]", table) for name, table in given.agents.items()]
    parts += [table_to_toml("[[contender]]", contender) for contender in given.contenders]
    return "\n".join(parts)


def table_to_toml(head: str, table: Mapping[str, Any]) -> str:
    """One table, its inner ones on a line each."""
    plain = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    lines = [head, *(f"{_key(key)} = {_value(value)}" for key, value in plain.items())]
    lines += [
        f"{_key(key)} = {{ {', '.join(f'{_key(k)} = {_value(v)}' for k, v in value.items())} }}"
        for key, value in inner.items()
    ]
    return "\n".join(lines) + "\n"


def _key(key: str) -> str:
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
