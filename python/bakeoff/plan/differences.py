"""How a plan differs from what the publications did: setting by setting, in words."""

from collections.abc import Mapping
from typing import Any

from pydantic.fields import FieldInfo

from bakeoff.plan.fields import Written, extra_of
from bakeoff.plan.settings import CommonSettings
from bakeoff.plan.suites import PUBLISHED, Suite
from bakeoff.units import format_duration, format_share


def published_settings(suite: Suite, settings: type[CommonSettings]) -> CommonSettings | None:
    """The settings of the size `published`; None for a suite that nothing was published of."""
    return settings.model_validate(suite.defaults(PUBLISHED)) if PUBLISHED in suite.size else None


def differences(suite: Suite, settings: CommonSettings) -> tuple[str, ...]:
    """One sentence part for each setting that is not as published: `length: 2.5s, published 5m`."""
    published = published_settings(suite, type(settings))
    if published is None:
        return ()
    parts = []
    for name, field in type(settings).model_fields.items():
        key, mine, theirs = field.alias or name, getattr(settings, name), getattr(published, name)
        # What says where the work is done, of which size the servers are, and how the tool watches them, is no part
        # of a publication.
        if not extra_of(field).get("own") and mine != theirs:
            parts.append(f"{key}: {text_of(name, field, mine)}, published {text_of(name, field, theirs)}")
    return tuple(parts)


def text_of(name: str, field: FieldInfo, value: Any) -> str:
    """The value of a setting as a plan file or a flag has it."""
    if value is None:
        return "auto" if "auto" in (field.description or "") else "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    for part in field.metadata:
        if isinstance(part, Written):
            return part.of(value)
    if hasattr(value, "written"):
        return str(value.written)
    if isinstance(value, float):
        is_share = name.endswith(("share", "working_set"))
        return format_share(value) if is_share else format_duration(value) if name.endswith("_s") else f"{value:g}"
    if isinstance(value, Mapping):
        return ",".join(f"{key}={weight:g}" for key, weight in value.items()) or "-"
    if isinstance(value, tuple):
        return ",".join(map(_item, value)) or "-"
    return str(value)


def _item(item: Any) -> str:
    """One of several values; of a table such as `1=90,3=10` one place with its share."""
    if isinstance(item, tuple) and len(item) == 2:
        return f"{_item(item[0])}={_item(item[1])}"
    return f"{item:g}" if isinstance(item, float) else str(getattr(item, "written", item))
