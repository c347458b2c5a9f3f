"""The rows of one trial in a run file, but for its histograms, events and seal."""

import sqlite3

from bakeoff.store.records.run_records import TrialRecord
from bakeoff.store.sqlite.schema import PARTS, TRIAL
from bakeoff.store.sqlite.table import insert


def insert_trial(connection: sqlite3.Connection, trial: TrialRecord) -> int:
    """Write the rows of a trial; the number that the file gave it."""
    insert(connection, "trials", [{"position": trial.order, **TRIAL.row(trial), "sha256": ""}])
    trial_id: int = connection.execute("SELECT last_insert_rowid()").fetchone()[0]
    for part in PARTS:
        rows = enumerate(map(part.shape.row, getattr(trial, part.field)))
        insert(connection, part.shape.table, [{"trial_id": trial_id, part.key: place, **row} for place, row in rows])
    return trial_id
