"""A plan file or the command line, to a resolved `Plan`. Nothing is sent to anybody."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from bakeoff import keeping_up
from bakeoff.errors import PlanError
from bakeoff.kinds import plan_part
from bakeoff.plan.capacity import LOADS, CapacityPlan, capacity_of, refuse_unfit
from bakeoff.plan.differences import differences
from bakeoff.plan.elsewhere import here
from bakeoff.plan.fields import OptionalShare, OptionalWhole, Share, Whole, extra_of, full_path, read_toml
from bakeoff.plan.fleet import FleetPlan, fleet_of
from bakeoff.plan.going_on import GoingOn, looks_and_blocks
from bakeoff.plan.kind import plan_table, setting_owners
from bakeoff.plan.messages import did_you_mean, explain
from bakeoff.plan.model import Contender, Plan
from bakeoff.plan.settings import CommonSettings
from bakeoff.plan.stored import stored_plan
from bakeoff.plan.suites import BLOCKS, SizeName, Suite, load_suite, suite_names
from bakeoff.store.records import RunRecord
from bakeoff.thresholds import MINIMUM_BLOCKS
from bakeoff.units import LARGEST, format_duration, parse_duration

MAX_SEED = 2**53 - 1
CONTENDERS_MAX = 100
TRIALS_MAX = 500_000
TEXT_MAX = 100_000
DEPTH_MAX = 8
# What may stand for a path.
NO_PATHS = ("", "auto", "none")
TABLES = ("plan", "settings", "capacity", "fleet", "agents", "contender")
# The primary endpoint in words: what the verdict of a run is about.
PRIMARY = "geometric mean over the mixes of the ratio of {}"


SEARCHED = "capacity: the highest load that meets {}"

# By their keys in a plan file.
FLEET_FIELDS = {field.alias or name: field for name, field in FleetPlan.model_fields.items()}


# The smallest difference that matters, unless a plan says otherwise: of capacities twice what a search leaves open.
DELTA, DELTA_OF_CAPACITIES = 0.05, 0.02


class PlanSection(GoingOn):
    """The `[plan]` table of a plan file."""

    name: str | None = Field(None, min_length=1, max_length=80, description="Name of the run in reports.")
    suite: str = Field(description="Name of the suite: see `bakeoff suites`.")
    size: SizeName = Field(
        "quick",
        json_schema_extra={"metavar": "SIZE"},
        description="quick (a minute or two; the default), medium (15 to 20 minutes), short (hours), full (the "
        "published mixes and times) or published (to the letter); `bakeoff suites SUITE` lists what a suite has.",
    )
    blocks: OptionalWhole = Field(
        None,
        ge=1,
        le=1000,
        description=f"Visits of every contender: {BLOCKS['full']}, in quick and medium {BLOCKS['quick']}; fewer than "
        f"{MINIMUM_BLOCKS} give no verdict.",
    )
    seed: Whole = Field(1, ge=0, le=MAX_SEED, description="Seed of all random choices.")
    delta: OptionalShare = Field(
        None,
        gt=0,
        lt=1,
        description=f"Smallest difference that matters: {DELTA:.0%}, of capacities {DELTA_OF_CAPACITIES:.0%}.",
    )
    error_limit: Share = Field(
        0.05, ge=0, le=1, description="Share of failed operations above which a trial is failed: 5%."
    )


# By their keys in a plan file.
PLAN_FIELDS = {field.alias or name: field for name, field in PlanSection.model_fields.items()}


@dataclass(frozen=True)
class PlanInput:
    """What was written, before any of it is checked. `flags` maps (table, key) to the flag that gave it."""

    origin: str
    plan: dict[str, Any]
    settings: dict[str, Any]
    contenders: list[dict[str, Any]]
    flags: Mapping[tuple[str, str], str] = field(default_factory=dict)
    capacity: dict[str, Any] | None = None  # None where no capacity is searched
    fleet: dict[str, Any] = field(default_factory=dict)
    agents: dict[str, Any] = field(default_factory=dict)  # tables [agents.NAME]
    repeats: RunRecord | None = None  # the run whose plan is meant, with nothing else
    campaign: Path | None = None  # the file of a campaign, which holds several plans

    def label(self, table: str) -> Callable[[str], str]:
        """Where a key of `table` was given: `--length`, or `plan.toml [settings] length`."""

        def name(key: str) -> str:
            return self.flags.get((table, key)) or f"{self.origin} [{table}] {key}".strip()

        return name


def read_plan_file(path: Path) -> PlanInput:
    """A plan file as written. Raises PlanError when it is missing, not TOML or has unknown tables."""
    table = read_toml(path, "plan file")
    for key in table:
        if key not in TABLES:
            raise PlanError(f"{path}: unknown table [{key}]: {did_you_mean(key, TABLES)}")
    plan, settings, contenders = table.get("plan", {}), table.get("settings", {}), table.get("contender", [])
    capacity, fleet, agents = table.get("capacity"), table.get("fleet", {}), table.get("agents", {})
    if not all(isinstance(one, dict) for one in (plan, settings, capacity or {}, fleet, agents)):
        raise PlanError(f"{path}: write [plan], [settings], [capacity], [fleet] and [agents.NAME] as tables")
    if not isinstance(contenders, list) or not all(isinstance(c, dict) for c in contenders):
        raise PlanError(f"{path}: write each contender as its own [[contender]] table with name and address")
    base = path.parent
    _place(plan, _paths(plan.get("suite"), "plan"), base)
    _place(settings, _paths(plan.get("suite"), "settings"), base)
    contenders = [_located(contender, plan.get("suite"), base) for contender in contenders]
    return PlanInput(str(path), plan, settings, contenders, {}, capacity, fleet, agents)


def _paths(suite: object, table: str) -> dict[str, str]:
    """The settings of a suite in this table that are paths, with what stands before the path: what is a path for one
    kind may be none for another.
    """
    if suite not in suite_names():
        return {}  # it will be refused
    model = plan_part(load_suite(str(suite)).suite.kind).settings
    fields = {field.alias or name: extra_of(field) for name, field in model.model_fields.items()}
    return {
        key: str(extra.get("after", ""))
        for key, extra in fields.items()
        if extra.get("path") and extra.get("table", "settings") == table
    }


def _place(table: dict[str, Any], keys: Mapping[str, str], base: Path) -> None:
    """Paths in a plan file are relative to the file, so that a plan works from any folder."""
    for key, before in keys.items():
        value = table.get(key)
        if isinstance(value, str) and value.startswith(before) and value not in NO_PATHS:
            table[key] = before + full_path(value.removeprefix(before), base)


def _located(contender: dict[str, Any], suite: object, base: Path) -> dict[str, Any]:
    """A contender whose address, if it is a path, is a full one."""
    address = contender.get("address")
    if suite not in suite_names() or not isinstance(address, str) or not address or "\0" in address:
        return contender  # it will be refused
    part = plan_part(load_suite(str(suite)).suite.kind)
    return {**contender, "address": part.located(address, base)}


def placed(given: PlanInput) -> PlanInput:
    """`given` with full paths in place of those that are relative to the working folder: it means the same anywhere."""
    return located_input(given, Path.cwd())


def located_input(given: PlanInput, base: Path) -> PlanInput:
    """`given` with full paths in place of those that are relative to `base`."""
    suite = given.plan.get("suite")
    plan, settings = dict(given.plan), dict(given.settings)
    _place(plan, _paths(suite, "plan"), base)
    _place(settings, _paths(suite, "settings"), base)
    return replace(given, plan=plan, settings=settings, contenders=[_located(c, suite, base) for c in given.contenders])


def with_flags(
    given: PlanInput,
    plan: Mapping[str, Any],
    settings: Mapping[str, Any],
    resets: Mapping[str, str],
    capacity: Mapping[str, Any] | None = None,
    fleet: Mapping[str, Any] | None = None,
) -> PlanInput:
    """`given` with what the flags say put over it. All but `resets` are keyed as in a plan file; where `capacity` is
    not None, one is searched.

    Raises PlanError when a reset names no contender.
    """
    contenders = [dict(c) for c in given.contenders]
    for name, command in resets.items():
        named = [c for c in contenders if c.get("name") == name]
        if not named:
            names = [str(c.get("name")) for c in contenders]
            raise PlanError(f"--reset: there is no contender {name!r}: {did_you_mean(name, names)}")
        named[0]["reset"] = command
    flags = {("plan", key): "--" + key.replace("_", "-") for key in plan}
    flags |= {("settings", key): "--" + key.replace("_", "-") for key in settings}
    flags |= {("capacity", key): "--" + key.replace("_", "-") for key in capacity or ()}
    flags |= {
        ("fleet", key): f"--{extra_of(FLEET_FIELDS[key]).get('flag', key.replace('_', '-'))}" for key in fleet or ()
    }
    return replace(
        given,
        plan={**given.plan, **plan},
        settings={**given.settings, **settings},
        contenders=contenders,
        flags={**given.flags, **flags},
        capacity=given.capacity if capacity is None else {**(given.capacity or {}), **capacity},
        fleet={**given.fleet, **(fleet or {})},
    )


def parse_contenders(words: Sequence[str]) -> list[dict[str, Any]]:
    """Contenders of `NAME=ADDRESS` words. Raises PlanError that shows the form."""
    contenders = []
    for word in words:
        name, equals, address = word.partition("=")
        if not equals or not address or not re.fullmatch(r"[A-Za-z0-9._+-]+", name):
            raise PlanError(
                f"{word!r} is not a contender: write NAME=ADDRESS, such as nginx=http://127.0.0.1:8080, "
                "or of a folder nfs=/mnt/nfs"
            )
        contenders.append({"name": name, "address": address})
    return contenders


def resolve_plan(given: PlanInput) -> Plan:
    """All defaults filled in and everything checked that can be without the network. Raises PlanError."""
    if given.campaign is not None:
        raise PlanError(f"{given.campaign} is a campaign of several suites: only `bakeoff run` and `plan` take it")
    if given.repeats is not None:
        return _repeated(given, given.repeats)
    given = placed(given)
    written = [given.plan, given.settings, given.contenders, given.capacity, given.fleet, given.agents]
    try:
        _refuse_what_cannot_be_stored(given.origin, written, 0)
        plan = _resolve(given)
    except OSError as error:
        raise PlanError(f"{given.origin}: {error.filename}: {error.strerror}: check the path") from None
    if plan.most_trials > TRIALS_MAX:
        raise PlanError(
            f"{given.origin}: {plan.most_trials:,} trials are too many for one run: at most {TRIALS_MAX:,}; "
            "use fewer blocks, mixes or contenders"
        )
    return plan


def _repeated(given: PlanInput, run: RunRecord) -> Plan:
    """The plan of a run. Raises PlanError where something else is given beside it."""
    tables = (("plan", given.plan), ("settings", given.settings), ("capacity", given.capacity), ("fleet", given.fleet))
    beside = [given.label(table)(key) for table, keys in tables for key in keys or ()]
    beside += [f"{contender.get('name')}={contender.get('address')}" for contender in given.contenders]
    if beside or given.capacity is not None:
        what = f": leave out {', '.join(beside)}" if beside else ""
        raise PlanError(
            f"{run.path} is a run, which `bakeoff run` repeats as it was{what}; to change something, write its plan "
            f"file by `bakeoff plan {run.path} --toml > plan.toml`"
        )
    return stored_plan(run)


def _refuse_what_cannot_be_stored(origin: str, value: object, depth: int) -> None:
    """No text in UTF-8, zero bytes, numbers of more than 64 bits, nests."""
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= c <= "\udfff" for c in value):
            raise PlanError(f"{origin}: {value[:80]!r} is not text in UTF-8 without zero bytes: use another name")
        if len(value) > TEXT_MAX:
            raise PlanError(f"{origin}: a text of {len(value):,} characters cannot be meant: {value[:40]!r} …")
    elif isinstance(value, int):
        if abs(value) > LARGEST:
            raise PlanError(f"{origin}: a number of {value.bit_length()} bits cannot be meant: use one of 63 at most")
    elif isinstance(value, (Mapping, list, tuple)):
        if depth > DEPTH_MAX:
            raise PlanError(f"{origin}: the plan is nested too deeply: it has tables and lists of plain values")
        inner = [*value.keys(), *value.values()] if isinstance(value, Mapping) else value
        for item in inner:
            _refuse_what_cannot_be_stored(origin, item, depth + 1)


def _resolve(given: PlanInput) -> Plan:
    changed = tuple(sorted(given.settings))
    own = {key: value for key, value in given.plan.items() if key in plan_table()}
    head = _head(given, own)
    suite = load_suite(head.suite)
    kind = plan_part(suite.suite.kind)
    search = _search(given, suite, kind.settings)
    if search is not None:
        given = replace(given, settings={**given.settings, **search.loads})
    if head.size not in suite.sizes:
        raise PlanError(f"{given.label('plan')('size')}: {head.suite} has the sizes {', '.join(suite.sizes)}")
    defaults = _fitting_ramps(suite.defaults(head.size), given.settings)
    _refuse_settings_of_other_kinds(given, suite.suite.kind)
    displaced = kind.settings.displaced(given.settings)
    defaults = {name: value for name, value in defaults.items() if name not in displaced}
    try:
        settings = kind.settings.model_validate({**defaults, **given.settings, **own})
    except ValidationError as error:
        label = {table: given.label(table) for table in ("plan", "settings")}
        raise explain(error, kind.settings, lambda key: label["plan" if key in own else "settings"](key)) from None
    contenders = _contenders(given)
    fleet = fleet_of(given.fleet, given.agents, [c.name for c in contenders], given.label("fleet"), given.origin)
    if fleet.agents > 1 and (why := kind.undivided(settings)) is not None:
        raise PlanError(f"{given.label('fleet')('agents')}: {why}")
    addresses = [c.address for c in contenders] + [a for seen in fleet.addresses.values() for a in seen.values()]
    for address in addresses:
        kind.check_address(address, settings)
    _refuse_without_effect(given, settings, addresses)
    delta = head.delta or (DELTA if search is None else DELTA_OF_CAPACITIES)
    if search is not None:
        refuse_unfit(search, settings, delta, head.error_limit, given.label("capacity"))
    if (why := looks_and_blocks(head.looks, head.blocks)) is not None:
        raise PlanError(f"{given.label('plan')('looks')}: {why}")
    return Plan(
        name=head.name or head.suite,
        suite=head.suite,
        kind=suite.suite.kind,
        title=suite.suite.title,
        modelled_on=suite.suite.modelled_on,
        size=head.size,
        blocks=head.looks[-1] if head.looks else head.blocks or BLOCKS[head.size],
        seed=head.seed,
        delta=delta,
        error_limit=head.error_limit,
        primary=_primary(settings, kind.endpoint) if search is None else SEARCHED.format(search.objective),
        settings=settings,
        changed=changed,
        classes=tuple(kind.classes(suite, settings)),
        contenders=contenders,
        assumed=_assumed(suite, given.settings),
        differences=differences(suite, settings),
        capacity=search,
        fleet=fleet,
        **{name: getattr(head, name) for name in GoingOn.model_fields},
    )


def _primary(settings: CommonSettings, endpoint: str) -> str:
    """What the verdict of a run is about, in words."""
    if not settings.is_at_rates:
        return PRIMARY.format(endpoint + settings.weighted)
    begin_s, end_s = settings.clock.ramp_up_s, settings.length_s - settings.clock.ramp_down_s
    figure = keeping_up.deciding(settings.mix_values, begin_s, end_s, settings.length_s, settings.clock.operations)
    return keeping_up.PRIMARY.format(figure=keeping_up.words_of(figure))


def _search(given: PlanInput, suite: Suite, settings: type[CommonSettings]) -> CapacityPlan | None:
    """The search for a capacity, where one is asked for. It chooses the loads itself."""
    if given.capacity is None:
        return None
    if not settings.SEARCHABLE:
        raise PlanError(
            f"{given.label('plan')('suite')}: {suite.suite.name} has no load that can be searched: suites of web, mail "
            "and application servers have"
        )
    for key in LOADS:
        if key in given.settings:
            raise PlanError(f"{given.label('settings')(key)}: a search chooses the loads: bound them by least and most")
    return capacity_of(given.capacity, given.label("capacity"))


def _fitting_ramps(defaults: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """A shorter length than the suite's takes shorter ramps with it: a tenth each, as in the full suites.

    Clients whose start is spread over a longer time than the ramp would be missing in the window.
    """
    try:
        length_s = parse_duration(str(given["length"])) if "length" in given else None
    except ValueError:
        length_s = None  # the settings model says what is wrong with it
    if length_s is None:
        return defaults
    shorter: dict[str, Any] = {
        name: format_duration(length_s / 10)
        for name in ("ramp_up", "ramp_down")
        if name not in given and name in defaults and parse_duration(defaults[name]) > length_s / 10
    }
    fitting = {**defaults, **shorter}
    if "ramp_up" in shorter and "stagger" not in given and "stagger" in defaults:
        fitting["stagger"] = min(fitting["stagger"], shorter["ramp_up"], key=parse_duration)
    return fitting


def _assumed(suite: Suite, changed: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(a.text for a in suite.suite.assumed if a.setting is None or a.setting not in changed)


def _head(given: PlanInput, own: Mapping[str, Any]) -> PlanSection:
    """The table `[plan]` without the settings of kinds that stand in it (`own`)."""
    known = {*PLAN_FIELDS, *plan_table()}
    for key in given.plan:
        if key not in known:
            raise PlanError(f"{given.label('plan')(key)}: unknown key: {did_you_mean(key, known)}")
    try:
        return PlanSection.model_validate({key: value for key, value in given.plan.items() if key not in own})
    except ValidationError as error:
        raise explain(error, PlanSection, given.label("plan")) from None


def _refuse_settings_of_other_kinds(given: PlanInput, kind: str) -> None:
    for key, owners in setting_owners().items():
        table = "plan" if key in plan_table() else "settings"
        if key in (given.plan if table == "plan" else given.settings) and kind not in owners:
            kinds = f"{', '.join(owners[:-1])} and {owners[-1]}" if len(owners) > 1 else owners[0]
            label = given.label(table)(key)
            raise PlanError(f"{label}: belongs to suites of kind {kinds}: {here(label) or 'leave it out'}")
        if table == "plan" and key in given.settings:
            raise PlanError(f"{given.label('settings')(key)}: belongs into the table [plan]: move it there")


def _refuse_without_effect(given: PlanInput, settings: CommonSettings, addresses: Sequence[str]) -> None:
    """A setting that would silently do nothing is an error, unless it says what is so anyway."""
    fields = {field.alias or name: (name, field) for name, field in type(settings).model_fields.items()}
    for key, why in settings.without_effect(addresses).items():
        name, field = fields[key]
        if key in given.settings and getattr(settings, name) != field.default:
            raise PlanError(f"{given.label('settings')(key)}: {why}")


def _contender_label(origin: str, name: str, key: str) -> str:
    return f"{origin} contender {name} {key}".strip()


def _contenders(given: PlanInput) -> tuple[Contender, ...]:
    if not given.contenders:
        raise PlanError(f"{given.origin}: name at least one contender, better two: NAME=ADDRESS NAME=ADDRESS")
    if len(given.contenders) > CONTENDERS_MAX:
        raise PlanError(
            f"{given.origin}: {len(given.contenders):,} contenders are too many for one run: at most {CONTENDERS_MAX}"
        )
    contenders: list[Contender] = []
    for position, table in enumerate(given.contenders, 1):
        name = table.get("name")
        where = name[:80] if isinstance(name, str) else f"number {position}"
        try:
            contender = Contender.model_validate(table)
        except ValidationError as error:
            raise explain(error, Contender, partial(_contender_label, given.origin, where)) from None
        if any(contender.name == other.name for other in contenders):
            raise PlanError(f"two contenders are named {contender.name!r}: give each a name of its own")
        contenders.append(contender)
    return tuple(contenders)
