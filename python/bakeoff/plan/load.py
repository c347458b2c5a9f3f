"""A plan file or the command line, to a resolved `Plan`. Nothing is sent to anybody."""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bakeoff.core.errors import PlanError
from bakeoff.core.units import LARGEST, format_duration, parse_duration
from bakeoff.load import open_loop
from bakeoff.plan.design.differences import differences
from bakeoff.plan.design.factors import Factor, expanded, located
from bakeoff.plan.design.order_choice import order_of
from bakeoff.plan.input.foreign_flags import own_flag
from bakeoff.plan.input.messages import did_you_mean, explain
from bakeoff.plan.input.paths import full_address, full_paths
from bakeoff.plan.input.stored import stored_plan
from bakeoff.plan.kind import PlanPart, plan_part, plan_section_keys, setting_owners
from bakeoff.plan.model import Contender, Plan
from bakeoff.plan.rules.capacity import LOADS, CapacityPlan, capacity_of, refuse_unfit
from bakeoff.plan.rules.objective import plain_objective
from bakeoff.plan.rules.stopping_rules import StoppingRules, analyses_and_blocks
from bakeoff.plan.settings.client_options import otherwise, refuse_other_work, settings_with
from bakeoff.plan.settings.fields import extra_of, read_toml
from bakeoff.plan.settings.fleet import FleetPlan, fleet_of
from bakeoff.plan.settings.plan_section import DELTA, DELTA_OF_CAPACITIES, PLAN_FIELDS, PlanSection
from bakeoff.plan.settings.shared import CommonSettings
from bakeoff.plan.suites import BLOCKS, Assumption, Suite, load_suite
from bakeoff.store.records.run_records import RunRecord

CONTENDERS_MAX = 100
TRIALS_MAX = 500_000
TEXT_MAX = 100_000
DEPTH_MAX = 8
TABLES = ("plan", "settings", "capacity", "fleet", "agents", "factors", "contender")
# The primary endpoint in words: what the verdict of a run is about.
PRIMARY = "geometric mean over the load steps of the ratio of {}"


SEARCHED = "capacity: the highest load that meets {}"

# By their keys in a plan file.
FLEET_FIELDS = {field.alias or name: field for name, field in FleetPlan.model_fields.items()}


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
    factors: dict[str, Any] = field(default_factory=dict)  # as written: contenders are not combined yet
    repeats: RunRecord | None = None  # the run whose plan is meant, with nothing else
    campaign: Path | None = None  # the file of a campaign, which holds several plans

    def label(self, table: str) -> Callable[[str], str]:
        """Where a key of `table` was given: `--length`, or `plan.toml [settings] length`."""

        def name(key: str) -> str:
            return self.flags.get((table, key)) or f"{self.origin} [{table}] {key}".strip()

        return name


def read_plan_file(path: Path) -> PlanInput:
    """A plan file as written. Raises PlanError when it is missing, not TOML or has unknown tables."""
    return plan_of_table(path, read_toml(path, "plan file"))


def plan_of_table(path: Path, table: Mapping[str, Any]) -> PlanInput:
    """The same of a plan file whose table was read. Raises PlanError when it has unknown tables."""
    for key in table:
        if key not in TABLES:
            raise PlanError(f"{path}: unknown table [{key}]: {did_you_mean(key, TABLES)}")
    plan, settings, contenders = table.get("plan", {}), table.get("settings", {}), table.get("contender", [])
    capacity, fleet, agents = table.get("capacity"), table.get("fleet", {}), table.get("agents", {})
    factors = table.get("factors", {})
    if not all(isinstance(one, dict) for one in (plan, settings, capacity or {}, fleet, agents, factors)):
        raise PlanError(f"{path}: write [plan], [settings], [capacity], [fleet], [factors] and [agents.NAME] as tables")
    if not isinstance(contenders, list) or not all(isinstance(c, dict) for c in contenders):
        raise PlanError(f"{path}: write each contender as its own [[contender]] table with name and address")
    given = PlanInput(str(path), plan, settings, contenders, {}, capacity, fleet, agents, factors)
    return input_relative_to(given, path.parent)


def placed(given: PlanInput) -> PlanInput:
    """`given` with full paths in place of those that are relative to the working folder: it means the same anywhere."""
    return input_relative_to(given, Path.cwd())


def input_relative_to(given: PlanInput, base: Path) -> PlanInput:
    """`given` with full paths in place of those that are relative to `base`."""
    suite = given.plan.get("suite")
    return replace(
        given,
        plan=full_paths(given.plan, "plan", suite, base),
        settings=full_paths(given.settings, "settings", suite, base),
        contenders=[full_address(contender, suite, base) for contender in given.contenders],
        factors=located(given.factors, partial(full_address, suite=suite, base=base)),
    )


def with_flags(
    given: PlanInput,
    plan: Mapping[str, Any],
    settings: Mapping[str, Any],
    resets: Mapping[str, str],
    capacity: Mapping[str, Any] | None = None,
    fleet: Mapping[str, Any] | None = None,
    watched: Mapping[str, str] | None = None,
    factors: Mapping[str, Any] | None = None,
    client_options: Mapping[str, Mapping[str, Any]] | None = None,
) -> PlanInput:
    """`given` with what the flags say put over it. All but `resets`, `watched` and `client_options` (settings of their
    own), which are by contender, are keyed as in a plan file; where `capacity` is not None, one is searched.

    Raises PlanError when one of these names no contender.
    """
    contenders = [dict(c) for c in given.contenders]
    for key, words in (("reset", resets), ("watch", watched or {})):
        for name, word in words.items():
            _named(contenders, name, key)[key] = word
    for name, table in (client_options or {}).items():
        contender = _named(contenders, name, "contender-setting")
        before = contender.get("settings", {})
        contender["settings"] = {**before, **table} if isinstance(before, dict) else before
    flags = {("plan", key): "--" + key.replace("_", "-") for key in plan}
    flags |= {("settings", key): "--" + key.replace("_", "-") for key in settings}
    flags |= {("capacity", key): "--" + key.replace("_", "-") for key in capacity or ()}
    flags |= {
        ("fleet", key): f"--{extra_of(FLEET_FIELDS[key]).get('flag', key.replace('_', '-'))}" for key in fleet or ()
    }
    flags |= {("factors", key): f"--factor {key}" for key in factors or ()}
    return replace(
        given,
        plan={**given.plan, **plan},
        settings={**given.settings, **settings},
        contenders=contenders,
        flags={**given.flags, **flags},
        capacity=given.capacity if capacity is None else {**(given.capacity or {}), **capacity},
        fleet={**given.fleet, **(fleet or {})},
        factors={**given.factors, **(factors or {})},
    )


def _named(contenders: Sequence[dict[str, Any]], name: str, flag: str) -> dict[str, Any]:
    """The contender that a flag names. Raises PlanError."""
    named = next((c for c in contenders if c.get("name") == name), None)
    if named is None:
        names = [str(c.get("name")) for c in contenders]
        raise PlanError(f"--{flag}: there is no contender {name!r}: {did_you_mean(name, names)}")
    return named


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
    written = [given.plan, given.settings, given.contenders, given.capacity, given.fleet, given.agents, given.factors]
    try:
        _refuse_what_cannot_be_stored(given.origin, written, 0)
        plan = _resolve(given)
    except OSError as error:
        raise PlanError(f"{given.origin}: {error.filename}: {error.strerror}: check the path") from None
    if plan.most_trials > TRIALS_MAX:
        raise PlanError(
            f"{given.origin}: {plan.most_trials:,} trials are too many for one run: at most {TRIALS_MAX:,}; "
            "use fewer blocks, load steps or contenders"
        )
    return plan


def _repeated(given: PlanInput, run: RunRecord) -> Plan:
    """The plan of a run. Raises PlanError where something else is given beside it."""
    tables = (
        ("plan", given.plan),
        ("settings", given.settings),
        ("capacity", given.capacity),
        ("fleet", given.fleet),
        ("factors", given.factors),
    )
    repeated_labels = [given.label(table)(key) for table, keys in tables for key in keys or ()]
    repeated_labels += [f"{contender.get('name')}={contender.get('address')}" for contender in given.contenders]
    if repeated_labels or given.capacity is not None:
        what = f": leave out {', '.join(repeated_labels)}" if repeated_labels else ""
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
            raise PlanError(f"{origin}: a text of {len(value):,} characters is too long: {value[:40]!r} …")
    elif isinstance(value, int):
        if abs(value) > LARGEST:
            raise PlanError(f"{origin}: a number of {value.bit_length()} bits is too large: use at most 63 bits")
    elif isinstance(value, (Mapping, list, tuple)):
        if depth > DEPTH_MAX:
            raise PlanError(f"{origin}: the plan is nested too deeply: it has tables and lists of plain values")
        inner = [*value.keys(), *value.values()] if isinstance(value, Mapping) else value
        for item in inner:
            _refuse_what_cannot_be_stored(origin, item, depth + 1)


def _resolve(given: PlanInput) -> Plan:
    changed = tuple(sorted(given.settings))
    own = {key: value for key, value in given.plan.items() if key in plan_section_keys()}
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

    def label(key: str) -> str:
        return given.label("plan" if key in own else "settings")(key)

    settings = settings_with(kind, defaults, given.settings, {}, own, label)
    contenders, factors = _contenders(given)
    its = {
        c.name: _own_settings(given, kind, head.suite, c, (defaults, own)) if c.settings else settings
        for c in contenders
    }
    asked = {c.name: c.settings for c in contenders}
    for key in given.settings:
        if all(key in own_ones for own_ones in asked.values()):
            raise PlanError(f"{label(key)}: each contender has its own, so this one has no effect: leave it out")
    contenders = tuple(c.model_copy(update={"settings": otherwise(settings, its[c.name])}) for c in contenders)
    fleet = fleet_of(given.fleet, given.agents, [c.name for c in contenders], given.label("fleet"), given.origin)
    if fleet.agents > 1 and (why := kind.why_indivisible(settings)) is not None:
        raise PlanError(f"{given.label('fleet')('agents')}: {why}")
    addresses = {
        c.name: [c.address, *(seen[c.name] for seen in fleet.addresses.values() if c.name in seen)] for c in contenders
    }
    for name, places in addresses.items():
        for address in places:
            kind.check_address(address, its[name])
    everywhere = [address for places in addresses.values() for address in places]
    idle = {name: its[name].without_effect(places) for name, places in addresses.items()}
    # What does nothing for the run as a whole may do something for one that is spoken to otherwise.
    for_all = {
        key: why
        for key, why in settings.without_effect(everywhere).items()
        if all(key in idle[name] for name, own in asked.items() if own)
    }
    _refuse_without_effect(given.settings, settings, for_all, given.label("settings"))
    for name, why_not in idle.items():
        _refuse_without_effect(asked[name], its[name], why_not, _settings_label(given, name))
    delta = head.delta or (DELTA if search is None else DELTA_OF_CAPACITIES)
    if search is not None:
        refuse_unfit(search, settings, delta, head.error_limit, given.label("capacity"))
    if (why := analyses_and_blocks(head.interim_analyses, head.blocks)) is not None:
        raise PlanError(f"{given.label('plan')('interim_analyses')}: {why}")
    if head.until is not None and len(contenders) < 2:
        what = given.label("plan")("until")
        raise PlanError(f"{what}: one contender has no ratio that could be clear: name a second")
    return Plan(
        name=head.name or head.suite,
        suite=head.suite,
        kind=suite.suite.kind,
        title=suite.suite.title,
        modelled_on=suite.suite.modelled_on,
        size=head.size,
        blocks=head.interim_analyses[-1] if head.interim_analyses else head.blocks or BLOCKS[head.size],
        seed=head.seed,
        delta=delta,
        error_limit=head.error_limit,
        primary=_primary(settings, kind.endpoint) if search is None else SEARCHED.format(search.objective),
        settings=settings,
        changed=changed,
        classes=tuple(kind.classes(suite, settings)),
        contenders=contenders,
        factors=factors,
        assumed=_assumed(suite, given.settings, settings, for_all),
        differences=differences(suite, settings, its, for_all),
        capacity=search,
        objective=plain_objective(head.objective, search is not None, settings, head.error_limit, given.label("plan")),
        fleet=fleet,
        order=order_of(head.order, suite.suite.kind, contenders, search, given.label("plan")("order")),
        **{name: getattr(head, name) for name in StoppingRules.model_fields},
    )


def _primary(settings: CommonSettings, endpoint: str) -> str:
    """What the verdict of a run is about, in words."""
    if not settings.is_at_rates:
        return PRIMARY.format(endpoint + settings.weighted)
    begin_s, end_s = settings.clock.ramp_up_s, settings.length_s - settings.clock.ramp_down_s
    figure = open_loop.deciding(settings.load_steps, begin_s, end_s, settings.length_s, settings.clock.operations)
    return open_loop.PRIMARY.format(figure=open_loop.words_of(figure))


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


def _assumed(
    suite: Suite, changed: Mapping[str, Any], settings: CommonSettings, idle: Container[str]
) -> tuple[str, ...]:
    """What is assumed of the values in use, and of nothing that does not take part."""
    return tuple(
        a.text
        for a in suite.suite.assumed
        if (a.setting is None or _is_assumed(a, changed, settings, idle))
        and not (a.unless and getattr(settings, a.unless))
    )


def _is_assumed(a: Assumption, changed: Mapping[str, Any], settings: CommonSettings, idle: Container[str]) -> bool:
    if a.setting is None or a.setting in idle:
        return False
    if a.value is None:
        return a.setting not in changed
    fields = type(settings).model_fields
    name = next(name for name, field in fields.items() if a.setting in (name, field.alias))
    assumed = type(settings).model_validate({a.setting: a.value})
    return bool(getattr(settings, name) == getattr(assumed, name))


def _head(given: PlanInput, own: Mapping[str, Any]) -> PlanSection:
    """The table `[plan]` without the settings of kinds that stand in it (`own`)."""
    known = {*PLAN_FIELDS, *plan_section_keys()}
    for key in given.plan:
        if key not in known:
            raise PlanError(f"{given.label('plan')(key)}: unknown key: {did_you_mean(key, known)}")
    try:
        return PlanSection.model_validate({key: value for key, value in given.plan.items() if key not in own})
    except ValidationError as error:
        raise explain(error, PlanSection, given.label("plan")) from None


def _refuse_settings_of_other_kinds(given: PlanInput, kind: str) -> None:
    for key, owners in setting_owners().items():
        table = "plan" if key in plan_section_keys() else "settings"
        if key in (given.plan if table == "plan" else given.settings) and kind not in owners:
            kinds = f"{', '.join(owners[:-1])} and {owners[-1]}" if len(owners) > 1 else owners[0]
            label = given.label(table)(key)
            raise PlanError(f"{label}: belongs to suites of kind {kinds}: {own_flag(label) or 'leave it out'}")
        if table == "plan" and key in given.settings:
            raise PlanError(f"{given.label('settings')(key)}: belongs in the table [plan]: move it there")


def _refuse_without_effect(
    given: Mapping[str, Any], settings: CommonSettings, reasons: Mapping[str, str], label: Callable[[str], str]
) -> None:
    """A setting that would silently do nothing is an error, unless it says what is so anyway."""
    fields = {field.alias or name: (name, field) for name, field in type(settings).model_fields.items()}
    for key, why in reasons.items():
        name, field = fields[key]
        if key in given and getattr(settings, name) != field.default:
            raise PlanError(f"{label(key)}: {why}")


def _own_settings(
    given: PlanInput, kind: PlanPart, suite: str, contender: Contender, written: tuple[dict[str, Any], dict[str, Any]]
) -> CommonSettings:
    """The settings of a contender, of which it has some of its own. `written` are the suite's, and those of the table
    [plan].
    """
    label = _settings_label(given, contender.name)
    refuse_other_work(contender.settings, kind, suite, label)
    defaults, around = written
    return settings_with(kind, defaults, given.settings, contender.settings, around, label)


def _settings_label(given: PlanInput, name: str) -> Callable[[str], str]:
    return partial(_contender_label, given.origin, f"{name} settings")


def _contender_label(origin: str, name: str, key: str) -> str:
    return f"{origin} contender {name} {key}".strip()


def _contenders(given: PlanInput) -> tuple[tuple[Contender, ...], tuple[Factor, ...]]:
    """The contenders, those of every combination of factors, and the factors."""
    if not given.contenders:
        raise PlanError(f"{given.origin}: name at least one contender, better two: NAME=ADDRESS NAME=ADDRESS")
    if len(given.contenders) > CONTENDERS_MAX:
        raise PlanError(
            f"{given.origin}: {len(given.contenders):,} contenders are too many for one run: at most {CONTENDERS_MAX}"
        )
    combined, factors = expanded(given.contenders, given.factors, given.origin)
    contenders: list[Contender] = []
    for position, table in enumerate(combined, 1):
        name = table.get("name")
        where = name[:80] if isinstance(name, str) else f"number {position}"
        try:
            contender = Contender.model_validate(table)
        except ValidationError as error:
            raise explain(error, Contender, partial(_contender_label, given.origin, where)) from None
        if any(contender.name == other.name for other in contenders):
            raise PlanError(f"two contenders are named {contender.name!r}: give each a name of its own")
        contenders.append(contender)
    return tuple(contenders), factors
