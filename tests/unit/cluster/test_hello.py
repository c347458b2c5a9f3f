"""Which machines may send load together, and what is said of those that may not."""

import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from bakeoff.agents.base import Facts
from bakeoff.agents.cluster.hello import refuse_incompatible, refuse_small
from bakeoff.agents.machine.limits import Limits, limits
from bakeoff.agents.machine.socket_capacity import Demand
from bakeoff.core.errors import GeneratorError

OURS = Limits(0, 1024, (0, 1), None, "3.11.2", "2.60.0", "0.1.0", "abc", "def")


def facts(environment: dict[str, Any] | None = None, **other: Any) -> Facts:
    return Facts(environment or {}, {}, (0, 1), (), replace(OURS, **other))


def refused(agent: Facts, demand: Demand | None = None) -> str:
    with pytest.raises(GeneratorError) as caught:
        if demand is None:
            refuse_incompatible(OURS, {"a": facts(), "b": agent})
        else:
            refuse_small({"a": facts(), "b": agent}, {"a": Demand(1), "b": demand})
    return str(caught.value)


def test_machines_that_are_alike_are_taken_without_a_word() -> None:
    refuse_incompatible(OURS, {"a": facts(), "b": facts()})
    assert refuse_small({"a": facts(), "b": facts()}, {"a": Demand(10), "b": Demand(10)}) == []


@pytest.mark.parametrize(
    ("other", "said", "mend"),
    [
        ({"nice": 5}, "agent b runs at nice 5", "without `nice`"),
        ({"nice": -5}, "agent b runs at nice -5", "Nice="),
        ({"package": "0.2.0"}, "agent b has another build of Bakeoff (0.2.0, engine abc", "install the same wheel"),
        (
            {"engine": "123"},
            "engine 123, package def) than the machine that controls it (0.1.0, engine abc",
            "install the same wheel",
        ),
        ({"sources": "123"}, "package 123) than", "install the same wheel"),
        ({"python": "3.12.1"}, "agent b has Python 3.12.1, and the machine that controls it 3.11.2", "the same Python"),
        (
            {"ray": "2.61.0"},
            "agent b has Ray 2.61.0, and the machine that controls it 2.60.0",
            "`pip install ray==2.60.0` on both",
        ),
        ({"ray": None}, "agent b has Ray of an unknown version", "`pip install ray==2.60.0` on both"),
    ],
)
def test_a_machine_of_another_kind_is_refused_and_told_how_to_mend_it(
    other: dict[str, Any], said: str, mend: str
) -> None:
    text = refused(facts(**other))
    assert said in text and mend in text and "agent a" not in text


@pytest.mark.parametrize(
    ("other", "demand", "said"),
    [
        (
            {"affinity": (3,)},
            Demand(1, load_threads=2),
            "may use 1 core, and each machine has 2 load threads: set load_threads to 1",
        ),
        ({"quota_cores": 1.5}, Demand(1, load_threads=2), "has 1.5 cores' time from its control group"),
        ({"open_files": 256}, Demand(1000), "may open 256 files, and its part of the highest load step needs 1,192"),
    ],
)
def test_a_machine_that_cannot_carry_its_part_is_refused(other: dict[str, Any], demand: Demand, said: str) -> None:
    assert said in refused(facts(**other), demand)
    assert refuse_small({"b": facts(open_files=None)}, {"b": Demand(1_000_000, load_threads=2)}) == []


def test_every_machine_that_is_wrong_is_named_at_once() -> None:
    with pytest.raises(GeneratorError, match=r"agent a runs at nice 1.*; agent b has Python 3\.9\.1"):
        refuse_incompatible(OURS, {"a": facts(nice=1), "b": facts(python="3.9.1"), "c": facts()})


def test_what_one_may_have_chosen_is_named_but_not_refused() -> None:
    tsc = {"clocksource": "tsc", "cpu": {"governor": "performance"}}
    hpet = {"clocksource": "hpet", "cpu": {"governor": "performance"}}
    agents = {name: facts(tsc) for name in "abcde"} | {"f": facts(hpet, affinity=(0,))}
    clock, cores = refuse_small(agents, dict.fromkeys(agents, Demand(1)))
    assert "clock source (tsc: a, b, c and 2 more; hpet: f)" in clock
    assert "unequal numbers of cores (2: a, b, c and 2 more; 1: f)" in cores
    odd = {"a": facts({"cpu": 3}), "b": facts({"clocksource": ["x"]})}
    assert refuse_small(odd, dict.fromkeys(odd, Demand(1))) == []


def test_the_limits_of_a_process_are_its_own() -> None:
    script = "from bakeoff.agents.machine.limits import limits; l = limits(); "
    script += "print(l.nice, l.affinity, l.engine, l.open_files)"
    core = min(os.sched_getaffinity(0))
    command = [
        "prlimit",
        "--nofile=300:300",
        "taskset",
        "-c",
        str(core),
        "nice",
        "-n",
        "3",
        sys.executable,
        "-c",
        script,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    here = limits()
    assert done.stdout.split() == [str(here.nice + 3), f"({core},)", here.engine, "300"]
    assert here.engine and here.sources and here.ray and here.python == ".".join(map(str, sys.version_info[:3]))
