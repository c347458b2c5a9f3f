"""docs/reference/csv.md"""

from scripts.reference.json_page import made_up
from scripts.reference.markdown import code, table

from bakeoff.formats.exporters.lost_messages import COLUMNS, FATES
from bakeoff.formats.exporters.tables import TABLES, table_of
from bakeoff.store.records.run_records import RunRecord
from bakeoff.telemetry.names import DISK, LINK, MACHINE, CounterDoc
from bakeoff.telemetry.names import OWN as OF_SERVERS

HEAD = """# CSV

`bakeoff export RUN.bakeoff --to csv` writes tidy rows of a run of any suite: each row is one thing, each column one
figure. By default that is a trial or, where trials are made of cells, a cell; `--table NAME` writes another of the
tables below. `-o -` prints. Trials that failed or were voided have rows, too: `state` and `reason` say so, and
`left_out` why the figures of a trial are in no statistic of the comparison; it is empty for those that count.

Files are as RFC 4180 has them: UTF-8, a line of column names, lines end with CR LF. Units are the ends of names (`_s`
seconds, `_ms` milliseconds, `_ns` nanoseconds, `_bytes`, `_per_s`, `_kib_s` KiB/s); shares lie between 0 and 1; what
is not known is empty. Counts by class (`errors_refused`, `statuses_2xx`, `connections_opened`) have a column for each
class that occurs. Times count from the start of an operation (`service_`) or from the start that a rate planned
(`response_`).

Spreadsheets take text that begins with `=`, `+`, `-`, `@`, a tab or a line end for a formula. Such text has an
apostrophe in front, as has text that begins with one: take the first one off to have it as it was. Numbers have none.

`contender`, `block` and `order` (the place of the trial in the run) are in all tables, to join them by; the load is
`clients`, or what was offered.
"""


def text() -> str:
    """The page."""
    run = made_up(RunRecord)
    parts = [HEAD]
    for name, source in TABLES.items():
        columns = ", ".join(code(column) for column in table_of(run, name).columns)
        own = OWN.get(name, "")
        parts.append(f"## {name}\n\nA row is {source.row}.{own}\n\n{columns}\n")
        if name == "telemetry":
            parts.append(_series())
    columns = ", ".join(code(column) for column in COLUMNS)
    fates = table(("fate", "what became of the message"), [(code(fate), FATE_WORDS[fate]) for fate in FATES])
    return "\n".join([*parts, LOST, columns + "\n", fates])


def _series() -> str:
    """What is told of an interval beside its begin and length."""
    named: dict[str, CounterDoc] = {**MACHINE, **OF_SERVERS}
    named |= {f"disk/NAME/{name}": counter_doc for name, counter_doc in DISK.items()}
    named |= {f"net/NAME/{name}": counter_doc for name, counter_doc in LINK.items()}
    rows = [
        (code(name), counter_doc.text, "growth" if counter_doc.counted else "at its end")
        for name, counter_doc in named.items()
    ]
    return table(("series", "what", "of an interval"), rows)


OWN = {
    "telemetry": " It begins `at_s` after traffic did. The columns that follow are the series below, as far as "
    "they are known, with `_` for `/`.",
    "trials": " Behind them stand the figures of the kind of suite, under the names of `workload` in the JSON.",
    "cells": " Suites add figures of their own. A trial without cells has one row.",
}
LOST = """## Lost messages

`bakeoff export RUN.bakeoff --to lost-messages` lists what did not come as it was accepted: one row for each message
and recipient, with the Message-ID as it stands in the message and in logs. `accepted_at` is when the server said that
it has the message (UTC, by the clock of the machine that sent it); `message` is the client, the thread and the number
of a message within its trial. A run file lists the first 10,000 lost messages of a trial and the first 1,000 of each
other fate; where there are more, the command says so.
"""
FATE_WORDS = {
    "lost": "accepted, and in no mailbox",
    "duplicate": "delivered more than once",
    "corrupt": "delivered with another body than was sent",
    "unknown_corrupt": "the connection was lost before the reply, and the body that came is another one",
    "misdelivered": "in a mailbox that it was not for, which is `recipient`",
    "ghost": "refused, and delivered all the same",
    "resurrected": "back after its deletion was confirmed",
    "bounced": "a report says that it could not be delivered",
    "unchecked": "accepted, and its mailbox could not be read after the trial",
}
