"""Contenders that were planned for a run and were not there when it began: it runs without them, and says so.

They stand in the environment of its run file, which anybody may have written.
"""

from __future__ import annotations

from bakeoff.store.records.run_records import RunRecord

ABSENT = "absent"
"""Its key in the environment of a run: why each contender is missing, by name."""
MOST, LONGEST = 100, 2_000


def absent_of(run: RunRecord) -> dict[str, str]:
    """Why contenders are missing from a run, by name."""
    stored = run.environment.get(ABSENT)
    there = {contender.name for contender in run.contenders}
    listed = list(stored.items())[:MOST] if isinstance(stored, dict) else []
    return {str(name)[:LONGEST]: str(why)[:LONGEST] for name, why in listed if name not in there}
