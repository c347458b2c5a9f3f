"""Messages delivered, accepted and read, what waits, responses, and what became of every message."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from bakeoff.kinds.mail.compare.ledger import LOSSES, ledger_counts
from bakeoff.kinds.mail.compare.metrics import PERCENTILES
from bakeoff.kinds.mail.compare.summary import SIDES, MailSummary
from bakeoff.kinds.mail.figures import MailFigures
from bakeoff.kinds.mail.plan import mail_settings
from bakeoff.kinds.mail.report.steps import steps_of_mail
from bakeoff.kinds.mail.report.words import (
    CLASSES,
    class_words,
    columns_of,
    mail_cells,
    saturation_words,
    unsaturated_words,
)
from bakeoff.load.load_step import LoadStep
from bakeoff.report.blocks.tree import Block, Bullets, Chart, Column, Section, SeverityText, Table, Text
from bakeoff.report.blocks.zeros import without_zeros
from bakeoff.report.charts.panels import courses
from bakeoff.report.charts.theme import Row
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.sections.load.seconds import FEWEST_POINTS, end_of_load_s, means

KEYS = 2
"""Columns that name a row of scores: load step and contender."""
SCORES = (
    "Geometric mean over the blocks, arithmetic where a block has 0, ± half of the 95 % interval, or both ends of "
    "one that is lopsided or would reach below 0. Delivered: accepted in the window and read back whole in it, "
    "once, counted for each recipient. Backlog: accepted and not read at the end of the window. Drain: messages read "
    "per second after the trial. Sending: share of the clients' time."
)
TIMES = (
    "Response: mean over all timed steps of SMTP and POP3, as published, and without empty polls. Visible: a message "
    "was not there yet after the one time, and there by the other (95th percentiles)."
)


@report_section("mail", detail=Detail.SUMMARY, after="result")
def section(context: Context) -> Section:
    """Everything about mail."""
    blocks: list[Block] = [
        *_scores(context),
        *_times(context),
        *_saturation(context),
        *_flow(context),
        *_ledger(context),
        *_at_each_load_step(context),
    ]
    blocks += [*_refusals(context), *steps_of_mail(context)]
    return Section("Mail", tuple(blocks))


def _scores(context: Context) -> list[Block]:
    """How much at each load step, and how long it took: two tables, as all of it together is wider than a page."""
    titles = (*columns_of(context.comparison), "drain/s", "sending")
    spare = {"drain/s": 1, "sending": 2}
    heads = (Column(title, spare=spare.get(title, 0)) for title in titles)
    columns = (Column(context.load_step_title), Column("Contender", numeric=False), *heads)
    rows: list[tuple[str, ...]] = []
    for index, load_step in enumerate(context.comparison.run.load_steps):
        for name in context.names:
            figures = [trial.figures(MailFigures) for trial in context.at(name, load_step)]
            drain = fmean([one.flowing.drain.per_s for one in figures]) if figures else math.nan
            share = fmean([one.share.sending for one in figures]) if figures else math.nan
            cells = mail_cells(context.comparison, name, index)
            rows.append((f"{load_step}", name, *cells, wording.figures(drain), wording.percent(share)))
    how = "(mean over blocks ± half of the 95 % interval)"
    tables = (
        _only(f"Scores of each load step {how}", columns, rows, False, SCORES),
        _only(f"How long steps and messages took {how}", columns, rows, True, TIMES),
    )
    return [table for table in tables if len(table.columns) > KEYS]


def _only(title: str, columns: Sequence[Column], rows: Sequence[tuple[str, ...]], times: bool, note: str) -> Table:
    """The columns that are `times`, or those that are not, behind load step and contender."""
    kept = [n for n, one in enumerate(columns) if n < KEYS or one.title.endswith(", ms") == times]
    cells = tuple(tuple(row[n] for n in kept) for row in rows)
    return Table(title, tuple(columns[n] for n in kept), cells, note, detail=Detail.SUMMARY)


# Metrics of whole pieces of work, in a closed loop and at rates, with what they are called.
WORKS = {"message": ("", "message_"), "visit of a mailbox": ("visit_", "visit_")}


def _times(context: Context) -> list[Block]:
    """How long a whole message and a whole visit took."""
    measured = {curve.metric for curve in context.comparison.curves}
    if "visit_p99" not in measured:
        return []
    prefixes = {work: of[int("message_p99" in measured)] for work, of in WORKS.items()}
    columns = [Column(context.load_step_title), Column("Contender", numeric=False)]
    columns += [Column(f"{name} ms", group=work) for work in prefixes for name in PERCENTILES]
    rows = []
    for index, load_step in enumerate(context.comparison.run.load_steps):
        for name in context.names:
            curves = [
                context.comparison.curve(prefix + percentile, name)
                for prefix in prefixes.values()
                for percentile in PERCENTILES
            ]
            rows.append((f"{load_step}", name, *(wording.figures(curve.points[index].centre) for curve in curves)))
    note = (
        "A message: from the connect, or from its MAIL where the connection had carried another, to the final reply, "
        "which is when the server has taken it. A visit: from the connect to the reply to QUIT, with all that was "
        "fetched and deleted. Failed ones are in none of these times; see Errors."
    )
    title = "Time for one message and for one visit of a mailbox (geometric mean over blocks)"
    return [Table(title, tuple(columns), tuple(rows), note, detail=Detail.SUMMARY)]


def _saturation(context: Context) -> list[Block]:
    """Who is saturated from which load step on, who is not, and the mean steps behind it."""
    own = context.comparison.own
    if not isinstance(own, MailSummary):
        return []
    blocks: list[Block] = [Text(text, "warning", detail=Detail.SUMMARY) for text in saturation_words(own)]
    blocks += [Text(text, detail=Detail.COMPARISON) for text in unsaturated_words(own, context.names)]
    known = [one for one in own.saturation if math.isfinite(one.together_s)]
    if not known:
        return blocks
    titles = ("sending, s", "reading, s", "together, s")
    columns = (
        Column(context.load_step_title),
        Column("Contender", numeric=False),
        *(Column(title) for title in titles),
    )
    rows = tuple(
        (f"{one.load_step}", one.contender, *(_step(one.mean_s(side), own.saturated_at_s) for side in SIDES))
        for load_step in context.comparison.run.load_steps
        for one in known
        if one.load_step == load_step
    )
    note = (
        "Mean over all steps of all trials, without empty polls, and with EHLO and QUIT only where these take longer; "
        f"a step that ran into its time-out counts with the time that was waited. Saturated: {own.saturated_at_s:g} s "
        "or more."
    )
    return [*blocks, Table("Mean step of sending, of reading, and of both", columns, rows, note)]


def _step(mean_s: float, at_s: float) -> str:
    text = wording.figures(mean_s)
    return SeverityText(f"{text} (saturated)", "bad") if mean_s >= at_s else text


def _flow(context: Context) -> list[Block]:
    load_step = context.peak_load_step()
    if load_step is None:
        return []
    rows: list[Row] = []
    window_s, last_s = 0.0, 0.0
    for name in context.names:
        for trial in context.at(name, load_step):
            window_s = max(window_s, trial.window_s)
            # The drain after the load has its column in the table of scores; it may be many times as long.
            end_s = end_of_load_s(context, trial)
            for second in trial.figures(MailFigures).flowing.per_second:
                if second.second + 1 > end_s:
                    continue
                last_s = max(last_s, second.second + 1.0)
                for side, count in (("accepted", second.accepted), ("read", second.read)):
                    place = {"contender": name, "series": side, "trial": trial.id}
                    rows.append({**place, "second": second.second + 0.5, "value": float(count)})
    if last_s < FEWEST_POINTS:
        return []
    begin_s = context.run.planned.settings.clock.ramp_up_s
    where = f"at {load_step.words}"
    title = f"Messages accepted and read {where}"
    window = (begin_s, begin_s + window_s, last_s)
    sub = "thin: each trial, bold: mean"
    spec = courses(rows, means(rows), context.names, window, "messages/s", (title, sub))
    series = [(name, side) for name in context.names for side in ("accepted", "read")]
    table = Table(
        title,
        (Column("Series", numeric=False), Column("per second, as in the scores"), Column("most in a second")),
        tuple(
            (f"{name}: {side}", _score(context, side, name, load_step), wording.figures(max(values)))
            for name, side in series
            if (values := [row["value"] for row in rows if (row["contender"], row["series"]) == (name, side)])
        ),
    )
    text = f"Messages that the server accepted and that were read from it in each second {where}."
    return [Chart("chart-mail-flow", title, text, spec, table, wide=True)]


def _score(context: Context, metric: str, name: str, load_step: LoadStep) -> str:
    """The mean over the blocks that the table of scores has: of the window alone, without the ramps that are drawn."""
    place = context.comparison.run.load_steps.index(load_step)
    return wording.figures(context.comparison.curve(metric, name).points[place].centre)


def _class_docs(context: Context) -> dict[str, str]:
    """Of classes of messages that do not say it themselves."""
    late_s = mail_settings(context.run.planned.settings).late_after_s
    return {
        "late": f"Late: delivered, but not yet visible {late_s:g} s after it was accepted (`--late-after`).",
        "unknown": "Unknown: the connection was lost after the final dot, so that no copy, one or several are all in "
        "order.",
        "foreign": "Foreign: not Bakeoff's, and left alone.",
    }


def _ledger(context: Context) -> list[Block]:
    columns = (Column("Messages for a recipient", numeric=False), *(Column(name) for name in context.names))
    counts = {name: ledger_counts([t for t in context.run.trials if t.contender == name]) for name in context.names}
    rows = tuple(
        (class_words(kind), *(f"{counts[name].get(kind, 0):,}" for name in context.names))
        for kind in CLASSES
        if kind in ("accepted", "delivered", "lost") or any(counts[name].get(kind) for name in context.names)
    )
    note = (
        "Every message is looked for in every mailbox, and its body is compared by SHA-256. The ledger balance in each "
        "trial: accepted = delivered + delivered more than once + damaged + lost + could not be checked."
    )
    there = {kind for of in counts.values() for kind, count in of.items() if count}
    note += "".join(f" {meaning}" for kind, meaning in _class_docs(context).items() if kind in there)
    blocks: list[Block] = [Table("What became of the messages, all trials", columns, rows, note, detail=Detail.SUMMARY)]
    for name in context.names:
        ids = [
            f"{class_words(kind)}: {message.text} (trial {trial.id})"
            for trial in context.run.trials
            if trial.contender == name
            for kind in (*LOSSES, "unchecked", "late")
            for message in trial.figures(MailFigures).ledger.ids.get(kind, ())[:5]
        ][:20]
        if ids:
            blocks.append(Text(f"{name}, the first of them (client.user.number in mailbox):"))
            blocks.append(Bullets(tuple(ids)))
    return blocks


def _at_each_load_step(context: Context) -> list[Block]:
    """What was sent and what came of it, load by load: a server may lose mail at high loads alone."""
    own = context.comparison.own
    if not isinstance(own, MailSummary) or not any(row.sent for row in own.load_steps):
        return []
    titles = ("tried", "delivered", "late", "lost", "doubled", "damaged", "visible, s (mean)")
    spare = {"late": 1, "visible, s (mean)": 2}
    heads = (Column(title, spare=spare.get(title, 0)) for title in titles)
    columns = (Column(context.load_step_title), Column("Contender", numeric=False), *heads)
    rows = tuple(
        (
            f"{row.load_step}",
            row.contender,
            *(f"{n:,}" for n in (row.sent, row.delivered, row.late, row.lost, row.duplicate, row.corrupt)),
            _between(row.visible_after_mean_ms / 1e3, row.visible_by_mean_ms / 1e3),
        )
        for load_step in context.comparison.run.load_steps
        for row in own.load_steps
        if row.load_step == load_step
    )
    note = (
        "Messages for each recipient, all trials of a load step. Tried: what clients set out to send, including "
        "refused and unfinished ones. Visible: how long delivery took at least and at most, mean over all messages "
        "that came."
    )
    if any(row.lost or row.duplicate or row.corrupt for row in own.load_steps):
        note += " `bakeoff export RUN --to lost-messages` lists lost ones by the Message-IDs of the server's log."
    table = Table("Messages at each load step, all blocks", columns, rows, note, detail=Detail.COMPARISON)
    return [without_zeros(table, ("late", "lost", "doubled", "damaged"), "Of these messages")]


def _between(after_s: float, by_s: float) -> str:
    if math.isnan(by_s):
        return wording.MISSING
    return f"{wording.figures(after_s)} – {wording.figures(by_s)}"


def _refusals(context: Context) -> list[Block]:
    by_kind: dict[str, dict[str, int]] = {}
    texts: dict[str, None] = {}
    for trial in context.run.trials:
        refusals = trial.figures(MailFigures).refusals
        for when, refused in (("init", refusals.init), ("measured", refusals.measured)):
            for kind, count in refused.counts.items():
                row = by_kind.setdefault(f"{kind.replace('_', ' ')} ({when})", {})
                row[trial.contender] = row.get(trial.contender, 0) + count
            texts |= {f"{trial.contender}: {text}": None for text in refused.texts}
    if not by_kind:
        return []
    columns = (Column("Sessions not served", numeric=False), *(Column(name) for name in context.names))
    rows = tuple((kind, *(f"{row.get(name, 0):,}" for name in context.names)) for kind, row in sorted(by_kind.items()))
    note = "A connect of 1, 3 or 7 s shows an overflow of the accept queue: the kernel dropped the first packets."
    blocks: list[Block] = [Table("Refusals by their kind, all trials", columns, rows, note)]
    if texts:
        blocks.append(Bullets(tuple(texts)[:10]))
    return blocks
