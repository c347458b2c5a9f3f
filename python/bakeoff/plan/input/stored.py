"""The plan of a run file as a plan again."""

from typing import Any

from pydantic import ValidationError

from bakeoff.core.errors import RunFileError
from bakeoff.plan.model import Plan
from bakeoff.store.records.run_records import RunRecord


def stored_plan(run: RunRecord) -> Plan:
    """The plan that a run was made by. Reads no file and asks nobody.

    Raises RunFileError when it is not one that this version understands.
    """
    return plan_of(run.plan, str(run.path))


def plan_of(table: dict[str, Any], named: str) -> Plan:
    """The plan that a table of a run file or a report holds; raises as `stored_plan`."""
    try:
        return Plan.from_dict(table)
    except (ValidationError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise RunFileError(
            f"{named} holds a plan that this version cannot read ({_first(error)}): run the plan again"
        ) from None


def _first(error: Exception) -> str:
    if isinstance(error, ValidationError):
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        return ascii(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}")[1:-1]
    return ascii(error)
