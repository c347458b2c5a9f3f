"""A stored plan and a stored environment may hold anything: they are refused in one sentence, or do no harm."""

from __future__ import annotations

import copy
import random
from dataclasses import replace
from typing import Any

import pytest

from bakeoff.compare import compare_run
from bakeoff.core.errors import BakeoffError
from bakeoff.kinds import KINDS
from bakeoff.report.compose import compose
from tests.unit.store.test_figures import ANY, HOSTILE, SAMPLES, places, record_of

PLAN: dict[str, Any] = {
    "title": "T", "modelled_on": "x", "size": "quick", "assumed": ["a"], "differences": ["b"], "changed": ["length"],
    "settings": {
        "clients": [1, 4], "virtual_users": 1, "length_s": 10, "ramp_up_s": 1.0, "ramp_down_s": 1.0, "think_s": 0.0,
        "keep_alive": False, "method": "GET", "operations": 0, "receive_buffer_bytes": 4096, "sending_share": 0.3,
        "server_memory": 8 << 30, "direct": False,
        "regions": [{"name": "r", "file_least": None, "file_most": 1 << 20, "record_least": 1, "record_most": None}],
        "weights": {"folder": "/x", "errors": 0, "sizes": [{"up_to_bytes": 65_536, "files": 3}]},
    },
}  # fmt: skip
ENVIRONMENT: dict[str, Any] = {
    "memory_bytes": 8 << 30,
    "content": {
        "differences": [{"between": ["nginx", "apache"], "text": "t", "withhold": True}],
        "contenders": {
            "nginx": {
                "carrier": "memory", "file_system": "nfs", "source": "s", "addresses": ["a"],
                "mount_options": "rw,x", "free_bytes": 5, "smtp listen backlog": 5,
            },
            "apache": {},
        },
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_plans_and_environments(kind: str) -> None:
    record = record_of(kind, {**ANY, **SAMPLES[kind]})
    whole = 0
    for seed in range(10):
        chance = random.Random(f"{kind} {seed}")
        plan, environment = copy.deepcopy(PLAN), copy.deepcopy(ENVIRONMENT)
        for tree in chance.choices((plan, environment), weights=(2, 1), k=2):
            container, key = chance.choice(list(places(tree)))
            container[key] = copy.deepcopy(chance.choice(HOSTILE))
        spoiled = replace(record, plan=plan, environment=environment)
        try:
            compose(spoiled, compare_run(spoiled))
            whole += 1
        except BakeoffError as error:
            assert "\n" not in str(error)
    assert whole
