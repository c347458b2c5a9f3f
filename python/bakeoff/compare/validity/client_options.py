"""Settings of how clients talk that contenders have differently: what is compared then is these settings, too."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.settings import of_contender
from bakeoff.compare.validity.client_options_model import ClientOption, ClientOptionsDifferAdvice, differing
from bakeoff.core.redact import hidden
from bakeoff.store.records.run_records import RunRecord

TEXT_MAX = 80


def settings_by_name(run: RunRecord) -> dict[str, Mapping[str, Any]]:
    """The settings that each contender was measured with, by its name in this run, of all its files."""
    if not run.joined:
        # By their place: beside other files contenders may have other names than their plan gives them.
        planned = [str(one.get("name")) for one in _contenders(run.plan)]
        names = [one.name for one in run.contenders]
        known = planned if len(planned) == len(names) else names
        return {name: of_contender(run.plan, own) for name, own in zip(names, known, strict=True)}
    return {new: of_contender(file.run.plan, old) for file in run.files for new, old in file.names.items()}


def client_options_of(run: RunRecord) -> tuple[ClientOption, ...]:
    """What contenders of one plan have differently. What whole files of several differ in is told of the files."""
    found = settings_by_name(run)
    own = {name for plan in _plans(run) for table in _own(plan) for name in table}
    differences = []
    for name in sorted(own):
        values = {contender: _text(hidden({name: table.get(name)})[name]) for contender, table in found.items()}
        if len({json.dumps(table.get(name), sort_keys=True) for table in found.values()}) > 1:
            differences.append(ClientOption(_bare(name), values))
    return tuple(differences)


def client_options_advice(client_options: Sequence[ClientOption], kind: str, names: Sequence[str]) -> list[Fact]:
    """What readers of the figures must know of it."""
    differ = differing(client_options, names)
    return [ClientOptionsDifferAdvice(kind, differ, tuple(names))] if differ else []


def _plans(run: RunRecord) -> list[dict[str, Any]]:
    return [file.run.plan for file in run.files]


def _contenders(plan: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    contenders = plan.get("contenders")
    return [one for one in contenders if isinstance(one, dict)] if isinstance(contenders, list) else []


def _own(plan: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [own for one in _contenders(plan) if isinstance(own := one.get("settings"), dict)]


def _text(value: Any) -> str:
    """A stored value as it is read: yes and no, lists with commas."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        text = ", ".join(map(_text, value)) or "none"
    else:
        text = "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= TEXT_MAX else f"{text[: TEXT_MAX - 2]} …"


def _bare(name: str) -> str:
    return name.removesuffix("_bytes").removesuffix("_s")
