"""When a run is over before its last analysis: `clear`, or `precision=2%`."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from bakeoff.core.units import format_share, parse_share
from bakeoff.plan.settings.fields import Metavar

CLEAR = "clear"
PRECISION = "precision="
HOW = "write clear (the verdict is clear), or precision=2% (half-width of the interval)"


def precision_of(until: str | None) -> float | None:
    """The precision that is asked for, as a share; None where it is not what ends the run."""
    return parse_share(until.removeprefix(PRECISION)) if until and until.startswith(PRECISION) else None


def _read(value: Any) -> Any:
    if value is None or value == CLEAR:
        return value
    compact = value.replace(" ", "") if isinstance(value, str) else ""
    if not compact.startswith(PRECISION):
        raise ValueError(f"{value!r} is no stopping rule: {HOW}")
    share = parse_share(compact.removeprefix(PRECISION))
    if not 0.0001 <= share <= 0.5:
        raise ValueError(f"precision={format_share(share)}: give 0.01% to 50%, such as precision=2%")
    return f"{PRECISION}{format_share(share)}"


# As a field of a plan: its text in one way of writing.
Until = Annotated[str | None, BeforeValidator(_read), Metavar("clear|precision=SHARE")]
