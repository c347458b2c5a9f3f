"""Client options: settings of the load that contenders may have differently. They say how clients talk with a server.

    [[contender]]
    name = "h2"
    address = "https://192.0.2.1"
    [contender.settings]
    http = "2"

What is asked, how much of it and how long is the same for all contenders, or nothing could be compared. Each kind says
which of its settings are client options (`PlanPart.client_options`). A plan holds of each contender what it has
otherwise than the run: code that reads a client option asks `Plan.settings_of`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from bakeoff.core.errors import PlanError
from bakeoff.plan.input.messages import did_you_mean, explain
from bakeoff.plan.kind import plan_part
from bakeoff.plan.settings.fields import RESOLVED

if TYPE_CHECKING:
    from bakeoff.plan.kind import PlanPart
    from bakeoff.plan.settings.shared import CommonSettings

Table = Mapping[str, Any]
FORM = "write NAME:SETTING=VALUE, such as --contender-setting h2:http=2"


def parse_client_options(words: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Settings by contender, of `NAME:SETTING=VALUE` words. One that is there twice has several values, as headers
    have. Raises PlanError that shows the form.
    """
    found: dict[str, dict[str, Any]] = {}
    for word in words:
        name, colon, rest = word.partition(":")
        key, equals, value = rest.partition("=")
        key = key.strip().replace("-", "_")
        if not (name and colon and key and equals):
            raise PlanError(f"--contender-setting {word!r}: {FORM}")
        own = found.setdefault(name, {})
        before = own.get(key)
        own[key] = value if before is None else [*(before if isinstance(before, list) else [before]), value]
    return found


def keys_of(part: PlanPart) -> dict[str, str]:
    """The client options of a kind: the field of each key of a plan file."""
    fields = {field.alias or name: name for name, field in part.settings.model_fields.items()}
    return {key: fields[key] for key in part.client_options}


def refuse_other_work(own: Table, part: PlanPart, suite: str, label: Callable[[str], str]) -> None:
    """Raises PlanError for settings of a contender that are none of how clients talk. `label` says where a key was
    given.
    """
    known = {field.alias or name for name, field in part.settings.model_fields.items()}
    if not part.client_options and own:
        raise PlanError(
            f"{label(next(iter(own)))}: all settings of {suite} define the work, which all contenders share: write it "
            "in [settings], or make a run of its own"
        )
    for key in own:
        if key not in known:
            raise PlanError(f"{label(key)}: unknown key: {did_you_mean(key, part.client_options)}")
        if key not in part.client_options:
            raise PlanError(
                f"{label(key)}: says what is measured, which all contenders share: write it in [settings]; client "
                f"options of one contender are {', '.join(part.client_options)}"
            )


def settings_with(
    part: PlanPart, defaults: Table, given: Table, own: Table, around: Table, label: Callable[[str], str]
) -> CommonSettings:
    """The settings of a contender: its `own` over those that were `given` for the run, over the suite's `defaults`,
    beside those `around` that stand elsewhere in a plan file. Raises PlanError.
    """
    together = {**given, **own}
    gone = part.settings.displaced(together)
    kept = {key: value for key, value in defaults.items() if key not in gone}
    try:
        return part.settings.model_validate({**kept, **together, **around})
    except ValidationError as error:
        raise explain(error, part.settings, label) from None


def otherwise(settings: CommonSettings, own: CommonSettings) -> dict[str, Any]:
    """What a contender has otherwise than the run, as plain JSON values by field name."""
    common, its = settings.stored(), own.stored()
    return {name: value for name, value in its.items() if value != common[name]}


def merged(kind: str, settings: CommonSettings, own: Table) -> CommonSettings:
    """The settings of a contender that has `own` (plain JSON values by field name) otherwise. Raises ValueError where
    these are no client options of its kind, or do not fit.
    """
    if not own:
        return settings
    if foreign := sorted(own.keys() - set(keys_of(plan_part(kind)).values())):
        raise ValueError(f"contenders may not differ in {', '.join(foreign)}")
    stored = {**settings.stored(), **own}
    return type(settings).model_validate(stored, by_alias=False, by_name=True, context=RESOLVED)
