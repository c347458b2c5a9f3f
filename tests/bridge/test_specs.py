"""The two schemas of a trial specification, Pydantic's and serde's, are one: the same names, and neither takes what the
other refuses. The registry of kinds is the engine's list of workloads.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from bakeoff import _engine
from bakeoff.agents.spec import TrialSpec
from bakeoff.kinds import KINDS
from bakeoff.kinds.spec import spec_part
from tests.unit.run.test_every_setting import files, resolve, situations, spec_of

__all__ = ["files"]
Keys = tuple[str | int, ...]
# Fields by which serde tells the variants of a part: it does not list them.
TAGS = {"shape"}


def specs(kind: str, made: dict[str, str]) -> Iterator[TrialSpec]:
    """The specification of each situation that a kind's settings are tried in."""
    for suite, address, given in situations(kind):
        yield spec_of(resolve(made, suite, address, given))


def parts(model: BaseModel, keys: Keys = ()) -> Iterator[tuple[Keys, BaseModel]]:
    """Every model in a specification, with the way to it; of several alike the first."""
    yield keys, model
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from parts(value, (*keys, name))
        elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
            yield from parts(value[0], (*keys, name, 0))


def table_at(whole: Any, keys: Keys) -> dict[str, Any]:
    for key in keys:
        whole = whole[key]
    assert isinstance(whole, dict)
    return whole


def refusal(text: str) -> str | None:
    """Why the engine does not take a specification."""
    try:
        _engine.check(text)
    except _engine.SpecError as error:
        return str(error)
    return None


def named(text: str) -> set[str]:
    """The fields that serde lists when it refuses one that it does not know."""
    found = re.search(r"unknown field `strange`, expected (?:one of )?(.*?)(?: at line|$)", text)
    assert found, text
    return set(re.findall(r"`(\w+)`", found[1]))


def test_the_registry_is_the_list_of_the_engine() -> None:
    assert set(KINDS) == set(_engine.workloads()) - {"null"}, "a kind needs its line in both"


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_kind_says_the_engine_takes(kind: str, files: dict[str, str]) -> None:
    for spec in specs(kind, files):
        assert isinstance(spec.workload, spec_part(kind)) and spec.workload.kind == kind
        assert refusal(spec.to_json()) is None
        assert TrialSpec.model_validate(json.loads(spec.to_json())) == spec


@pytest.mark.parametrize("kind", KINDS)
def test_both_know_the_same_fields(kind: str, files: dict[str, str]) -> None:
    for spec in specs(kind, files):
        for keys, model in parts(spec):
            whole = json.loads(spec.to_json())
            table_at(whole, keys)["strange"] = 1
            why = refusal(json.dumps(whole))
            assert why is not None, f"the engine takes any key in {keys}"
            assert named(why) == set(type(model).model_fields) - TAGS, (kind, keys)
            with pytest.raises(ValidationError):
                TrialSpec.model_validate(whole)


@pytest.mark.parametrize("kind", KINDS)
def test_a_field_that_is_missing_is_refused_or_has_the_same_default(kind: str, files: dict[str, str]) -> None:
    for spec in specs(kind, files):
        for keys, model in parts(spec):
            for name, field in type(model).model_fields.items():
                whole = json.loads(spec.to_json())
                del table_at(whole, keys)[name]
                if field.is_required():
                    with pytest.raises(ValidationError):
                        TrialSpec.model_validate(whole)
                elif name != "kind":
                    assert refusal(json.dumps(whole)) is None, f"{kind}: only Pydantic has a default of {keys} {name}"
