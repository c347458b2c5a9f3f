"""Change all stored run files as the tables of the program were changed, and seal them again: statements first, where
what a new column holds must come from somewhere; then all rows into the tables as they are now.

python -m tests.stored_runs.change ['ALTER TABLE trials ADD COLUMN …; UPDATE …']
"""

import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from bakeoff.store.sqlite import seal
from bakeoff.store.sqlite.schema import ALL, APPLICATION_ID, SCHEMA_VERSION, TABLES
from bakeoff.store.sqlite.table import Table
from tests.stored_runs.files import cases, pack, run_files, unpack


def change(path: Path, statements: str = "") -> None:
    """Do these statements in one run file, and write its rows into the tables of the program."""
    old = path.rename(path.with_suffix(".old"))
    with closing(sqlite3.connect(old)) as connection:
        connection.executescript(statements)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        connection.executescript(
            f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION}; {TABLES}"
        )
        connection.execute("ATTACH ? AS old", (str(old),))
        connection.execute("BEGIN IMMEDIATE")
        for table in ALL:
            _copy(connection, table)
        seal.renew(connection)
        connection.execute("COMMIT")
        connection.execute("DETACH old")
        connection.execute("VACUUM")
    old.unlink()


def _copy(connection: sqlite3.Connection, table: Table) -> None:
    """The columns that a table had before and has now; the rest is NULL."""
    before = {row["name"] for row in connection.execute(f"PRAGMA old.table_info({table.name})")}
    names = ", ".join(column.name for column in table.columns if column.name in before)
    connection.execute(f"INSERT INTO main.{table.name} ({names}) SELECT {names} FROM old.{table.name}")


def main(statements: str) -> None:
    """Do them in all."""
    for case in cases():
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            unpack(case, folder)
            for path in run_files(folder):
                change(path, statements)
            pack(case, folder)


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
