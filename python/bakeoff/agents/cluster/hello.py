"""May these machines send load together? Each is held against the one that controls the run, and against the plan.

A machine that differs would be a slower or a different client, and what it measures would be told as the server's.
"""

from collections.abc import Iterator, Mapping

from bakeoff.agents.base import Facts
from bakeoff.agents.machine.limits import Limits
from bakeoff.agents.machine.socket_capacity import Demand, open_files
from bakeoff.core.errors import GeneratorError
from bakeoff.core.units import plural

# Facts of a machine that make its figures differ, but that one may have chosen: named, not refused.
NOTED = {"clock source": ("clocksource",), "frequency governor": ("cpu", "governor")}


def refuse_incompatible(ours: Limits, agents: Mapping[str, Facts]) -> None:
    """Raises GeneratorError with a sentence for each machine that may not take part and how to mend it.

    `ours` are the limits of the process that controls the run, of which the build and the versions count; `agents` are
    by name.
    """
    _refuse({name: list(_refusals(ours, facts.limits)) for name, facts in agents.items()})


def refuse_small(agents: Mapping[str, Facts], demands: Mapping[str, Demand]) -> list[str]:
    """Raises GeneratorError for each machine that cannot carry its part; returns warnings about what differs among
    them. Both are by agent's name.
    """
    _refuse({name: list(_too_small(facts.limits, demands[name])) for name, facts in agents.items()})
    return [*_differing(agents), *_unequal(agents)]


def _refuse(reasons: Mapping[str, list[str]]) -> None:
    refusals = [f"agent {name} {text}" for name, texts in reasons.items() for text in texts]
    if refusals:
        raise GeneratorError("; ".join(refusals))


def _refusals(ours: Limits, theirs: Limits) -> Iterator[str]:
    if theirs.nice != 0:
        yield (
            f"runs at nice {theirs.nice}, so other work on its machine slows it: start `bakeoff cluster join` there "
            "without `nice` (in a systemd unit without Nice=)"
        )
    if (theirs.package, theirs.engine, theirs.sources) != (ours.package, ours.engine, ours.sources):
        yield (
            f"has another build of Bakeoff ({_build(theirs)}) than the machine that controls it ({_build(ours)}): "
            "install the same wheel on both, then join again"
        )
    if theirs.python != ours.python:
        yield (
            f"has Python {_version(theirs.python)}, and the machine that controls it {_version(ours.python)}: join "
            "from an environment with the same Python"
        )
    if theirs.ray != ours.ray:
        yield (
            f"has Ray {_version(theirs.ray)}, and the machine that controls it {_version(ours.ray)}: `pip install "
            f"ray=={ours.ray or theirs.ray}` on both, then join again"
        )


def _too_small(theirs: Limits, demand: Demand) -> Iterator[str]:
    if len(theirs.affinity) < demand.load_threads:
        yield (
            f"may use {_cores(len(theirs.affinity))}, and each machine has {demand.load_threads} load threads: set "
            f"load_threads to {len(theirs.affinity)}, or join it with more (--pin, its taskset, AllowedCPUs=)"
        )
    elif theirs.cores < demand.load_threads:
        yield (
            f"has {theirs.quota_cores:g} cores' time from its control group, and each machine has "
            f"{demand.load_threads} load threads: raise cpu.max of the group it is joined in (CPUQuota=, the "
            "container's limit), or set load_threads lower"
        )
    needed = open_files(demand)
    if theirs.open_files is not None and theirs.open_files < needed:
        yield (
            f"may open {theirs.open_files:,} files, and its part of the highest load step needs {needed:,}: join it "
            f"again after `ulimit -Hn {needed}` as root (LimitNOFILE={needed} in a systemd unit)"
        )


def _differing(agents: Mapping[str, Facts]) -> list[str]:
    warnings = []
    for what, path in NOTED.items():
        values = {name: _fact(facts, path) for name, facts in agents.items()}
        if len({value for value in values.values() if value}) > 1:
            warnings.append(f"agents differ in their {what} ({_listed(values)}): their figures are less alike")
    return warnings


def _unequal(agents: Mapping[str, Facts]) -> list[str]:
    """Warnings about unequal shares of processors: the load is divided evenly all the same."""

    values = {name: f"{facts.limits.cores:g}" for name, facts in agents.items()}
    if len(set(values.values())) < 2:
        return []
    return [f"agents have unequal numbers of cores ({_listed(values)}): each drives an equal part of the load"]


def _listed(values: Mapping[str, str]) -> str:
    """`tsc: a, b; hpet: c`, at most three names of each."""
    by_value: dict[str, list[str]] = {}
    for name, value in values.items():
        by_value.setdefault(value or "not told", []).append(name)
    return "; ".join(
        f"{value}: {', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}"
        for value, names in sorted(by_value.items(), key=lambda item: -len(item[1]))
    )


def _fact(facts: Facts, path: tuple[str, ...]) -> str:
    value: object = facts.environment
    for word in path:
        value = value.get(word) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else ""


def _build(limits: Limits) -> str:
    return f"{limits.package or 'unknown'}, engine {limits.engine or 'unknown'}, package {limits.sources or 'unknown'}"


def _version(version: str | None) -> str:
    return version or "of an unknown version"


def _cores(count: int) -> str:
    return f"{plural(count, 'core')}"
