"""What was seen of a machine or a server in a trial as a row of the run file and back.

A series whose value never changes is stored as that value: most of them do not.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import ValidationError

from bakeoff.store.records.figure import Figure
from bakeoff.store.records.values import DamagedError
from bakeoff.store.sqlite.table import Row, Shape, Values
from bakeoff.telemetry.model import CONTENDER, GENERATOR, MOST_INTERVALS, Cost, Telemetry

BOUNDS = ("at_s", "width_s")
# What facts of a trial hold beside those of the machine.
PROCESSOR_COLUMNS = ("processor_shares", "busiest_share")


@dataclass(frozen=True)
class SeenRow:
    """The columns of it."""

    role: Annotated[str, Figure("`generator` or `contender`", words=(GENERATOR, CONTENDER))]
    name: Annotated[str, Figure("name of the agent, or of the contender")]
    source: Annotated[str, Figure("how it was sampled, in the words of `--watch`")]
    window_from_s: Annotated[float, Figure("begin of the measured window, after traffic began")]
    window_to_s: Annotated[float, Figure("end of the measured window, after traffic began")]
    intervals: Annotated[int, Figure("how many intervals the series have", most=2 * MOST_INTERVALS)]
    series: Annotated[
        dict[str, Any],
        Figure(
            "JSON object: by name an array with a value for each interval (null: not known), or one value that all "
            "have. `at_s` is when an interval begins after traffic did, `width_s` its length; counts have their growth "
            "in the interval, the rest the value at its end"
        ),
    ]
    facts: Annotated[
        dict[str, Any],
        Figure(
            "what does not change: `processors`, `memory_bytes`, `boot_id` of the machine, and `link_bytes_per_s`, the "
            "speed that each of its network links states, JSON object; with `processor_shares`, for how much of the "
            "window each processor worked, and `busiest_share`, whichever worked most in a second, a mean"
        ),
    ]
    gaps: Annotated[tuple[dict[str, Any], ...], Figure("when nothing is known (`from_s`, `to_s`, `why`), JSON array")]
    samples: Annotated[int, Figure("how often it was sampled")]
    cpu_s: Annotated[
        float, Figure("processor time that sampling took on the machine of the controller, or of the agent")
    ]
    remote_cpu_s: Annotated[
        float | None,
        Figure("processor time that it took on the machine that was sampled; NULL where it is not counted"),
    ]
    out_bytes: Annotated[int, Figure("bytes sent for it")]
    in_bytes: Annotated[int, Figure("bytes received for it")]


class _Seen(Shape[SeenRow]):
    """Rows of what was seen."""

    def row(self, record: Telemetry) -> Values:
        lists = {name: getattr(record, name) for name in BOUNDS} | record.series
        return super().row(
            SeenRow(
                role=record.role,
                name=record.name,
                source=record.source,
                window_from_s=record.window_s[0],
                window_to_s=record.window_s[1],
                intervals=len(record.at_s),
                series={name: _packed(values) for name, values in lists.items()},
                facts=record.facts | _processors(record),
                gaps=tuple(gap.model_dump() for gap in record.gaps),
                **record.cost.model_dump(),
            )
        )

    def read(self, row: Row, **known: Any) -> Any:
        stored = super().read(row, **known)
        lists = {name: _unpacked(value, stored.intervals) for name, value in stored.series.items()}
        if set(BOUNDS) - set(lists) or any(len(values) != stored.intervals for values in lists.values()):
            raise DamagedError("telemetry.series does not hold what it must")
        of_processors = {name: stored.facts[name] for name in PROCESSOR_COLUMNS if name in stored.facts}
        try:
            return Telemetry.model_validate(
                {
                    **{name: getattr(stored, name) for name in ("role", "name", "source", "gaps")},
                    **{name: lists.pop(name) for name in BOUNDS},
                    **of_processors,
                    "window_s": (stored.window_from_s, stored.window_to_s),
                    "series": lists,
                    "facts": {name: fact for name, fact in stored.facts.items() if name not in of_processors},
                    "cost": {name: getattr(stored, name) for name in Cost.model_fields},
                }
            )
        except ValidationError as error:
            where = ".".join(map(str, error.errors(include_url=False)[0]["loc"][:2]))
            raise DamagedError(f"telemetry.{where} does not hold what it must") from None


SEEN = _Seen(SeenRow, "telemetry")


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
