"""Types of plan fields: text with units from people, plain numbers from a plan that was resolved before.

A resolved plan (the form stored in a run file) is validated with the context `RESOLVED`; only then are bare
numbers taken, because there each field name carries its unit.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NoReturn

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo
from pydantic.fields import FieldInfo

from bakeoff.core.errors import PlanError
from bakeoff.core.system.bounded_read import MIB, loads_toml, read_text_bounded
from bakeoff.core.units import exact_size, parse_duration, parse_share, parse_size, parse_whole, parse_whole_numbers

RESOLVED = "resolved"
TOML_BYTES = 4 * MIB


@dataclass(frozen=True)
class Metavar:
    """What stands for the value of a setting in help texts. Part of its type; a field may say otherwise."""

    text: str


@dataclass(frozen=True)
class SettingText:
    """The text that stands for a value, as a user would give it. Part of its type, where the value does not tell."""

    of: Callable[[Any], str]


def sizes_text(sizes: Iterable[int]) -> str:
    """`512B,4KiB,1MiB`."""
    return ",".join(map(exact_size, sizes))


def is_resolved(info: ValidationInfo) -> bool:
    """True while a stored plan is read back."""
    return info.context == RESOLVED


def _reader(parse: Callable[[str], Any], bare_number_is_fine: bool) -> Any:
    def read(value: Any, info: ValidationInfo) -> Any:
        if value is None or is_resolved(info):
            return value
        if isinstance(value, bool):
            raise ValueError(f"{value!r} is not a quantity")
        if isinstance(value, (int, float)):
            if bare_number_is_fine or value == 0:
                return parse(str(value))
            return parse(f"{value}")  # refused by the parser with its example
        return parse(value) if isinstance(value, str) else value

    return read


def _auto(value: Any) -> Any:
    return None if value == "auto" else value


def _numbers(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, (list, tuple)) and any(isinstance(item, bool) for item in value):
        raise ValueError("true and false are not numbers: write them like 1,4,8")
    if isinstance(value, str):
        return parse_whole_numbers(value)
    return (value,) if isinstance(value, int) and not isinstance(value, bool) else value


def _words(value: Any) -> Any:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _whole(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError(f"{value!r} is not a whole number")
    if isinstance(value, str):
        try:
            return parse_whole(value)
        except ValueError:
            raise ValueError(f"{value!r} is not a whole number") from None
    return value


def _weights(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    pairs = [part.partition("=") for part in value.split(",")]
    try:
        return {name.strip(): float(weight) for name, _, weight in pairs}
    except ValueError:
        raise ValueError(f"{value!r} is not a list of weights: write it like 223=20,735=8") from None


def full_path(text: str, base: Path) -> str:
    """A path as given, `~` too, as one that means the same anywhere: relative ones are to `base`."""
    try:
        return str(base.absolute() / Path(text).expanduser())
    except RuntimeError:  # ~ of nobody, which is then the name of a file
        return str(base.absolute() / text)


def absolute_path(value: Any, info: ValidationInfo) -> Any:
    """A path as given is relative to the working folder; a stored plan must not be."""
    return full_path(value, Path()) if isinstance(value, str) and not is_resolved(info) else value


Duration = Annotated[float, BeforeValidator(_reader(parse_duration, bare_number_is_fine=False)), Metavar("TIME")]
OptionalDuration = Annotated[
    float | None, BeforeValidator(_reader(parse_duration, False)), BeforeValidator(_auto), Metavar("TIME")
]
Share = Annotated[float, BeforeValidator(_reader(parse_share, bare_number_is_fine=True)), Metavar("PERCENT")]
OptionalShare = Annotated[
    float | None,
    BeforeValidator(_reader(parse_share, True)),
    BeforeValidator(_auto),
    Metavar("PERCENT"),
]
Size = Annotated[
    int, BeforeValidator(_reader(parse_size, bare_number_is_fine=True)), Metavar("SIZE"), SettingText(exact_size)
]
OptionalSize = Annotated[
    int | None,
    BeforeValidator(_reader(parse_size, True)),
    BeforeValidator(_auto),
    Metavar("SIZE"),
    SettingText(exact_size),
]
Whole = Annotated[int, BeforeValidator(_whole), Metavar("N")]
OptionalWhole = Annotated[int | None, BeforeValidator(_whole), BeforeValidator(_auto), Metavar("N")]
Numbers = Annotated[tuple[int, ...], BeforeValidator(_numbers), Metavar("N,N,...")]
OptionalNumbers = Annotated[
    tuple[int, ...] | None, BeforeValidator(_numbers), BeforeValidator(_auto), Metavar("N,N,...")
]
Words = Annotated[tuple[str, ...], BeforeValidator(_words), Metavar("WORD,...")]
Weights = Annotated[dict[str, float], BeforeValidator(_weights), Metavar("CLASS=SHARE,...")]
OptionalPath = Annotated[str | None, BeforeValidator(absolute_path), Metavar("PATH")]


def extra_of(field: FieldInfo) -> Mapping[str, Any]:
    """What a field says of itself beside type and description.

    `metavar`; `path` (relative to the plan file: `file` or `folder`), what it stands `after` and the `only` file of a
    folder that is read; `command` (run in a shell); `secret` (`all`, or `named` where only what is named like a secret
    is one: no plan file that is written has it); `acts` (what else it makes a run do); `table` (`plan` where it stands
    in that table of a plan file); `own` (no part of a publication); and for its flag `flag` (another name), `off` (the
    flag that turns it off), `synonym`, `short` (a letter), `repeat`, `values` (what shells offer for it; `listed`: some
    of them with commas), `also` (a flag whose `off` is meant where a suite has no setting of that name).
    """
    return field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}


class Strict(BaseModel):
    """Base of all plan models: immutable, and unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """A TOML file as a table; `what` names it in messages. Raises PlanError when it is missing or wrong."""
    try:
        return loads_toml(read_text_bounded(path, TOML_BYTES))
    except FileNotFoundError:
        refuse(f"{what} {path} does not exist: check the path")
    except OSError as error:
        refuse(f"{what} {path} cannot be read: {error.strerror}")
    except RecursionError:
        refuse(f"{what} {path} is nested too deeply: a plan has tables and lists of plain values")
    except ValueError as error:  # of TOML, of UTF-8, or of a number that is too long
        refuse(f"{what} {path} is not valid TOML: {error}")


def refuse(message: str) -> NoReturn:
    """Raise PlanError."""
    raise PlanError(message)
