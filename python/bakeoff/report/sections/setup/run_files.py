"""Several run files: in what they differ, how far they are apart, and what is said between them."""

from __future__ import annotations

from bakeoff.compare.collections.joined_model import (
    BetweenPair,
    FailedTrial,
    FileDifference,
    FileInfo,
    FileRatio,
    Joined,
    JoinedPair,
)
from bakeoff.compare.model.comparison import Comparison
from bakeoff.report.blocks.severity import SEVERITIES
from bakeoff.report.blocks.tree import Block, Column, Section, Severity, SeverityText, Table, Text
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence

SORTS = {
    "work": "what is measured",
    "plan": "plan",
    "contenders": "contender",
    "environment": "load generator",
    "software": "software",
}
# More than these are folded.
FOLDED = 24
COUNTED = {"together": "count together", "each": "better in each file", "apart": "not put together"}


@report_section("run-files", ReportPart.FRONT, Detail.SUMMARY)
def section(context: Context) -> Section | None:
    """Nothing for a run file by itself, but for what was noted of it."""
    joined, notes = context.comparison.joined, _notes(context.comparison)
    if joined is None:
        return Section("Notes", tuple(notes)) if notes else None
    first = [one for one in joined.differences if one.sort in ("work", "plan", "contenders")]
    blocks: list[Block] = [*_differences(joined, first, "What differs between the files", Detail.SUMMARY)]
    if not first:
        blocks.append(Text("The plans of the files do not differ.", "good", detail=Detail.COMPARISON))
    rest = [one for one in joined.differences if one not in first]
    blocks += _differences(joined, rest, "Machines and software that differ between the files", Detail.COMPARISON)
    blocks += [_files(context, joined), *notes, *_pairs(joined), *_drifts(joined), *_between(joined)]
    blocks += [*_failed(context, joined), *_if_counted(joined)]
    return Section("The run files", tuple(blocks))


def _differences(joined: Joined, differences: list[FileDifference], title: str, detail: Detail) -> list[Block]:
    if not differences:
        return []
    columns = (
        Column("Item", numeric=False),
        Column("Of", numeric=False, spare=1),
        *(Column(file.label, numeric=False) for file in joined.files),
    )
    rows = tuple(
        (one.item.removeprefix("settings · "), SORTS[one.sort], *map(_value, one.values)) for one in differences
    )
    note = "Where the work differs, no ratio between files has a verdict. Equal items and secrets are not shown."
    return [Table(title, columns, rows, note, folded=len(rows) > FOLDED, detail=detail)]


def _value(value: str | None) -> str:
    return "set, not shown" if value is None else value


def _files(context: Context, joined: Joined) -> Table:
    columns = (
        Column("", numeric=False),
        Column("File", numeric=False),
        Column("Started", numeric=False),
        Column("Blocks"),
        Column("Trials"),
        Column("Plan", numeric=False, spare=2),
        Column("Load from", numeric=False, spare=1),
        Column("Kernel", numeric=False, spare=3),
        Column("Bakeoff", numeric=False, spare=4),
        Column("Contenders", numeric=False),
    )
    rows = tuple(_file(context, file) for file in joined.files)
    note = (
        "Blocks are numbered on from file to file. Every block has all contenders of its file, so contenders of one "
        "file are paired. Trials of different files are never paired."
    )
    return Table("The files", columns, rows, note, detail=Detail.COMPARISON)


def _file(context: Context, file: FileInfo) -> tuple[str, ...]:
    blocks = SeverityText("failed, repeated", "bad") if file.failed else f"{file.first_block}–{file.last_block}"
    ok = file.trials.get("ok", 0)
    trials = f"{ok} of {file.trials_planned} ok"
    return (
        file.label, file.file, context.moment(file.created_at), blocks, trials,
        file.plan_hash.removeprefix("sha256:")[:12], file.machine, file.kernel, file.version,
        ", ".join(file.contenders),
    )  # fmt: skip


def _notes(comparison: Comparison) -> list[Block]:
    columns = (Column("Day", numeric=False), Column("Noted", numeric=False))
    rows = tuple((note.date, note.text) for note in comparison.notes)
    by = "By the author of this report; Bakeoff found none of it."
    return [Table("Notes", columns, rows, by, detail=Detail.SUMMARY)] if rows else []


def _verdict(one: FileRatio) -> SeverityText:
    kind = one.verdict.kind
    return SeverityText(sentence(one.verdict) if one.blocks else "no figures", SEVERITIES.get(kind, "plain"))


def _pairs(joined: Joined) -> list[Block]:
    if not joined.pairs:
        return []
    columns = (
        Column("Pair", numeric=False),
        Column("File", numeric=False),
        Column("Ratio"),
        Column("95 % interval"),
        Column("Blocks", spare=1),
        Column("Verdict of this file by itself", numeric=False),
    )
    rows = tuple(
        (
            f"{pair.contender} ÷ {pair.baseline}", one.file, wording.ratio(one.ratio, one.low, one.high),
            wording.interval(one.low, one.high), f"{one.blocks}", _verdict(one),
        )
        for pair in joined.pairs
        for one in pair.files
    )  # fmt: skip
    note = f"{wording.sentence(joined.figure)}; each line equals `bakeoff compare` of that file alone."
    apart = (
        Column("Pair", numeric=False),
        Column("Farthest apart", numeric=False),
        Column("Ratio of the two"),
        Column("95 % interval"),
        Column("p (no difference)", spare=1),
        Column("If each file counted as one", spare=2),
        Column("Their blocks", numeric=False),
    )
    why = (
        "Unpaired (Welch), Holm correction over the files. Blocks count together where the files agree, or differ by "
        "less than δ; the verdict then holds for these days. For days in general read the interval in which each file "
        "counts as one; of two files it is wide."
    )
    if any(pair.same_work and pair.counted == "apart" for pair in joined.pairs):
        why += " Where blocks of a pair do not count together, each file alone has its cells and single operations."
    return [
        Table("The same pair in each file", columns, rows, note, folded=len(rows) > FOLDED, detail=Detail.COMPARISON),
        Table("How far the files are apart", apart, tuple(map(_apart, joined.pairs)), why, detail=Detail.COMPARISON),
    ]


def _apart(pair: JoinedPair) -> tuple[str, ...]:
    severity: Severity = {"together": "good", "each": "warning", "apart": "bad"}[pair.counted]  # type: ignore[assignment]
    earlier, later = pair.apart_files
    counted = COUNTED[pair.counted] if pair.same_work else "plans differ: not put together"
    return (
        f"{pair.contender} ÷ {pair.baseline}", f"{later} ÷ {earlier}" if later else wording.MISSING,
        wording.ratio(pair.apart, pair.apart_low, pair.apart_high), wording.interval(pair.apart_low, pair.apart_high),
        wording.probability(pair.apart_p), wording.interval(pair.files_low, pair.files_high),
        SeverityText(counted, severity),
    )  # fmt: skip


def _drifts(joined: Joined) -> list[Block]:
    if not joined.drifts:
        return []
    columns = (
        Column("Contender", numeric=False),
        Column("Files", numeric=False),
        Column("Ratio"),
        Column("95 % interval"),
        Column("p (t)", spare=1),
        Column("Blocks", spare=2),
        Column("Plans", numeric=False),
    )
    rows = tuple(
        (
            one.contender, f"{one.file} ÷ {one.against}", wording.ratio(one.ratio, one.low, one.high),
            wording.interval(one.low, one.high), wording.probability(one.p), f"{one.blocks[1]} and {one.blocks[0]}",
            "the same" if one.same_work else "differ",
        )
        for one in joined.drifts
    )  # fmt: skip
    note = (
        f"{wording.sentence(joined.figure)} of the same contender, unpaired: the machine, the network, the neighbours "
        "and the contender itself are in it. In ratios inside of a file it is not."
    )
    folded = len(rows) > FOLDED
    return [Table("The same contender in two files", columns, rows, note, folded, Detail.COMPARISON)]


def _between(joined: Joined) -> list[Block]:
    if not joined.between:
        return []
    columns = (
        Column("Pair", numeric=False),
        Column("Over", numeric=False),
        Column("Ratio"),
        Column("95 % interval"),
        Column("p (Holm)", spare=1),
        Column("Blocks", spare=3),
        Column("A drift that would be all of it", spare=2),
        Column("What may be said", numeric=False),
    )
    rows = tuple(map(_between_row, joined.between))
    note = (
        f"{wording.sentence(joined.figure)}, unpaired: no file has both. Over a bridge, a contender that files of both "
        "have, it is a ratio of ratios (Welch): a change that hit all alike cancels. That all were hit alike is an "
        "assumption; two bridges that contradict each other refute it. Without a bridge, differences of days and of "
        "servers look the same: there is no interval."
    )
    folded = len(rows) > FOLDED
    return [Table("Contenders of different files", columns, rows, note, folded, Detail.COMPARISON)]


def _between_row(pair: BetweenPair) -> tuple[str, ...]:
    return (
        f"{pair.contender} ÷ {pair.baseline}", wording.names(list(pair.bridges)) or "nothing",
        wording.ratio(pair.ratio, pair.low, pair.high), wording.interval(pair.low, pair.high),
        wording.probability(pair.p_adjusted), f"{pair.blocks[1]} and {pair.blocks[0]}",
        wording.percent(pair.explained_by), SeverityText(sentence(pair), SEVERITIES.get(pair.kind, "plain")),
    )  # fmt: skip


def _failed(context: Context, joined: Joined) -> list[Block]:
    """Nothing of a failed run is hidden: not even what went well in it."""
    if not joined.failed:
        return []
    columns = (
        Column("File", numeric=False),
        Column("Contender", numeric=False),
        Column(context.load_step_title),
        Column("Block"),
        Column("How it ended", numeric=False),
        Column(f"Then ({joined.unit})"),
        Column(f"Repeated ({joined.unit})"),
    )
    note = (
        "These trials enter no ratio; their repetitions do. Repeated: geometric mean over the blocks that count. "
        "Every verdict names the contender that failed."
    )
    rows = tuple(map(_failed_row, joined.failed))
    folded = len(rows) > FOLDED
    bad = tuple(row for one, row in zip(joined.failed, rows, strict=True) if one.state != "ok")
    tables = [Table("The failed run and its repetition", columns, rows, note, folded, Detail.COMPARISON)]
    if folded and 0 < len(bad) <= FOLDED:
        tables.insert(0, Table("Failed trials and their repetition", columns, bad, detail=Detail.COMPARISON))
    return list(tables)


def _failed_row(one: FailedTrial) -> tuple[str, ...]:
    ended = "ok" if one.state == "ok" else SeverityText(f"{one.state}: {one.reason}", "bad")
    figures = wording.figures(one.value), wording.figures(one.repeated)
    return one.file, one.contender, f"{one.load_step}", f"{one.block}", ended, *figures


def _if_counted(joined: Joined) -> list[Block]:
    if not joined.if_counted:
        return []
    columns = (
        Column("Pair", numeric=False),
        Column("Ratio"),
        Column("95 % interval"),
        Column("Blocks", spare=1),
        Column("Verdict", numeric=False),
    )
    rows = tuple(
        (
            f"{one.contender} ÷ {one.baseline}", wording.ratio(one.ratio, one.low, one.high),
            wording.interval(one.low, one.high), f"{one.blocks}", sentence(one.verdict),
        )
        for one in joined.if_counted
    )  # fmt: skip
    note = "The author of this report left out the failed run files. With them the verdicts would be these."
    return [Table("If the failed run counted, too", columns, rows, note, detail=Detail.COMPARISON)]
