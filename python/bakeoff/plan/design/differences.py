"""How a plan differs from what the publications did: setting by setting, in words."""

from collections.abc import Container, Mapping
from typing import Any

from pydantic.fields import FieldInfo

from bakeoff.core.redact import hidden
from bakeoff.core.units import format_duration, format_share
from bakeoff.plan.kind import PlanPart
from bakeoff.plan.settings.client_options import keys_of
from bakeoff.plan.settings.fields import SettingText, extra_of
from bakeoff.plan.settings.shared import CommonSettings
from bakeoff.plan.suites import PUBLISHED, Suite


def published_settings(suite: Suite, settings: type[CommonSettings]) -> CommonSettings | None:
    """The settings of the size `published`; None for a suite that nothing was published of."""
    return settings.model_validate(suite.defaults(PUBLISHED)) if PUBLISHED in suite.size else None


def differences(
    suite: Suite, settings: CommonSettings, own: Mapping[str, CommonSettings], idle: Container[str] = ()
) -> tuple[str, ...]:
    """One sentence part for each setting that is not as published: `length: 2.5s, published 5m`. `own` are those of
    each contender, which is named where not all have the same. What is `idle`, as a plan file names it, does nothing
    here and is no difference; what stands in its place is told beside its published value.
    """
    published = published_settings(suite, type(settings))
    if published is None:
        return ()
    parts = []
    for name, field in type(settings).model_fields.items():
        # What says where the work is done, of which size the servers are, and how the tool watches them, is no part
        # of a publication.
        if extra_of(field).get("own"):
            continue
        key, theirs = field.alias or name, getattr(published, name)
        if key in idle:
            continue
        was = (_replaced(published, key, idle) if theirs is None else "") or text_of(name, field, theirs)
        values = {whose: getattr(each, name) for whose, each in own.items()} or {"": getattr(settings, name)}
        first = next(iter(values.values()))
        if all(value == first for value in values.values()):
            values = {"": first}
        parts += [
            f"{key}{f' of {whose}' if whose else ''}: {text_of(name, field, mine)}, published {_or_none(was)}"
            for whose, mine in values.items()
            if mine != theirs
        ]
    return tuple(parts)


def _replaced(published: CommonSettings, key: str, idle: Container[str]) -> str:
    """What publications had in place of a setting: the values of those that it puts out of use."""
    fields = {field.alias or name: (name, field) for name, field in type(published).model_fields.items()}
    gone = [other for other, by in type(published).DISPLACES.items() if key in by and other in idle]
    return ", ".join(f"{other} {text_of(*fields[other], getattr(published, fields[other][0]))}" for other in gone)


def _or_none(text: str) -> str:
    return "none" if text == "-" else text


def client_options_text(part: PlanPart, own: Mapping[str, Any]) -> str:
    """What a contender has otherwise than the run (plain JSON values by field name), for a line: `http 2`. Secrets are
    hidden.
    """
    fields, shown = part.settings.model_fields, hidden(dict(own))
    typed = {name: tuple(value) if isinstance(value, list) else value for name, value in shown.items()}
    return ", ".join(
        f"{key} {text_of(name, fields[name], typed[name])}" for key, name in keys_of(part).items() if name in typed
    )


def text_of(name: str, field: FieldInfo, value: Any) -> str:
    """The value of a setting as a plan file or a flag has it."""
    if value is None:
        return "auto" if "auto" in (field.description or "") else "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    for part in field.metadata:
        if isinstance(part, SettingText):
            return part.of(value)
    if hasattr(value, "plan_text"):
        return str(value.plan_text)
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
    return f"{item:g}" if isinstance(item, float) else str(getattr(item, "plan_text", item))
