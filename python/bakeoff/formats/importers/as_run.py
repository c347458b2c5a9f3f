"""Foreign files as a run file: what they state, and nothing that they do not.

The nth file of each contender is block n. There is no plan, no null rate, no histogram and no figure of a generator:
who reads the run is told that it was imported (`RunRecord.imported_from`), and audits of what is not stated say so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bakeoff import __version__
from bakeoff.core.errors import PlanError
from bakeoff.formats.importers.base import Foreign, Sample
from bakeoff.load.load_step import Clients
from bakeoff.store.records.run_records import IMPORTED_FROM, OK, ContenderRecord, PlannedTrial, TrialRecord
from bakeoff.store.records.trial_parts import EMPTY_SUMMARY
from bakeoff.store.sqlite.canonical import plan_hash
from bakeoff.store.sqlite.write import RunHeader, RunWriter

# The smallest difference that matters, where no plan says another.
DELTA = 0.05
# What is measured of a link at best, of its speed: as the engine has it of its own cells.
LINK_SHARE = 0.97


@dataclass(frozen=True)
class Given:
    """A file that was read: whose figures it has."""

    contender: str
    path: Path
    content: Foreign


def write_import(target: Path, files: Sequence[Given], link_bytes_per_s: float | None = None) -> int:
    """Make the new run file `target`; returns its number of trials. Cells that are faster than the link are marked as
    cached.

    Raises PlanError for files that do not belong together, RunFileError when the file is there or cannot be written.
    """
    kinds = {given.content.kind for given in files}
    if len(kinds) != 1:
        raise PlanError(f"these files are of different work ({', '.join(sorted(kinds))}): import each work alone")
    samples = _in_order(files)
    planned = [
        PlannedTrial(order, given.contender, Clients(sample.clients), block, 0)
        for order, (block, given, sample) in enumerate(samples)
    ]
    with RunWriter.create(target, _header(target, kinds.pop(), files, planned, link_bytes_per_s), planned) as writer:
        for place, (_, given, sample) in zip(planned, samples, strict=True):
            writer.add_trial(_trial(place, given, sample, link_bytes_per_s), {})
        writer.finish()
    return len(planned)


def _in_order(files: Sequence[Given]) -> list[tuple[int, Given, Sample]]:
    """Every sample with its block, block by block."""
    seen: Counter[str] = Counter()
    blocks: list[tuple[int, Given]] = []
    for given in files:
        seen[given.contender] += 1
        blocks.append((seen[given.contender], given))
    blocks.sort(key=lambda item: item[0])
    return [(block, given, sample) for block, given in blocks for sample in given.content.samples]


def _header(
    target: Path,
    kind: str,
    files: Sequence[Given],
    planned: Sequence[PlannedTrial],
    link_bytes_per_s: float | None,
) -> RunHeader:
    link = {} if link_bytes_per_s is None else {"link_bytes_per_s": link_bytes_per_s}
    names = list(dict.fromkeys(given.contender for given in files))
    tools = ", ".join(dict.fromkeys(given.content.tool for given in files))
    return RunHeader(
        name=target.stem,
        suite=kind,
        kind=kind,
        plan={},
        plan_hash=plan_hash({}),
        tool={"version": __version__, IMPORTED_FROM: tools},
        environment={"imported": {str(given.path): dict(given.content.stated) for given in files}, **link},
        agents=(),
        contenders=[
            ContenderRecord(name, ", ".join(str(given.path) for given in files if given.contender == name), None)
            for name in names
        ],
        load_steps=tuple(sorted({trial.load_step for trial in planned})),
        blocks_planned=max(trial.block for trial in planned),
        delta=DELTA,
    )


def _trial(place: PlannedTrial, given: Given, sample: Sample, link_bytes_per_s: float | None) -> TrialRecord:
    moved = sample.bytes_in + sample.bytes_out
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
        window_s=sample.length_s,
        operations=sample.operations,
        operations_per_s=sample.operations / sample.length_s,
        bytes_in=sample.bytes_in,
        bytes_out=sample.bytes_out,
        bytes_per_s=moved / sample.length_s,
        errors=dict(sample.errors or {}),
        statuses={},
        service=sample.service,
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
        workload={**_held_against(sample.workload, link_bytes_per_s), "errors_stated": sample.errors is not None},
    )


def _held_against(workload: Mapping[str, Any], link_bytes_per_s: float | None) -> dict[str, Any]:
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
    cells: dict[str, set[str]] = {}
    for given in files:
        found = cells.setdefault(given.contender, set())
        found.update(cell["operation"] for sample in given.content.samples for cell in sample.workload.get("cells", ()))
    common = set.intersection(*cells.values())
    return [
        f"{name}: {len(own - common):,} of its {len(own):,} cells are not in the files of all others, and are compared "
        "with nothing"
        for name, own in cells.items()
        if own - common
    ]


def _written(path: Path) -> str:
    """When the file was written, for one that does not say when it was measured."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="milliseconds")
