"""Change the tables of all stored run files as those of the program were changed, and seal them anew.

python -m tests.stored_runs.change 'ALTER TABLE trials ADD COLUMN …; UPDATE …'
"""

import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from bakeoff.store import seal
from tests.stored_runs.files import cases, pack, run_files, unpack


def change(path: Path, statements: str) -> None:
    """Do these statements in one run file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        connection.executescript(statements)
        connection.execute("BEGIN IMMEDIATE")
        seal.renew(connection)
        connection.execute("COMMIT")
        connection.execute("VACUUM")


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
    main(sys.argv[1])
