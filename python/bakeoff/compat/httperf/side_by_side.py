"""Several results of httperf side by side: one server under the load of several clients (`--client 0/4` … `3/4`)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bakeoff.core.errors import PlanError
from bakeoff.kinds.httperf.figures import HttperfFigures
from bakeoff.kinds.httperf.lines import Line, lines_of
from bakeoff.kinds.httperf.plan import httperf_settings
from bakeoff.store.records.run_records import OK, RunRecord
from bakeoff.store.sqlite.read import read_run

KIND = "httperf"
# What several clients do adds up; times do not.
ADDED = ("conn/s", "req/s", "replies/s", "sess/s", "KB/s", "")
NOT_ADDED = ("session_connections", "concurrent_connections_max")
# Samples of five seconds: each client has its own, and one of a short run may have none.
SAMPLED = ("reply_rate_min", "reply_rate_avg", "reply_rate_max", "reply_rate_stddev", "reply_rate_samples")


@dataclass(frozen=True)
class Result:
    """One run file: its column, what it says of its end if that was not as planned, and its figures."""

    title: str
    note: str
    figures: HttperfFigures


def side_by_side(paths: Sequence[Path], as_json: bool) -> str:
    """A table: a column for each, the range over them, and their sum where sums mean something.

    Raises PlanError for files that hold no single run of httperf, RunFileError for those that cannot be read.
    """
    runs = [read_run(path) for path in paths]
    results = [_result(run, path) for run, path in zip(runs, paths, strict=True)]
    lines = max((lines_of(result.figures) for result in results), key=len)
    return _json(results, lines) if as_json else _table(results, lines, _remarks(runs))


def _result(run: RunRecord, path: Path) -> Result:
    if run.kind != KIND or len(run.contenders) != 1 or len(run.load_steps) != 1 or len(run.trials) != 1:
        raise PlanError(
            f"{path} is no single run of httperf: name files that `bakeoff httperf … -o FILE` wrote; runs with several "
            "contenders have `bakeoff compare`"
        )
    trial = run.trials[0]
    client = _client(run)
    title = run.contenders[0].name if client == (0, 1) else f"{client[0]}/{client[1]}"
    return Result(title, "" if trial.state == OK else f"{title}: {trial.reason}", trial.figures(HttperfFigures))


def _client(run: RunRecord) -> tuple[int, int]:
    client = httperf_settings(run.planned.settings).client
    return client.index, client.of


def _remarks(runs: Sequence[RunRecord]) -> list[str]:
    """What stands in the way of taking them as one."""
    clients = [_client(run) for run in runs]
    of = {count for _, count in clients}
    found = []
    if len(of) > 1:
        found.append("They are clients of different numbers of clients: " + ", ".join(f"{i}/{n}" for i, n in clients))
    elif (count := of.pop()) > 1:
        missing = sorted(set(range(count)) - {index for index, _ in clients})
        if missing:
            found.append(f"Of {count} clients these are missing: {', '.join(map(str, missing))}.")
        twice = sorted({index for index, _ in clients if clients.count((index, count)) > 1})
        if twice:
            found.append(f"These clients are there more than once: {', '.join(map(str, twice))}.")
    addresses = dict.fromkeys(run.contenders[0].address for run in runs)
    if len(addresses) > 1:
        found.append(f"They are of different servers: {', '.join(addresses)}.")
    different = _different([run.plan for run in runs])
    if different:
        found.append(f"Their settings differ: {', '.join(different)}.")
    return found


def _different(plans: Sequence[dict[str, object]]) -> list[str]:
    tables = [plan.get("settings") for plan in plans]
    settings = [table if isinstance(table, dict) else {} for table in tables]
    names = dict.fromkeys(name for table in settings for name in table)
    return [
        name
        for name in names
        if name != "client" and any(table.get(name) != settings[0].get(name) for table in settings)
    ]


def _added(line: Line) -> bool:
    return line.unit in ADDED and line.key not in NOT_ADDED and not line.key.startswith(SAMPLED)


def _json(results: Sequence[Result], lines: Sequence[Line]) -> str:
    rows = {
        line.key: {
            "values": (values := [line.value(result.figures) for result in results]),
            "min": min(values),
            "max": max(values),
            "sum": sum(values) if _added(line) else None,
        }
        for line in lines
    }
    content = {"results": [result.title for result in results], "figures": rows}
    return json.dumps(content | {"notes": [r.note for r in results if r.note]}, indent=2) + "\n"


def _table(results: Sequence[Result], lines: Sequence[Line], remarks: Sequence[str]) -> str:
    rows = [["", *(result.title for result in results), "least - most", "together"]]
    for line in lines:
        values = [line.value(result.figures) for result in results]
        if not any(values) and line.key.startswith(("error_", "status_", "reply_footer", "session_fail")):
            continue
        title = f"{line.title} [{line.unit}]" if line.unit else line.title
        span = f"{line.text(min(values))} - {line.text(max(values))}"
        together = line.text(sum(values)) if _added(line) else ""
        rows.append([title, *map(line.text, values), span, together])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    text = "".join(
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]).rstrip()
        + "\n"
        for row in rows
    )
    notes = [*remarks, *(result.note for result in results if result.note)]
    return text + "".join(f"Note: {note}\n" for note in notes)
