"""docs/reference/run-file.md"""

import re
import sqlite3
from contextlib import closing

from scripts.reference.markdown import cell, code, table

from bakeoff.store import schema
from bakeoff.store.meanings import TABLES, meaning

HEAD = """# The run file

A run file (`*.bakeoff`) is an SQLite database of its own form: `application_id` is {id}, `user_version` is {version},
the version of the tables below. Times are nanoseconds where the name ends in `_ns` and seconds where it ends in `_s`.
A file is sealed row by row and checked when it is read ([decision 10](../decisions/0010-run-files-are-data.md)); read
it with any SQLite, and change nothing in it.

```sh
sqlite3 -readonly my.bakeoff 'SELECT contender, mix, operations_per_s FROM trials JOIN planned USING (position)'
```

"""


def text() -> str:
    """The page."""
    head = HEAD.format(id=f"`0x{schema.APPLICATION_ID:x}` (“bake”)", version=schema.SCHEMA_VERSION)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(schema.TABLES)
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        parts = [_section(connection, name) for name in names if not name.startswith("sqlite_")]
    return head + "\n".join(parts)


def _section(connection: sqlite3.Connection, name: str) -> str:
    references = {row[3]: f"{row[2]}.{row[4]}" for row in connection.execute(f"PRAGMA foreign_key_list({name})")}
    rows = []
    for _, column, kind, not_null, _, key in connection.execute(f"PRAGMA table_info({name})"):
        notes = ["key"] if key else []
        notes += [] if not_null or key else ["may be NULL"]
        notes += [f"of {references[column]}"] if column in references else []
        rows.append((code(column), kind, cell(", ".join(notes)), _prose(meaning(name, column))))
    return f"## {name}\n\n{TABLES[name]}\n\n" + table(("column", "type", "", "holds"), rows)


def _prose(text: str) -> str:
    """Words of the code with their code in backquotes."""
    return re.sub(r"\|", r"\\|", text)
