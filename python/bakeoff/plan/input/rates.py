"""Open-loop loads as people write them: `--rate 500,1000` and `--arrivals ramp:0.2-1.8`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, ValidationInfo

from bakeoff.core.system.bounded_read import MIB, read_text_bounded
from bakeoff.core.units import parse_duration, parse_rate
from bakeoff.load.arrivals import MOMENTS_MAX, SHAPES, Arrivals, Replay, arrivals_from_json, arrivals_to_json
from bakeoff.plan.settings.fields import Metavar, is_resolved

_FACTOR = r"([0-9]{1,6}(?:\.[0-9]{1,9})?)"
FORMS = "constant, poisson, uniform, ramp:0.2-1.8, steps:0.5x10s,2x5s, burst:10, on-off:1s/4s or file:times.txt"


def _rates(value: Any, info: ValidationInfo) -> Any:
    if value is None or is_resolved(info):
        return value
    if isinstance(value, str):
        return tuple(parse_rate(part) for part in value.split(","))
    items = value if isinstance(value, (list, tuple)) else (value,)
    if any(isinstance(item, bool) for item in items):
        raise ValueError("true and false are not rates: write them like 500,1000,2000")
    return tuple(parse_rate(item) if isinstance(item, str) else item for item in items)


def _arrivals(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, tuple(SHAPES.values())):
        return value
    if is_resolved(info):
        return arrivals_from_json(value)
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no shape of arrivals: write {FORMS}")
    return parse_arrivals(value)


Rates = Annotated[tuple[float, ...] | None, BeforeValidator(_rates), Metavar("N,N,...")]
ArrivalsField = Annotated[Arrivals, BeforeValidator(_arrivals), PlainSerializer(arrivals_to_json), Metavar("SHAPE")]


def parse_arrivals(text: str) -> Arrivals:
    """The shape that a text names; a file that it names is read. Raises ValueError with one sentence."""
    name, colon, rest = text.strip().partition(":")
    parse = _WITH_DETAILS.get(name)
    if parse is not None:
        return parse(rest)
    if colon or name not in SHAPES or fields(SHAPES[name]):
        raise ValueError(f"{text!r} is no shape of arrivals: write {FORMS}")
    return SHAPES[name]()  # type: ignore[call-arg]


def _ramp(text: str) -> Arrivals:
    match = re.fullmatch(f"{_FACTOR}-{_FACTOR}", text)
    if match is None:
        raise ValueError(f"'ramp:{text}' is no ramp: write it from one factor of the rate to another: ramp:0.2-1.8")
    return _made("ramp", {"from": float(match[1]), "to": float(match[2])})


def _steps(text: str) -> Arrivals:
    steps = []
    for part in text.split(","):
        match = re.fullmatch(f"{_FACTOR}x(.+)", part.strip())
        if match is None:
            raise ValueError(f"'steps:{text}' are no steps: write factors of the rate and times: steps:0.5x10s,2x5s")
        steps.append([float(match[1]), parse_duration(match[2])])
    return _made("steps", {"steps": steps})


def _burst(text: str) -> Arrivals:
    if not re.fullmatch("[0-9]{1,9}", text):
        raise ValueError(f"'burst:{text}' is no burst: write how many begin at once: burst:10")
    return _made("burst", {"size": int(text)})


def _on_off(text: str) -> Arrivals:
    on, slash, off = text.partition("/")
    if not slash:
        raise ValueError(f"'on-off:{text}' is no pair of times: write how long traffic is on and off: on-off:1s/4s")
    return _made("on_off", {"on_s": parse_duration(on), "off_s": parse_duration(off)})


def _file(text: str) -> Arrivals:
    """Moments in seconds, one in a line; `#` begins a comment. They count from the first moment of the trial."""
    try:
        lines = read_text_bounded(Path(text).expanduser(), MIB).splitlines()
    except OSError as error:
        raise ValueError(f"{text} cannot be read ({error.strerror}): check the path") from None
    except UnicodeDecodeError:
        raise ValueError(f"{text} is not text in UTF-8: write a moment in seconds in each line") from None
    moments: list[float] = []
    for number, line in enumerate(lines, 1):
        content = line.split("#")[0].strip()
        if not content:
            continue
        if not re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,12})?", content):
            raise ValueError(f"{text} line {number}: {content[:40]!r} is no moment: write seconds, such as 12.5")
        if moments and float(content) < moments[-1]:
            raise ValueError(
                f"{text} line {number}: time runs backwards, from {moments[-1]:g} s to {float(content):g} s: sort it"
            )
        moments.append(float(content))
        if len(moments) > MOMENTS_MAX:
            raise ValueError(f"{text} has more than {MOMENTS_MAX:,} moments: they are stored with each trial")
    if not moments:
        raise ValueError(f"{text} names no moment: write one in seconds in each line")
    return Replay(tuple(moments))


def _made(shape: str, details: Mapping[str, Any]) -> Arrivals:
    return arrivals_from_json({"shape": shape, **details})


_WITH_DETAILS: Mapping[str, Callable[[str], Arrivals]] = {
    "ramp": _ramp,
    "steps": _steps,
    "burst": _burst,
    "on-off": _on_off,
    "file": _file,
}
