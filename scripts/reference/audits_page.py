"""docs/reference/audits.md"""

import io
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from scripts.reference.markdown import table

from bakeoff.audit.audit import audit
from bakeoff.audit.claims.text import claims_in
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.importers import importer
from bakeoff.formats.importers.base import Options
from bakeoff.report.audit.lines import show
from bakeoff.report.narrate.audit.laws import LAWS

EXAMPLES = Path(__file__).resolve().parents[2] / "docs/examples"
PUBLISHED = EXAMPLES.parents[1] / "tests/data/published/README.md"
TABLE, TEXT = "published-web.csv", "published-web.txt"

HEAD = """# Audits of published results

An audit asks one thing: can these numbers be true together? It does not ask whether they were measured well.

## Read a published comparison

1. Type the table: a row for each load, a column for each figure, the unit in the heading, as in [this
   one](../examples/published-web.csv), which is made up. Type every digit as it is printed: 3.50 stands for all
   values from 3.495 to 3.505, and 3.5 for ten times as many. A table with a column for each server needs its
   unit once (`--unit 'MB/s'`). CSV, TSV, Markdown, `.xlsx` and outputs of tools are read.
2. Copy the sentences that claim something into a file, as they stand. Names must be those of the table. Claims
   without names go into a CSV file with the columns `claim`, `contender`, `baseline` and `metric` (`--claims`).
3. Put the outputs beside the table that it was made from, if they were published: each in a file of the name that
   its server has in the table.
4. Audit it. What you know of the machines finds more: `--link-speed 1Gbit/s` marks what only a cache explains,
   and says which files it holds. `--memory 64GiB` says which files need not have met a disk. `-o audit.html`
   writes a page with the suspicious cells marked.

```sh
bakeoff audit docs/examples/published-web.csv --text docs/examples/published-web.txt
```

```text
"""

MIDDLE = """```

* **impossible**: no values that round to the printed digits fit together. The exit code is 1.
* **off**: it may be, and seldom is: equal columns, a number beside the curve of its neighbours, a percentage on
  another base.
* **consistent**: it fits, within the rounding of its digits. What fits when a tool has cut digits is
  consistent, too. Counts are exact.

Each claim is calculated from every pair, metric and load that its sentence allows: of single loads, of peaks,
by four means, as *ratio − 1* and as *1 − ratio*. A time that falls from 2 to 1 is "50 % less" and "100 %
better". The audit says when a sentence takes the one for the other.

## What must hold

Where a law fails the audit names the number that is wrong: the one that stands out of its neighbours, or else
the one that a small slip explains. A slip is a digit lost, doubled, exchanged or another one, the point moved,
another unit. Where two numbers determine a third, any of the three may be the wrong one.

"""

FOUND = """
## How much it finds

Slips were put into tables whose truth is known (`python -m tests.unit.audit.test_seeded_slips`). Each changed a
number that other numbers determine, by 3 % or more.

| slip | tables | found |
|---|---:|---:|
| a digit lost | 159 | 100 % |
| a digit doubled | 190 | 100 % |
| two digits exchanged | 129 | 100 % |
| a cell changed by 20 % | 209 | 99.5 % |
| a unit slipped | 175 | 100 % |
| a row or column copied | 160 | 100 % |
| a total altered | 40 | 100 % |
| errors hidden | 40 | 100 % |
| a pause hidden | 40 | 100 % |
| the unit of a table slipped | 40 | 100 % |
| none, in 8 forms of tables | 800 | 0 % suspected |

## Published tables with a known error

These were published with an error that was corrected later, or that other numbers of the page prove. Each is held as
it stood and as it is right (`tests/data/published`); the audit names the error, and finds none in the corrected table.

"""

NOT_FOUND = """
## What it cannot find

| damage | why |
|---|---|
| a number that nothing else determines | nothing contradicts it; a curve of eight loads shows slips of about 20 % |
| a slip within the rounding of its digits | every value in the interval is as likely |
| a response time that is off by less than 2 % | a window cuts operations at its edges, by as much |
| numbers that were changed together | rate, operations and response time of one row can be made to fit |
| a percentile or extreme that stays in order | between its neighbours any value may be |
| a pause or a crowd under a rate (open loop) | its clients are as many as the server needs |
| failures that a table does not state | [233,000 requests/s][404] add up, and all were 404 |
| a rate of rows that were not all read | [rows ÷ time][rows] is right for the rows that are stated |
| a bad experiment | cold caches or a limited generator leave numbers that add up: `bakeoff challenge` measures again |

[404]: https://github.com/fabriziosalmi/zion/pull/176
[rows]: https://github.com/dathere/qsv/issues/4598

## Runs of Bakeoff

Every run ends with the same audit, and with that of its trials: Little's law with the virtual users, pauses and edges
that Bakeoff knows, planned starts, bytes and content. `bakeoff audit RUN.bakeoff` shows both, and a report has them in
its appendix on method. A paper has published tables in a chapter ([how](../how-to/write-a-paper.md)).
"""


def text() -> str:
    """The page."""
    rows = [(words.title, words.needs, words.finds) for words in LAWS.values()]
    laws = table(("law", "needs", "finds"), rows)
    return HEAD + _example() + MIDDLE + laws + FOUND + _published() + NOT_FOUND


def _published() -> str:
    """The table of the published tables that are held."""
    return "".join(line for line in PUBLISHED.read_text().splitlines(keepends=True) if line.startswith("|"))


def _example() -> str:
    """What the example prints, without its table of checks."""
    path = EXAMPLES / TABLE
    read = replace(importer("table").read(Source(path), Options()), path=TABLE)
    claims = Source(EXAMPLES / TEXT).text()
    made = audit([read], claims=lambda names: list(claims_in(claims, TEXT, names)))
    out = io.StringIO()
    show(made, Console(file=out, width=240, highlight=False, color_system=None))
    return out.getvalue().partition("Checked")[0].rstrip() + "\n"
