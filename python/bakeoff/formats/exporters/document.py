"""A run as one JSON document; see `document_model`."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bakeoff.formats.exporters.document_model import LEFT_OUT, SCHEMA, shown
from bakeoff.formats.exporters.tables import left_out
from bakeoff.store.records.figures import Figures
from bakeoff.store.records.run_records import RunRecord, TrialRecord

# What only Bakeoff states of a trial: null in runs that another tool measured.
OURS = ("seed", "fairness_jain", "generator_", "control_")


def document_lines(run: RunRecord) -> Iterator[str]:
    """The text of the document, line by line: each trial, row and event is one of them."""
    yield f'{{"schema": "{SCHEMA}",'
    yield f'"run": {_line(shown(run))},'
    for name in ("contenders", "agents", "events", "searches", "soak_intervals", "amendments"):
        yield from _array(name, map(shown, getattr(run, name)))
    reasons, stated = left_out(run), run.imported_from is None
    again = {trial.order: "it was repeated" for trial in run.earlier}
    yield from _array("earlier", (_trial(trial, again, stated) for trial in run.earlier))
    yield from _array("trials", (_trial(trial, reasons, stated) for trial in run.trials), "]}")


def _trial(trial: TrialRecord, reasons: Mapping[int, str], stated: bool) -> dict[str, Any]:
    """One trial; `reasons` say by order why a trial was left out."""
    members = shown(trial) | {LEFT_OUT: reasons.get(trial.order)}
    if stated:
        return members
    nobody = trial.figures(Figures).not_stated
    return members | dict.fromkeys(key for key in members if key.startswith(OURS) or key in nobody)


def _array(name: str, items: Iterable[dict[str, Any]], end: str = "],") -> Iterator[str]:
    yield f'"{name}": ['
    before: str | None = None
    for item in items:
        if before is not None:
            yield f"{before},"
        before = _line(item)
    if before is not None:
        yield before
    yield end


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
