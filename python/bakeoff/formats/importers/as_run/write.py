"""Foreign tables as a run file: what they state, and nothing that they do not.

The nth sample of a contender at a load is block n, over all of its files. There is no plan, no null rate, no histogram
and no figure of a generator: who reads the run is told that it was imported (`RunRecord.imported_from`), and audits of
what is not stated say so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bakeoff import __version__
from bakeoff.formats.foreign.table import ForeignTable
from bakeoff.formats.importers.as_run.cells import cell_samples, is_matrix
from bakeoff.formats.importers.as_run.sample import Sample
from bakeoff.formats.importers.as_run.stated import stated_samples
from bakeoff.store.records.run_records import IMPORTED_FROM, OK, ContenderRecord, PlannedTrial, TrialRecord
from bakeoff.store.records.trial_parts import EMPTY_SUMMARY
from bakeoff.store.sqlite.canonical import plan_hash
from bakeoff.store.sqlite.write import RunHeader, RunWriter

# The smallest difference that matters, where no plan says another.
DELTA = 0.05
# What is measured of a link at best, of its speed: as the engine has it of its own cells.
LINK_SHARE = 0.97
IMPORTED = "imported"
MOST_NAMED = 5


@dataclass(frozen=True)
class Given:
    """A file that was read. `contender` is whose figures it has, where the file does not say."""

    contender: str
    path: Path
    content: ForeignTable


def write_import(target: Path, files: Sequence[Given], link_bytes_per_s: float | None = None) -> int:
    """Make the new run file `target`; returns its number of trials. Cells that are faster than the link are marked as
    cached.

    Raises PlanError for files that do not belong together, RunFileError when the file is there or cannot be written.
    """
    matrix = all(is_matrix(given.content) for given in files)
    pairs = [(given.contender, given.content) for given in files]
    samples = _in_order(cell_samples(pairs) if matrix else stated_samples(pairs))
    planned = [
        PlannedTrial(order, sample.contender, sample.load_step, block, 0)
        for order, (block, sample) in enumerate(samples)
    ]
    kind = "file-matrix" if matrix else IMPORTED
    with RunWriter.create(target, _header(target, kind, files, planned, link_bytes_per_s), planned) as writer:
        for place, (_, sample) in zip(planned, samples, strict=True):
            writer.add_trial(_trial(place, sample, files[sample.file], link_bytes_per_s), {})
        writer.finish()
    return len(planned)


def _in_order(samples: Sequence[Sample]) -> list[tuple[int, Sample]]:
    """Every sample with its block, block by block."""
    seen: Counter[tuple[str, object]] = Counter()
    found = []
    for sample in samples:
        seen[sample.contender, sample.load_step] += 1
        found.append((seen[sample.contender, sample.load_step], sample))
    return sorted(found, key=lambda item: item[0])


def _header(
    target: Path,
    kind: str,
    files: Sequence[Given],
    planned: Sequence[PlannedTrial],
    link_bytes_per_s: float | None,
) -> RunHeader:
    link = {} if link_bytes_per_s is None else {"link_bytes_per_s": link_bytes_per_s}
    tools = ", ".join(dict.fromkeys(given.content.tool for given in files))
    own: dict[str, list[str]] = {}
    for given in files:
        for name in given.content.contenders():
            own.setdefault(name or given.contender, []).append(str(given.path))
    measured = {trial.contender for trial in planned}
    return RunHeader(
        name=target.stem,
        suite=kind,
        kind=kind,
        plan={},
        plan_hash=plan_hash({}),
        tool={"version": __version__, IMPORTED_FROM: tools},
        environment={IMPORTED: {str(given.path): _stated(given.content) for given in files}, **link},
        agents=(),
        contenders=[
            ContenderRecord(name, ", ".join(dict.fromkeys(paths)), None)
            for name, paths in own.items()
            if name in measured
        ],
        load_steps=tuple(sorted({trial.load_step for trial in planned})),
        blocks_planned=max(trial.block for trial in planned),
        delta=DELTA,
    )


def _stated(content: ForeignTable) -> dict[str, str]:
    """What a file states of the way of measuring, and what it does not."""
    missing = {"not stated": "; ".join(content.missing)} if content.missing else {}
    return {"format": content.format, **content.stated, **missing}


def _trial(place: PlannedTrial, sample: Sample, given: Given, link_bytes_per_s: float | None) -> TrialRecord:
    moved = (sample.bytes_in or 0) + (sample.bytes_out or 0)
    length_s = sample.length_s or 0.0
    return TrialRecord(
        id=0,
        contender=place.contender,
        load_step=place.load_step,
        block=place.block,
        order=place.order,
        seed=place.seed,
        state=OK,
        reason="",
        marks=(),
        started_at=given.content.began or _written(given.path),
        window_s=length_s,
        operations=sample.operations or 0,
        operations_per_s=(sample.operations or 0) / length_s if length_s else 0.0,
        bytes_in=sample.bytes_in or 0,
        bytes_out=sample.bytes_out or 0,
        bytes_per_s=moved / length_s if length_s else 0.0,
        errors=dict(sample.errors or {}),
        statuses={},
        service=EMPTY_SUMMARY,
        per_operation=(),
        steps=(),
        per_second=(),
        per_client=(),
        connections={},
        generator_cpu_share=0.0,
        generator_cpu_us_per_operation=0.0,
        generator_late_start=EMPTY_SUMMARY,
        generator_lag=EMPTY_SUMMARY,
        generator_rss_bytes=0,
        fairness_jain=1.0,
        workload={
            **_link_terms(sample.workload, link_bytes_per_s),
            "errors_stated": sample.errors is not None,
            "not_stated": sample.not_stated(),
        },
    )


def _link_terms(workload: Mapping[str, Any], link_bytes_per_s: float | None) -> dict[str, Any]:
    """The figures of a trial, its cells marked that are faster than the link; of the others nobody knows."""
    cells = workload.get("cells")
    if link_bytes_per_s is None or not isinstance(cells, list):
        return dict(workload)
    return {**workload, "cells": [cell | _beyond(cell["rate_kib_s"] * 1024, link_bytes_per_s) for cell in cells]}


def _beyond(bytes_per_s: float, link_bytes_per_s: float) -> dict[str, Any]:
    if bytes_per_s <= LINK_SHARE * link_bytes_per_s:
        return {}
    rate, link = (f"{value / (1 << 20):.1f} MiB/s" for value in (bytes_per_s, link_bytes_per_s))
    return {"cached": True, "cached_reason": f"{rate} is more than the link carries ({link})"}


def unpaired_cells(files: Sequence[Given]) -> list[str]:
    """A sentence for each contender with figures that the others do not all have: these are left out of comparisons."""
    cells: dict[str, dict[tuple[str, str], None]] = {}
    for given in files:
        for row in (row for row in given.content.rows if not row.breakdown):
            cells.setdefault(row.contender or given.contender, {})[row.where(), row.part] = None
    common = set.intersection(*(set(own) for own in cells.values())) if cells else set()
    return [
        f"{name}: {len(alone):,} of its {len(own):,} cells are not in the files of all others, and are compared with "
        f"nothing: {'; '.join(alone[:MOST_NAMED])}{' …' if len(alone) > MOST_NAMED else ''}"
        for name, own in cells.items()
        if (alone := [", ".join(filter(None, (part, where))) for where, part in own if (where, part) not in common])
    ]


def _written(path: Path) -> str:
    """When the file was written, for one that does not say when it was measured."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="milliseconds")
