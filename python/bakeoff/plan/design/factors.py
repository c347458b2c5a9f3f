"""Factors: settings whose combinations are contenders, so that a comparison can say what each of them does.

    [factors]
    raid = ["5", "0"]

    [factors.cache.on]
    reset = "hdparm -W1 {raid.disk}"

    [[contender]]
    name = "nginx"
    address = "http://127.0.0.1:808{raid}"

Each contender that is written is expanded into one for each combination; several of them are a factor of their own,
`server`. `{raid}` stands for a level, `{raid.disk}` for a word in the table of that level. A table of a level may have
an address, which replaces the contender's, a reset, which runs before it, and settings of how clients talk with it
(`settings/client_options.py`), each of which replaces the contender's. A contender with `factors` has those alone, and
with none it has no level. Contenders with `levels` of their own are combinations already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import Any

from pydantic import Field

from bakeoff.core.errors import PlanError
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.plan.settings.fields import Strict

# A name of a factor, and of a level, which is a part of names of contenders.
NAME, LEVEL = r"[A-Za-z][A-Za-z0-9_-]{0,39}", r"[A-Za-z0-9._+-]{1,40}"
FACTORS_MAX, COMBINATIONS_MAX = 4, 36
# The factor that several written contenders are.
SERVER = "server"
# The key of a contender, and of a level, that holds a table: how clients talk.
SETTINGS = "settings"
# The key of a contender that names the factors which it has.
OWN = "factors"
# `{raid}` or `{raid.disk}`, but not the `${raid}` of a shell.
PLACE = re.compile(r"(?<!\$)\{([A-Za-z][A-Za-z0-9_-]*)(?:\.([A-Za-z0-9_-]+))?\}")
Table = Mapping[str, Any]


class Factor(Strict):
    """A setting that is tried at several levels; the first is what the others are held against."""

    name: str = Field(pattern=f"^{NAME}$")
    levels: tuple[str, ...] = Field(min_length=1)


@dataclass(frozen=True)
class _Written:
    """A factor as a plan file has it: `tables` of its levels, which may be empty."""

    name: str
    tables: Mapping[str, Table]


def expanded(
    contenders: Sequence[Table], factors: Table, origin: str, places: Iterable[str] = ("address",)
) -> tuple[list[dict[str, Any]], tuple[Factor, ...]]:
    """The contenders, each with its `levels`, and the factors. `places` are the keys of a contender that say where it
    is. Raises PlanError.
    """
    written = [_factor(name, value, f"{origin} [factors] {name}".strip()) for name, value in factors.items()]
    if any("levels" in contender for contender in contenders):
        return _given(contenders, written, origin)
    if not written or not contenders:
        return [dict(contender) for contender in contenders], ()
    own = [_own_factors(contender, written, origin) for contender in contenders]
    found = _found([one for one, has in zip(contenders, own, strict=True) if has], written, origin)
    number = sum(prod(len(factor.tables) for factor in has) for has in own)
    if number > COMBINATIONS_MAX:
        sizes = " × ".join(f"{len(factor.levels)} of {factor.name}" for factor in found)
        raise PlanError(
            f"{origin}: {sizes} are {number:,} contenders, at most {COMBINATIONS_MAX} are combined: "
            "use fewer levels, or make two runs"
        )
    made = [
        _combined(contender, found, has, combination, tuple(places), origin)
        for contender, has in zip(contenders, own, strict=True)
        for combination in product(*(factor.tables.items() for factor in has))
    ]
    _refuse_equal(made, tuple(places), origin)
    return made, found


def parse_factors(words: Sequence[str]) -> dict[str, Any]:
    """Factors of `NAME=LEVEL,LEVEL` words. Raises PlanError that shows the form."""
    table: dict[str, Any] = {}
    for word in words:
        name, equals, levels = word.partition("=")
        if not equals or name in table:
            raise PlanError(f"--factor {word!r}: write each factor once as NAME=LEVEL,LEVEL, such as cache=on,off")
        table[name] = [level.strip() for level in levels.split(",")]
    return table


def located(factors: Any, locate: Callable[[Any], Any]) -> Any:
    """`factors` with the addresses in tables of levels put through `locate`."""
    if not isinstance(factors, dict):
        return factors
    return {
        name: {level: locate(table) if isinstance(table, dict) else table for level, table in value.items()}
        if isinstance(value, dict)
        else value
        for name, value in factors.items()
    }


def _factor(name: str, value: Any, where: str) -> _Written:
    if not re.fullmatch(NAME, name):
        raise PlanError(
            f"{where}: a name of a factor has letters, digits, - and _, 40 at most, and begins with a letter"
        )
    if isinstance(value, dict):
        wrong = next((level for level, table in value.items() if not isinstance(table, dict)), None)
        if wrong is not None:
            raise PlanError(f"{where}.{wrong}: write each level as a table of its own: [factors.{name}.{wrong}]")
        tables = dict(value)
    elif isinstance(value, list) and all(isinstance(one, str | int) and not isinstance(one, bool) for one in value):
        tables = {str(level): {} for level in value}
        if len(tables) < len(value):
            raise PlanError(f"{where}: a level stands there twice: give each once")
    else:
        raise PlanError(
            f'{where}: write the levels as a list, ["on", "off"], or each as a table [factors.{name}.LEVEL]'
        )
    for level, table in tables.items():
        if not re.fullmatch(LEVEL, level):
            raise PlanError(
                f"{where}: the level {level[:60]!r} becomes part of a name: use letters, digits and . _ + -"
            )
        _check_words(table, f"{where}.{level}")
    return _Written(name, tables)


def _check_words(table: Table, where: str) -> None:
    for key, value in table.items():
        if key == SETTINGS and not isinstance(value, dict):
            raise PlanError(f"{where} {key}: write a table: [factors.{where.rpartition('] ')[2]}.{key}]")
        if key != SETTINGS and (not isinstance(value, str | int) or isinstance(value, bool)):
            raise PlanError(f"{where} {key}: write text or a whole number, which stands for {{NAME.{key}}}")


def _own_factors(contender: Table, written: Sequence[_Written], origin: str) -> list[_Written]:
    """The factors that a contender has: all of them, unless it names some."""
    names, where = contender.get(OWN), f"{origin} contender {str(contender.get('name'))[:60]} {OWN}".strip()
    if names is None:
        return list(written)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise PlanError(f'{where}: write a list of names, ["cache"], or [] for none')
    known = [factor.name for factor in written]
    if unknown := next((name for name in names if name not in known), None):
        raise PlanError(f"{where}: there is no factor {unknown[:60]!r}: {did_you_mean(unknown, known)}")
    return [factor for factor in written if factor.name in names]


def _found(contenders: Sequence[Table], written: Sequence[_Written], origin: str) -> tuple[Factor, ...]:
    """The factors of the design: the contenders that have any are the first, where there are several."""
    for one in written:
        if len(one.tables) < 2:
            raise PlanError(f"{origin} [factors] {one.name}: a factor has two levels at least")
        if all(one.name not in contender.get(OWN, [one.name]) for contender in contenders):
            raise PlanError(f"{origin} [factors] {one.name}: no contender has it: name it in the `{OWN}` of one")
    if any(not isinstance(contender.get("name"), str) for contender in contenders):
        raise PlanError(f"{origin}: give each [[contender]] a name")
    found = [Factor(name=one.name, levels=tuple(one.tables)) for one in written]
    if len(contenders) > 1:
        if any(factor.name == SERVER for factor in found):
            raise PlanError(
                f"{origin} [factors]: {SERVER!r} are the contenders themselves: give the factor another name"
            )
        names = [_own_name(contender) for contender in contenders]
        for name in names:
            if not re.fullmatch(LEVEL, name):
                raise PlanError(f"{origin}: contender {name[:60]!r}: use letters, digits and . _ + - for its name")
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise PlanError(f"two contenders are named {twice!r}: give each a name of its own")
        found.insert(0, Factor(name=SERVER, levels=tuple(names)))
    if len(found) > FACTORS_MAX:
        raise PlanError(
            f"{origin}: {len(found)} factors ({', '.join(factor.name for factor in found)}) are too many to separate: "
            f"at most {FACTORS_MAX}, with the contenders themselves"
        )
    return tuple(found)


def _combined(
    contender: Table,
    found: Sequence[Factor],
    written: Sequence[_Written],
    combination: Sequence[tuple[str, Table]],
    places: tuple[str, ...],
    origin: str,
) -> dict[str, Any]:
    """One contender at one level of each factor that it has."""
    own = _own_name(contender)
    contender = {key: value for key, value in contender.items() if key != OWN}
    levels = {factor.name: level for factor, (level, _) in zip(written, combination, strict=True)}
    tables = {factor.name: table for factor, (_, table) in zip(written, combination, strict=True)}
    if levels and found[0].name == SERVER:
        levels, tables = {SERVER: own, **levels}, {SERVER: {}, **tables}
    where = f"{origin} contender {own[:60]}".strip()
    made: dict[str, Any] = {**contender}
    if PLACE.search(str(contender.get("name"))) is None:
        made["name"] = "-".join([own, *(level for level, _ in combination)])
    else:
        made["name"] = _filled(str(contender["name"]), levels, tables, f"{where} name", strict=True)
    for key in (*places, "ready_timeout", "watch"):
        if (replaced := _replaced(key, tables, where)) is not None:
            made[key] = replaced
    resets = [str(table["reset"]) for table in tables.values() if table.get("reset")]
    resets += [str(contender["reset"])] if contender.get("reset") else []
    if resets:
        made["reset"] = resets[0] if len(resets) == 1 else " && ".join(f"{{ {command}\n}}" for command in resets)
    for key in (*places, "reset", "watch"):
        if isinstance(made.get(key), str):
            made[key] = _filled(made[key], levels, tables, f"{where} {key}", strict=key != "reset")
    if settings := _client_options_of(contender, tables, f"{where} {SETTINGS}"):
        made[SETTINGS] = _filled_all(settings, levels, tables, f"{where} {SETTINGS}")
    return {**made, "levels": levels} if levels else made


def _client_options_of(contender: Table, tables: Mapping[str, Table], where: str) -> Any:
    """The settings of a contender at its levels, each of which replaces the contender's; in campaigns they are in
    tables of their own, one for each sort of suite.
    """
    own = contender.get(SETTINGS, {})
    if not isinstance(own, dict):
        return own  # it will be refused
    made, texts = dict(own), dict[str, str]()
    for name, table in tables.items():
        for key, value in table.get(SETTINGS, {}).items():
            whole = f"{key}." if isinstance(value, dict) else key
            inner = [f"{whole}{one}" for one in value] if isinstance(value, dict) else [key]
            if twice := next((one for one in inner if one in texts), None):
                raise PlanError(f"{where} {twice}: both {texts[twice]} and {name} say it: leave it to one of them")
            texts |= dict.fromkeys(inner, name)
            before = made.get(key)
            made[key] = {**before, **value} if isinstance(before, dict) and isinstance(value, dict) else value
    return made


def _filled_all(value: Any, levels: Mapping[str, str], tables: Mapping[str, Table], where: str) -> Any:
    """The same with levels and their words in place, in whatever it holds."""
    if isinstance(value, str):
        return _filled(value, levels, tables, where, strict=True)
    if isinstance(value, dict):
        return {key: _filled_all(one, levels, tables, f"{where} {key}") for key, one in value.items()}
    return [_filled_all(one, levels, tables, where) for one in value] if isinstance(value, list) else value


def _own_name(contender: Table) -> str:
    """What a contender is called without its levels: of `nginx-r{raid}` what stands before the first of them."""
    name = str(contender.get("name"))
    place = PLACE.search(name)
    return name if place is None else name[: place.start()].rstrip("-._+")


def _replaced(key: str, tables: Mapping[str, Table], where: str) -> Any:
    """What the levels say of a key in place of the contender."""
    naming = [name for name, table in tables.items() if key in table]
    if len(naming) > 1:
        raise PlanError(
            f"{where} {key}: both {naming[0]} and {naming[1]} replace it: let one name the other as {{{naming[1]}}}"
        )
    return tables[naming[0]][key] if naming else None


def _filled(text: str, levels: Mapping[str, str], tables: Mapping[str, Table], where: str, strict: bool) -> str:
    """`text` with levels and their words in place of `{raid}` and `{raid.disk}`; braces of others are left to the shell
    unless `strict`.
    """

    def word(found: re.Match[str]) -> str:
        name, key = found[1], found[2]
        if name not in levels:
            if strict:
                raise PlanError(f"{where}: there is no factor {name!r}: {did_you_mean(name, list(levels))}")
            return found[0]
        if key is None:
            return levels[name]
        if key not in tables[name] or key == SETTINGS:
            raise PlanError(f"{where}: {found[0]} has no word: give [factors.{name}.{levels[name]}] a line `{key} = …`")
        return str(tables[name][key])

    return PLACE.sub(word, text)


def _refuse_equal(made: Sequence[Table], places: tuple[str, ...], origin: str) -> None:
    """Two combinations that are one server would be held against each other as two."""
    for one, other in combinations([one for one in made if "levels" in one], 2):
        if all(one.get(key) == other.get(key) for key in (*places, "reset", SETTINGS)):
            apart = [name for name, level in one["levels"].items() if other["levels"].get(name) != level]
            raise PlanError(
                f"{origin}: {one['name']} and {other['name']} are the same server: let address, reset or settings say "
                f"{' or '.join(f'{{{name}}}' for name in apart)}, or give levels a reset, an address or settings of "
                "their own"
            )


def _given(
    contenders: Sequence[Table], written: Sequence[_Written], origin: str
) -> tuple[list[dict[str, Any]], tuple[Factor, ...]]:
    """Contenders that say their levels themselves: not every combination need be there, and not everyone need have a
    level of a factor.
    """
    having = [contender for contender in contenders if "levels" in contender]
    seen: dict[str, list[str]] = {}
    for contender in having:
        where = f"{origin} contender {str(contender.get('name'))[:60]} levels".strip()
        levels = contender.get("levels")
        if not isinstance(levels, dict) or not levels or not all(isinstance(one, str) for one in levels.values()):
            raise PlanError(
                f'{where}: write the level of each factor that it has: levels = {{ cache = "on" }}, or leave it out'
            )
        for name, level in levels.items():
            if not re.fullmatch(NAME, name) or not re.fullmatch(LEVEL, level):
                raise PlanError(f"{where}: use letters, digits and . _ + - for factors and levels")
            if level not in seen.setdefault(name, []):
                seen[name].append(level)
    for factor in written:
        if factor.name not in seen:
            raise PlanError(f"{origin} [factors] {factor.name}: no contender has a level of it")
        if unknown := next((level for level in seen[factor.name] if level not in factor.tables), None):
            raise PlanError(f"{origin} [factors] {factor.name}: {did_you_mean(unknown, list(factor.tables))}")
        seen[factor.name] = [level for level in factor.tables if level in seen[factor.name]]
    for name, levels in seen.items():
        of = [contender["name"] for contender in having if name in contender["levels"]]
        if len(levels) < 2 and len(of) < len(contenders):
            raise PlanError(
                f"{origin} [factors] {name}: {levels[0]} is its only level, and not all contenders have it: "
                "give it two levels at least"
            )
    ordered = [factor.name for factor in written] + [name for name in seen if name not in {f.name for f in written}]
    if len(ordered) > FACTORS_MAX:
        raise PlanError(f"{origin}: {len(ordered)} factors are too many to separate: at most {FACTORS_MAX}")
    places = [tuple(contender["levels"].get(name) for name in ordered) for contender in having]
    if len(set(places)) < len(places):
        raise PlanError(f"{origin}: two contenders have the same levels: they would be one")
    if len(places) > COMBINATIONS_MAX:
        raise PlanError(f"{origin}: {len(places)} combinations are too many for one run: at most {COMBINATIONS_MAX}")
    return [dict(contender) for contender in contenders], tuple(
        Factor(name=name, levels=tuple(seen[name])) for name in ordered
    )
