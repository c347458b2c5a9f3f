"""Runs of file-matrix as IOzone prints them: a file for each contender and block, which `bakeoff import` reads.

Trials of one client are matrices in kB/s, those of several are throughput tests, one for each file and record size.
Cells that were left out are blank or 0, as IOzone has them; figures are whole kB/s, cut off as IOzone cuts them.
"""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from bakeoff import __version__
from bakeoff.compat.iozone import layout
from bakeoff.compat.iozone.options import RETESTS, TESTS_OF, Options, parse
from bakeoff.core.errors import PlanError
from bakeoff.formats.exporters.base import Exporter
from bakeoff.kinds.file_matrix.plan import KIB
from bakeoff.load.load_step import Clients
from bakeoff.store.records.figures import CellFigures, Figures, figures_of
from bakeoff.store.records.run_records import OK, RunRecord, TrialRecord

KIND = "file-matrix"
MOST_FIGURE = 99_999_999
"""IOzone's columns hold so many digits and a blank; more would run into each other."""
EXTENDED = ("pwrite", "repwrite", "pread", "repread")
# Settings of a plan, and IOzone's options for them.
FLAGS = {"fsync": "-e", "close": "-c", "direct": "-I", "sync": "-o", "dsync": "-+D", "mmap": "-B"}


class Iozone(Exporter):
    name = "iozone"
    suffix = ".iozone"
    summary = "runs of file-matrix as IOzone prints them, a folder with a file for each contender and block"
    several = True

    def files(self, run: RunRecord) -> Mapping[str, str]:
        if run.kind != KIND:
            raise PlanError(f"iozone is for runs of file-matrix, not of {run.suite}: choose another format")
        made = {}
        for name, trial in _named(_whole(run)):
            text = _matrix(run, trial) if trial.load_step == Clients(1) else _throughput(run, trial)
            made[name] = text
        if not made:
            raise PlanError("the run has no trial that ended well: there is nothing to export")
        return made

    def notes(self, run: RunRecord) -> tuple[str, ...]:
        """How to read it in again, and what does not stand in it."""
        whole = _whole(run)
        notes = [f"{len(run.trials) - len(whole):,} of {len(run.trials):,} trials did not end well: they are left out"]
        notes = notes if len(whole) < len(run.trials) else []
        if any(cell.test == "mixed" for trial in whole if trial.load_step == Clients(1) for cell in _cells(run, trial)):
            notes.append("IOzone's matrix has no column for the mixed test: it is left out")
        if any(trial.load_step != Clients(1) for trial in whole):
            notes.append("trials of several clients are throughput tests, each in a file of its own")
        names = {trial.id: name for name, trial in _named(whole)}
        if words := [shlex.quote(f"{trial.contender}={names[trial.id]}") for trial in _paired(run, whole)]:
            notes.append(f"in that folder: bakeoff import {' '.join(words)} -o RUN.bakeoff")
        return tuple(notes)


def _whole(run: RunRecord) -> list[TrialRecord]:
    """The trials whose cells can be told, in the order of blocks."""
    found = [
        trial for trial in run.trials if trial.state == OK and any(_is_exported(cell) for cell in _cells(run, trial))
    ]
    return sorted(found, key=lambda trial: (trial.block, trial.order))


def _paired(run: RunRecord, whole: Sequence[TrialRecord]) -> list[TrialRecord]:
    """Matrices of blocks that all contenders have, in the order of contenders, the first of which is the baseline of
    what is read in again: the nth file of a name is read as block n.
    """
    alone = [trial for trial in whole if trial.load_step == Clients(1)]
    there = Counter(trial.block for trial in alone)
    place = {contender.name: index for index, contender in enumerate(run.contenders)}
    paired = [trial for trial in alone if there[trial.block] == len(place)]
    return sorted(paired, key=lambda trial: (place[trial.contender], trial.block))


def _cells(run: RunRecord, trial: TrialRecord) -> Sequence[CellFigures]:
    model: type[Figures] = figures_of(run.kind)
    return trial.figures(model).cells or ()


def _is_exported(cell: CellFigures) -> bool:
    return cell.skipped is None and bool(cell.rate_kib_s) and bool(cell.file_bytes) and bool(cell.record_bytes)


def _name(trial: TrialRecord) -> str:
    clients = "" if trial.load_step == Clients(1) else f"-{trial.load_step}-clients"
    name = re.sub(r"[^A-Za-z0-9._+-]", "_", trial.contender).lstrip(".-") or "contender"
    return f"{name}-{trial.block}{clients}"


def _named(whole: Sequence[TrialRecord]) -> Iterator[tuple[str, TrialRecord]]:
    """Each with the name of its file: contenders whose names come to the same have files of their own."""
    seen = Counter[str]()
    for trial in whole:
        name = _name(trial)
        seen[name] += 1
        yield f"{name}{'' if seen[name] == 1 else f'~{seen[name]}'}.txt", trial


def _options(run: RunRecord, trial: TrialRecord, cells: Sequence[CellFigures], words: Sequence[str] = ()) -> Options:
    """What would have IOzone do the same."""
    from bakeoff.compare.validity.client_options import settings_by_name  # takes a moment to load

    tests = {cell.test for cell in cells}
    numbers = [number for number, names in TESTS_OF.items() if tests.intersection(names)]
    settings = settings_by_name(run).get(trial.contender, {})
    flags = [flag for name, flag in FLAGS.items() if settings.get(name) is True]
    if "-B" in flags and tests.intersection(TESTS_OF[6] + TESTS_OF[7]):
        flags.remove("-B")  # mapped files have no streams: what is told here was no such run
    flags += ["-E"] if tests.intersection(EXTENDED) else []
    options = parse([*(word for number in numbers for word in ("-i", f"{number}")), *flags, *words])
    options.retest = bool(tests.intersection(RETESTS))
    return options


def _head(options: Options, run: RunRecord, trial: TrialRecord) -> str:
    began = datetime.fromisoformat(trial.started_at).astimezone().strftime("%a %b %e %H:%M:%S %Y")
    source = re.sub(r"\s+", " ", f"{run.path.name}: {trial.contender}, block {trial.block}")
    return f"Exported from {source}\n" + layout.splash(options, __version__, began)


def _matrix(run: RunRecord, trial: TrialRecord) -> str:
    cells = [cell for cell in _cells(run, trial) if _is_exported(cell)]
    rows: dict[tuple[int, int], dict[str, int]] = {}
    for cell in cells:
        rate = int(cell.rate_kib_s or 0.0)
        if rate > MOST_FIGURE:
            raise PlanError(f"{cell.test} of {trial.contender} made {rate:,} kB/s, which IOzone's columns cannot hold")
        rows.setdefault((cell.file_bytes or 0, cell.record_bytes or 0), {})[cell.test] = rate
    files, records = (sorted({pair[at] for pair in rows}) for at in (0, 1))
    sizes = [word for size in files for word in ("-s", f"{size // KIB}k")]
    options = _options(run, trial, cells, [*sizes, *(word for size in records for word in ("-r", f"{size // KIB}k"))])
    text = _head(options, run, trial) + layout.heading(options)
    text += "".join(layout.row(options, file, record, rows[file, record]) for file, record in sorted(rows))
    return f"{text}\niozone test complete.\n"


def _throughput(run: RunRecord, trial: TrialRecord) -> str:
    cells = [
        cell for cell in _cells(run, trial) if _is_exported(cell) and cell.per_client and cell.test in layout.THROUGHPUT
    ]
    options = _options(run, trial, cells, ["-t", f"{trial.load_step}", "-C"])
    text = _head(options, run, trial)
    pairs = sorted({(cell.file_bytes or 0, cell.record_bytes or 0) for cell in cells})
    for number, (file, record) in enumerate(pairs):
        text += layout.throughput_head(options, len(cells[0].per_client), file, record, first=number == 0)
        here = [cell for cell in cells if (cell.file_bytes, cell.record_bytes) == (file, record)]
        text += "".join(layout.throughput_block(options, one) for one in _clients(here)) + "\n"
    return f"{text}\niozone test complete.\n"


def _clients(cells: Sequence[CellFigures]) -> Iterator[layout.Clients]:
    """In IOzone's order of tests."""
    by_test = {cell.test: cell for cell in cells}
    for test in layout.THROUGHPUT:
        if (cell := by_test.get(test)) is not None:
            yield layout.Clients(
                test=test,
                rates=tuple(rate for _, rate in cell.per_client),
                moved=tuple(moved / KIB for moved, _ in cell.per_client),
                parent=(cell.bytes or 0) / KIB / (cell.last_done_s or cell.elapsed_s or 1e-9),
            )


IOZONE = Iozone()
