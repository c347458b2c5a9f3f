"""The targets of the engine and those of `bakeoff serve` are the same."""

import json
import re

import pytest

from bakeoff import _engine as engine
from bakeoff.cli.machines.serve import KINDS


def test_each_target_of_the_engine_has_its_command() -> None:
    with pytest.raises(engine.SpecError) as refused:
        engine.serve(json.dumps({"kind": "nothing"}))
    assert set(re.findall(r"`(\w+)`", str(refused.value))) - {"nothing"} == set(KINDS)
