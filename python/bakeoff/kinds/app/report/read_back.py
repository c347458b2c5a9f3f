"""What was looked at again after the trials: data that were written, and results of processor work."""

from __future__ import annotations

from bakeoff.kinds.app.compare.read_back import ImpossibleTimes, Unread, read_back
from bakeoff.kinds.app.figures import AppFigures
from bakeoff.report.blocks.tree import Column, Section, Table
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.advised import advised
from bakeoff.report.narrate.validity.faults import FAULTS, FaultWords
from bakeoff.report.narrate.verdict.gates import gate_words

NOTE = (
    "After each trial, outside of the measured window, records are read again on new connections and compared with "
    "what was acknowledged. All are read, or the first, the last and a random sample of 8,192. A secret of the trial "
    "draws the sample and the seeds of processor work. Not given back: the server did not answer."
)
TITLES = (
    "acknowledged writes",
    "records read again",
    "lost",
    "damaged",
    "not given back",
    "results worked out again",
    "wrong",
)
FAULTS["kept"] = FaultWords("did not keep its data", "acknowledged writes", {"lost": "lost", "damaged": "damaged"})
FAULTS["worked_out"] = FaultWords("gave wrong results", "results worked out again", {"wrong": "wrong"})


@gate_words.register
def _(detail: Unread, name: str) -> str:
    records = wording.plural(detail.asked, "record")
    return f"{name} did not give back {detail.unread:,} of {records} that were asked for again after its trials"


@report_section("read_back", after="numbers", in_full=True)
def section(context: Context) -> Section | None:
    """One row for each contender; nothing of runs in which nobody looked again."""
    rows = []
    for name in context.names:
        trials = [trial for trial in context.run.trials if trial.contender == name]
        found = read_back(trials)
        again = [repeated for trial in trials if (repeated := trial.figures(AppFigures).worked_again) is not None]
        if found is None and not again:
            continue
        cells = (
            [wording.MISSING] * 5
            if found is None
            else [f"{n:,}" for n in (found.writes, found.read, found.lost, found.damaged, found.unread)]
        )
        worked = (
            [f"{sum(one.checked for one in again):,}", f"{sum(one.wrong for one in again):,}"]
            if again
            else [wording.MISSING] * 2
        )
        rows.append((name, *cells, *worked))
    if not rows:
        return None
    columns = (Column("Contender", numeric=False), *(Column(title) for title in TITLES))
    return Section("Data and results, looked at again", (Table("After the trials", columns, tuple(rows), NOTE),))


@advised.register
def _(fact: ImpossibleTimes) -> tuple[str, str]:
    reasons = [f"longer than the whole transaction in {fact.too_long:,}"] if fact.too_long else []
    reasons += [f"shorter than any processor takes for the work in {fact.too_short:,}"] if fact.too_short else []
    return (
        f"{fact.contender} reports impossible queue and service times: {wording.names(reasons)} of {fact.told:,} "
        "replies.",
        "Do not believe its queue, service and network times; no verdict uses them.",
    )
