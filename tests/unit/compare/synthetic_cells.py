"""Runs of cells that never happened: rates from a formula, ratios known."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bakeoff.store.records.run_records import RunRecord
from tests.unit.compare.synthetic import Server, run

KIB, MIB = 1024, 1 << 20
TESTS = (
    "write",
    "rewrite",
    "read",
    "reread",
    "random_read",
    "random_write",
    "backward_read",
    "record_rewrite",
    "stride_read",
    "fwrite",
    "refwrite",
    "fread",
    "refread",
)
PATTERNS = ("sequential read", "sequential write", "random read", "random write", "mixed")
FILES = tuple(64 * KIB << i for i in range(14))
RECORDS = tuple(4 * KIB << i for i in range(13))
BLOCK_SIZES = (512, *(KIB << i for i in range(16)), 63 * MIB)

# Of test, file and record size: B / A.
Ratio = Callable[[str, int, int], float]
Change = Callable[[str, int, dict[str, Any]], None]


def pairs_of_sizes() -> list[tuple[int, int]]:
    """File and record sizes of the automatic mode; from 32 MiB on no records under 64 KiB."""
    return [(f, r) for f in FILES for r in RECORDS if r <= f and (f < 32 * MIB or r >= 64 * KIB)]


def cell(test: str, file: int, record: int, rate_kib_s: float) -> dict[str, Any]:
    """A measured cell."""
    return {
        "operation": f"{test}/{file}/{record}",
        "test": test,
        "file_bytes": file,
        "record_bytes": record,
        "file_kib": file / KIB,
        "record_kib": record / KIB,
        "clients": 1,
        "skipped": None,
        "bytes": file,
        "operations": max(1, file // record),
        "rate_kib_s": rate_kib_s,
        "ios_per_s": rate_kib_s * KIB / record,
        "damaged": 0,
        "cached": None,
        "cached_reason": "",
    }


def skip(made: dict[str, Any], reason: str) -> None:
    """Turn a cell into a skipped one, which has no measured values."""
    for name in ("bytes", "operations", "rate_kib_s", "ios_per_s", "damaged", "cached", "cached_reason"):
        made.pop(name)
    made["skipped"] = reason


def base_rate(test: str, file: int, record: int) -> float:
    """KiB/s of contender A: small records cost, large files leave the cache."""
    cached = 1.0 if file <= 64 * MIB else 0.5 if file <= 128 * MIB else 0.12
    return 2e6 * cached * (record / (record + 32 * KIB)) * (0.7 if "write" in test else 1.0)


def matrix_run(
    ratio: Ratio,
    blocks: int = 6,
    tests: tuple[str, ...] = TESTS,
    sizes: list[tuple[int, int]] | None = None,
    spread: float = 0.01,
    change: Change | None = None,
    kind: str = "file-matrix",
    load_steps: tuple[int, ...] = (1,),
) -> RunRecord:
    """A run of contenders "nfs" (A) and "cifs" (B). `change` may alter each cell: contender, block, cell."""
    random = np.random.default_rng(7)
    record = run((Server("nfs", 9_000.0, 0.2), Server("cifs", 9_000.0, 0.2)), load_steps=load_steps, blocks=blocks)
    trials = []
    for trial in record.trials:
        cells = []
        for file, size in sizes or pairs_of_sizes():
            for test in tests:
                rate = base_rate(test, file, size) * (ratio(test, file, size) if trial.contender == "cifs" else 1.0)
                made = cell(test, file, size, rate * math.exp(random.normal(0.0, spread)))
                if change:
                    change(trial.contender, trial.block, made)
                cells.append(made)
        trials.append(replace(trial, workload={"cells": cells, "complete": True}, steps=()))
    plan = {**record.plan, "suite": kind, "kind": kind, "title": "File sizes × record sizes"}
    return replace(record, suite=kind, kind=kind, plan=plan, trials=tuple(trials))


def blocks_run(ratio: Ratio, blocks: int = 6, change: Change | None = None) -> RunRecord:
    """Block sizes × patterns on a region of 1 GiB."""
    sizes = [(1 << 30, size) for size in BLOCK_SIZES]
    return matrix_run(ratio, blocks, PATTERNS, sizes, change=change, kind="file-blocks")
