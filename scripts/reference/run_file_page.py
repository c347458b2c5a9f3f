"""docs/reference/run-file.md"""

import re
from collections.abc import Iterator

from scripts.reference.markdown import cell, code, table

from bakeoff.store.sqlite.schema import ALL, APPLICATION_ID, SCHEMA_VERSION
from bakeoff.store.sqlite.table import Column, Table

HEAD = """# The run file

A run file (`*.bakeoff`) is an SQLite database of its own form: `application_id` is {id}, `user_version` is {version},
the version of the tables below. Times are nanoseconds where the name ends in `_ns` and seconds where it ends in `_s`.
A file is sealed row by row and checked when it is read ([decision 10](../decisions/0010-run-files-are-data.md)); read
it with any SQLite, and change nothing in it.

```sh
sqlite3 -readonly my.bakeoff 'SELECT contender, load_step, operations_per_s FROM trials JOIN planned USING (position)'
```

"""


def text() -> str:
    """The page."""
    head = HEAD.format(id=f"`0x{APPLICATION_ID:x}` (“bake”)", version=SCHEMA_VERSION)
    return head + "\n".join(map(_section, ALL))


def _section(made: Table) -> str:
    rows = [
        (code(one.name), one.sql.split()[0], cell(", ".join(_notes(made, one))), _prose(one.text))
        for one in made.columns
    ]
    return f"## {made.name}\n\n{made.text}\n\n" + table(("column", "type", "", "holds"), rows)


def _notes(made: Table, column: Column) -> Iterator[str]:
    is_key = column.name in made.keys or "PRIMARY KEY" in column.sql
    if is_key:
        yield "key"
    elif "NOT NULL" not in column.sql:
        yield "may be NULL"
    if found := re.search(r"REFERENCES (\w+)\((\w+)\)", column.sql):
        yield f"of {found[1]}.{found[2]}"


def _prose(text: str) -> str:
    """Words of the code with their code in backquotes."""
    return re.sub(r"\|", r"\\|", text)
