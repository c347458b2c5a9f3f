"""What was seen of a machine or a server in a trial as a row of the run file and back.

A series whose value never changes is stored as that value: most of them do not.
"""

from typing import Any

from pydantic import ValidationError

from bakeoff.store.canonical import printable, to_json
from bakeoff.store.fields import DamagedError, Fields
from bakeoff.telemetry.model import MOST_INTERVALS, Telemetry

BOUNDS = ("at_s", "width_s")
# What facts of a trial hold beside those of the machine.
OF_PROCESSORS = ("processor_shares", "busiest_share")


def to_columns(seen: Telemetry) -> dict[str, Any]:
    """The columns of `telemetry` but for the trial and the position."""
    lists = {name: getattr(seen, name) for name in BOUNDS} | seen.series
    return {
        "role": seen.role,
        "name": printable(seen.name),
        "source": printable(seen.source),
        "window_from_s": seen.window_s[0],
        "window_to_s": seen.window_s[1],
        "intervals": len(seen.at_s),
        "series": to_json({name: _packed(values) for name, values in lists.items()}),
        "facts": to_json(seen.facts | _processors(seen)),
        "gaps": to_json([gap.model_dump() for gap in seen.gaps]),
        **seen.cost.model_dump(),
    }


def from_row(row: Fields) -> Telemetry:
    """What `to_columns` wrote. Raises DamagedError."""
    intervals = row.whole("intervals", most=2 * MOST_INTERVALS)
    lists = {name: _unpacked(value, intervals) for name, value in row.table("series").items()}
    if set(BOUNDS) - set(lists) or any(len(values) != intervals for values in lists.values()):
        raise DamagedError("telemetry.series does not hold what it must")
    facts = row.table("facts")
    try:
        return Telemetry.model_validate(
            {
                **{name: lists.pop(name) for name in BOUNDS},
                "role": row.text("role"),
                "name": row.text("name"),
                "source": row.text("source"),
                "window_s": (row.real("window_from_s"), row.real("window_to_s")),
                "series": lists,
                **{name: facts.pop(name) for name in OF_PROCESSORS if name in facts},
                "facts": facts,
                "gaps": row.tables("gaps", 1_000),
                "cost": {
                    "looks": row.whole("looks"),
                    "cpu_s": row.real("cpu_s"),
                    "remote_cpu_s": row.real_or_none("remote_cpu_s"),
                    "out_bytes": row.whole("out_bytes"),
                    "in_bytes": row.whole("in_bytes"),
                },
            }
        )
    except ValidationError as error:
        where = ".".join(map(str, error.errors(include_url=False)[0]["loc"][:2]))
        raise DamagedError(f"telemetry.{where} does not hold what it must") from None


def _processors(seen: Telemetry) -> dict[str, Any]:
    if not seen.processor_shares:
        return {}
    return {"processor_shares": list(seen.processor_shares), "busiest_share": seen.busiest_share}


def _packed(values: tuple[float | None, ...]) -> Any:
    whole = [int(value) if value is not None and value.is_integer() else value for value in map(_real, values)]
    return whole[0] if len(values) > 1 and len(set(values)) == 1 else whole


def _real(value: float | None) -> float | None:
    return None if value is None else float(value)


def _unpacked(value: Any, intervals: int) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list) else (value,) * intervals
