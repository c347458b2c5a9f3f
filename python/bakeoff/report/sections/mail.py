"""Mail: response in seconds, messages accepted and read, what waits, and what became of every message."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean

from bakeoff.compare import wording
from bakeoff.compare.mail import LOSSES, SATURATED_S, ledger_counts, overall_response_s
from bakeoff.report.blocks import Block, Bullets, Chart, Column, Section, Table, Text
from bakeoff.report.charts import Row, known, over_seconds
from bakeoff.report.context import Context
from bakeoff.report.sections.mail_steps import steps_of_mail
from bakeoff.store.records import TrialRecord

CLASSES = (
    "accepted",
    "delivered",
    "lost",
    "duplicate",
    "corrupt",
    "misdelivered",
    "ghost",
    "resurrected",
    "bounced",
    "unknown",
    "unknown_seen",
    "temporary",
    "permanent",
    "not_sent",
    "foreign",
)


def section(context: Context) -> Section | None:
    """Only runs of the mail suites have it."""
    if context.run.kind != "mail":
        return None
    blocks: list[Block] = [_scores(context), *_saturation(context), *_flow(context), *_ledger(context)]
    blocks += [*_refusals(context), *steps_of_mail(context)]
    return Section("mail", "Mail", tuple(blocks))


def _flow_of(trial: TrialRecord, *path: str) -> float:
    value: object = trial.workload
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return float(value) if isinstance(value, (int, float)) else float("nan")


def _scores(context: Context) -> Table:
    columns = (
        Column("Clients"),
        *(
            Column(title, group=name)
            for name in context.names
            for title in ("response, s", "accepted/s", "read/s", "backlog", "drain/s", "visible by p95, s", "sending")
        ),
    )
    rows = []
    for mix in context.comparison.run.mixes:
        row = [f"{mix}"]
        for name in context.names:
            row += _score_cells(context.at(name, mix))
        rows.append(tuple(row))
    note = (
        "Response: mean over all timed steps of SMTP and POP3. Accepted and read: messages per second in the window. "
        "Backlog: accepted and not read at the end of the window. Drain: messages read per second after the trial. "
        "Visible: from acceptance to the first session that shows the message. Sending: share of the clients' time."
    )
    return Table("Scores of each mix, mean over the blocks", columns, tuple(rows), note)


def _score_cells(trials: tuple[TrialRecord, ...]) -> list[str]:
    if not trials:
        return [wording.MISSING] * 7
    return [
        wording.figures(fmean([overall_response_s(t) for t in trials])),
        wording.figures(fmean([_flow_of(t, "flow", "accepted_per_s") for t in trials])),
        wording.figures(fmean([_flow_of(t, "flow", "read_per_s") for t in trials])),
        wording.figures(fmean([_flow_of(t, "flow", "backlog", "messages") for t in trials])),
        wording.figures(fmean([_flow_of(t, "flow", "drain", "per_s") for t in trials])),
        wording.figures(fmean([_flow_of(t, "visible", "by", "p95_ns") / 1e9 for t in trials])),
        wording.percent(fmean([_flow_of(t, "share", "sending") for t in trials])),
    ]


def _saturation(context: Context) -> list[Block]:
    found: list[Block] = []
    for name in context.names:
        for mix in context.comparison.run.mixes:
            trials = context.at(name, mix)
            if trials and fmean([overall_response_s(t) for t in trials]) >= SATURATED_S:
                text = (
                    f"{name} is saturated from {wording.plural(mix, 'client')}: a step takes {SATURATED_S:g} s or more."
                )
                found.append(Text(text, "warning"))
                break
    return found


def _flow(context: Context) -> list[Block]:
    mix = context.peak_mix()
    if mix is None:
        return []
    rows: list[Row] = []
    window_s = 0.0
    for name in context.names:
        for trial in context.at(name, mix):
            window_s = max(window_s, trial.window_s)
            for second in (trial.workload.get("flow") or {}).get("per_second", []):
                for side in ("accepted", "read"):
                    rows.append(
                        {
                            "contender": f"{name}: {side}",
                            "trial": trial.id,
                            "second": second["second"] + 0.5,
                            "value": float(second[side]),
                        }
                    )
    if not rows:
        return []
    series = [f"{name}: {side}" for name in context.names for side in ("accepted", "read")]
    begin_s = float(context.run.plan.get("settings", {}).get("ramp_up_s") or 0.0)
    where = f"at {wording.plural(mix, 'client')}"
    title = f"Messages accepted and read {where}"
    spec = over_seconds(
        rows, _means(rows), series, (begin_s, begin_s + window_s), title, "per second; grey: ramps and drain"
    )
    table = Table(
        title,
        (Column("Series", numeric=False), Column("mean per second"), Column("most in a second")),
        tuple(
            (one, wording.figures(fmean(values)), wording.figures(max(values)))
            for one in series
            if (values := [row["value"] for row in rows if row["contender"] == one])
        ),
    )
    text = f"Messages that the server accepted and that were read from it in each second {where}."
    return [Chart("chart-mail-flow", title, text, spec, table)]


def _means(rows: list[Row]) -> list[Row]:
    found: dict[tuple[str, float], list[float]] = defaultdict(list)
    for row in rows:
        found[row["contender"], row["second"]].append(row["value"])
    return [{"contender": name, "second": at, "value": known(fmean(values))} for (name, at), values in found.items()]


def _ledger(context: Context) -> list[Block]:
    columns = (Column("Messages for a recipient", numeric=False), *(Column(name) for name in context.names))
    counts = {name: ledger_counts([t for t in context.run.trials if t.contender == name]) for name in context.names}
    rows = tuple(
        (LOSSES.get(kind, kind.replace("_", " ")), *(f"{counts[name].get(kind, 0):,}" for name in context.names))
        for kind in CLASSES
        if kind in ("accepted", "delivered", "lost") or any(counts[name].get(kind) for name in context.names)
    )
    note = (
        "Every message is looked for in every mailbox, and its body is compared by SHA-256. The books balance in each "
        "trial: accepted = delivered + delivered more than once + damaged + lost. Unknown: the connection was lost "
        "after the final dot, so that no copy, one or several are all in order."
    )
    blocks: list[Block] = [Table("What became of the messages, all trials", columns, rows, note)]
    for name in context.names:
        ids = [
            f"{kind}: {identity} (trial {trial.id})"
            for trial in context.run.trials
            if trial.contender == name
            for kind in LOSSES
            for identity in ((trial.workload.get("ledger") or {}).get("ids") or {}).get(kind, [])[:5]
        ][:20]
        if ids:
            blocks.append(Text(f"{name}, the first of them (client.thread.number in mailbox):"))
            blocks.append(Bullets(tuple(ids)))
    return blocks


def _refusals(context: Context) -> list[Block]:
    found: dict[str, dict[str, int]] = {}
    texts: dict[str, None] = {}
    for trial in context.run.trials:
        for when in ("init", "measured"):
            refusals = (trial.workload.get("refusals") or {}).get(when, {})
            for kind, count in refusals.get("counts", {}).items():
                row = found.setdefault(f"{kind.replace('_', ' ')} ({when})", {})
                row[trial.contender] = row.get(trial.contender, 0) + int(count)
            texts |= {f"{trial.contender}: {text}": None for text in refusals.get("texts", [])}
    if not found:
        return []
    columns = (Column("Sessions not served", numeric=False), *(Column(name) for name in context.names))
    rows = tuple((kind, *(f"{row.get(name, 0):,}" for name in context.names)) for kind, row in sorted(found.items()))
    note = "A connect of 1, 3 or 7 s tells of an overflow of the accept queue: the kernel dropped the first packets."
    blocks: list[Block] = [Table("Refusals by their kind, all trials", columns, rows, note)]
    if texts:
        blocks.append(Bullets(tuple(texts)[:10]))
    return blocks
