"""May a plan that came out of a run file be acted on?

A run file is data and is passed on; its plan names shell commands, addresses and paths. It is acted on only when the
user says the same otherwise: by a plan file that means the same plan, by having started it here (see
bakeoff.run.checks.plan_origin), or by `--trust` after having seen what it would do. Every verb that acts on a stored
plan goes through `trusted_plan`.
"""

import shlex
from collections.abc import Callable
from typing import Any

from pydantic.fields import FieldInfo

from bakeoff.core.errors import RunFileError
from bakeoff.plan.input.stored import stored_plan
from bakeoff.plan.kind import plan_part
from bakeoff.plan.model import LOAD_STEPS, Plan
from bakeoff.plan.settings.fields import extra_of
from bakeoff.run.checks.plan_origin import is_marked
from bakeoff.store.records.run_records import ADDED, RunRecord
from bakeoff.telemetry.where import parse as where_to_sample

MOST_DIFFERENCES = 6
# Texts that follow from what else a plan says.
DERIVED = ("assumed", "changed", "classes", "differences")


def trusted_plan(run: RunRecord, given: Plan | None = None, trust: bool = False) -> Plan:
    """The plan of a run, if it may be acted on. `given` is the plan that the user names beside it.

    Raises RunFileError that lists what acting on it would do and what to type, or where `given` differs. Before that
    nothing was run, opened or asked.
    """
    plan = _undamaged(run)
    if given is not None and given.hash not in (plan.hash, _at_first(run, plan).hash):
        raise RunFileError(
            f"the plan given is not the one of {run.path}: they differ in {differences_of(plan, given)}; `bakeoff "
            "plan … --toml` with the words of the run writes its plan file"
        )
    if trust or given is not None or is_marked(run.path, run.plan_hash, run.started_here):
        return plan
    file = shlex.quote(str(run.path))
    raise RunFileError(
        f"{run.path} was not started here by you, so nothing of its plan was done. To go on with it would:\n"
        + "".join(f"  {line}\n" for line in acts(plan))
        + f"Give the plan file that says the same: bakeoff resume {file} --plan PLAN.toml\n"
        f"or, if all of this may be done:          bakeoff resume {file} --trust"
    )


def _at_first(run: RunRecord, plan: Plan) -> Plan:
    """The plan before blocks were added: the one that its plan file says."""
    added = run.amended(ADDED)
    return plan.model_copy(update={"blocks": added[0].blocks_before}) if added else plan


def repeated_plan(run: RunRecord, trust: bool, ask: Callable[[list[str]], bool] | None) -> Plan | None:
    """The plan of a run that is to be carried out again, if it may be: somebody at a terminal is shown what that does
    and asked by `ask`; elsewhere it was started here, or `trust` says so. None where the answer is no.

    Raises RunFileError as `trusted_plan` does.
    """
    plan = _undamaged(run)
    if trust or (ask is None and is_marked(run.path, run.plan_hash, run.started_here)):
        return plan
    if ask is not None:
        return plan if ask(acts(plan)) else None
    file = shlex.quote(str(run.path))
    raise RunFileError(
        f"{run.path} was not started here by you, so nothing of its plan was done. To repeat it would:\n"
        + "".join(f"  {line}\n" for line in acts(plan))
        + f"Show it as a plan file, which you can run:  bakeoff plan {file} --toml\n"
        f"or, if all of this may be done:             bakeoff run {file} --trust"
    )


def agreed(lines: list[str], what: str, trust: bool, ask: Callable[[list[str]], bool] | None, how: str) -> bool:
    """Whether all of `lines` may be done: nothing is to be, `trust` says so, or somebody at a terminal agrees to it.

    Raises RunFileError where nobody can be asked; `how` is what to type then.
    """
    if trust or not lines:
        return True
    if ask is not None:
        return ask(lines)
    raise RunFileError(
        f"nothing of the plan in {what} was done: it was not written by you here. To carry it out would:\n"
        + "".join(f"  {line}\n" for line in lines)
        + f"If all of this may be done: {how}"
    )


def _undamaged(run: RunRecord) -> Plan:
    """The plan that a run file holds, which must fit its other figures."""
    plan = stored_plan(run)
    if _head(plan) != (
        run.kind,
        run.suite,
        run.load_steps,
        run.blocks_planned,
        [(c.name, c.address) for c in run.contenders],
    ):
        raise RunFileError(f"{run.path} is damaged (its figures do not fit its plan): run the plan again")
    return plan


def resume_command(run: RunRecord) -> str:
    """What this user types to go on with a run that they just saw being run."""
    known = is_marked(run.path, run.plan_hash, run.started_here)
    return f"bakeoff resume {shlex.quote(str(run.path))}" + ("" if known else " --trust")


def acts(plan: Plan) -> list[str]:
    """What carrying out a plan does to this machine and to others, one line each; commands come first."""
    settings = plan.settings
    commands = [
        f"run in a shell before each {'trial' if plan.order == LOAD_STEPS else 'block'} of "
        f"{c.name}: {_one_line(c.reset)}"
        for c in plan.contenders
        if c.reset
    ]
    paths, more = [], []
    for name, field in type(settings).model_fields.items():
        extra, value = extra_of(field), getattr(settings, name)
        if extra.get("command") and value is not None:
            commands.append(f"run in a shell ({field.alias or name}): {_one_line(value)}")
        path = getattr(value, "path", value)  # of what was read beforehand
        if extra.get("path") and isinstance(path, str):
            paths.append(f"read the {extra['path']} {_one_line(path)} ({field.alias or name})")
        if extra.get("acts") and value:
            more.append(f"{extra['acts']} ({field.alias or name})")
    where = plan_part(plan.kind).acts_by
    loads = [f"{where} {_one_line(c.address)} (contender {c.name})" for c in plan.contenders]
    loads += [
        f"{where} {_one_line(address)} (contender {name}) from agent {agent}"
        for agent, addresses in plan.fleet.addresses.items()
        for name, address in addresses.items()
    ]
    watched = [
        f"{where_to_sample(c.watch).acts} (contender {c.name} is watched)"
        for c in plan.contenders
        if c.watch is not None
    ]
    return commands + more + loads + [_one_line(line) for line in watched] + paths


def acting_settings(plan: Plan) -> list[tuple[str, FieldInfo]]:
    """Settings in use that do something to this machine beside the load: commands, and such as drop its caches."""
    fields = type(plan.settings).model_fields.items()
    kinds = [(name, field, extra_of(field)) for name, field in fields]
    return [
        (n, f) for n, f, extra in kinds if (extra.get("command") or extra.get("acts")) and getattr(plan.settings, n)
    ]


def _one_line(text: str) -> str:
    """Text from a file that others may have written: nothing in it moves the cursor or hides what follows."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _head(plan: Plan) -> tuple[object, ...]:
    contenders = [(c.name, c.address) for c in plan.contenders]
    return plan.kind, plan.suite, plan.load_steps, plan.blocks, contenders


def differences_of(one: Plan, other: Plan) -> str:
    """Names of what differs, as `settings.length_s`."""
    names = sorted(set(_leaves(one.to_dict()).items()) ^ set(_leaves(other.to_dict()).items()))
    leaf_names = list(dict.fromkeys(name for name, _ in names))
    leaf_names = [name for name in leaf_names if name.partition(".")[0] not in DERIVED] or leaf_names
    if not leaf_names:
        return "the order of their contenders"
    return ", ".join(leaf_names[:MOST_DIFFERENCES]) + (" …" if len(leaf_names) > MOST_DIFFERENCES else "")


def _leaves(value: Any, name: str = "") -> dict[str, str]:
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = [(item.get("name", i) if isinstance(item, dict) else i, item) for i, item in enumerate(value)]
    else:
        return {name: repr(value)}
    return {k: v for key, item in items for k, v in _leaves(item, f"{name}.{key}".lstrip(".")).items()}
