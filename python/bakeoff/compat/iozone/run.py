"""Runs what IOzone's options ask for, on the engine's file matrix."""

import os
import shlex
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from bakeoff import __version__
from bakeoff.agents.base import Agent
from bakeoff.agents.spec import TrialSpec
from bakeoff.compat.iozone import layout
from bakeoff.compat.iozone.layout import THROUGHPUT, Clients
from bakeoff.compat.iozone.options import Options
from bakeoff.core.errors import ContenderError, GeneratorError, PlanError
from bakeoff.core.system.mounts import mount_of
from bakeoff.core.times import us_of
from bakeoff.kinds.file_matrix.plan import KIB
from bakeoff.kinds.file_matrix.spec import FileMatrixWorkload
from bakeoff.kinds.files.plan import check_folder_address
from bakeoff.load import load_step

LENGTH_S = 24 * 3600.0
STALL_S = 600.0
POLL_S = 1.0
CANCEL_PATIENCE_S = 5.0
Write = Callable[[str], object]


def run(options: Options, agent: Agent, write: Write) -> None:
    """Everything, results as they come. Raises a BakeoffError when it cannot be done."""
    check_folder_address(str(options.folder))
    processors_of(options, max(options.throughput, default=1))
    if options.throughput:
        file, record = _sizes(options)
        if record > file:
            raise ContenderError(f"-r: a record of {record // KIB} kB does not fit a file of {file // KIB} kB")
    write(layout.splash(options, __version__, datetime.now().strftime("%a %b %e %H:%M:%S %Y")))
    if options.throughput:
        _throughput(options, agent, write)
    else:
        _matrix(options, agent, write)


def _matrix(options: Options, agent: Agent, write: Write) -> None:
    tests = [test for test in options.wanted() if test in options.columns()]
    write(layout.heading(options))
    cells: dict[tuple[int, int, str], int] = {}
    for file, record in options.pairs():
        values = {}
        if record <= file:
            pair_cells = trial(options, agent, [(file, record)], tests, 1)
            values = {cell["test"]: value_of(options, cell) for cell in pair_cells}
        cells |= {(file, record, test): value for test, value in values.items()}
        write(layout.row(options, file, record, values))
        time.sleep(options.pause_s)
    write("\niozone test complete.\n")
    if options.excel:
        write(layout.excel(options, cells))


def processors_of(options: Options, clients: int) -> tuple[int, ...] | None:
    """The processors that clients are bound to in turn: from that of -P on, around to the first. Raises PlanError."""
    if options.processor is None:
        return None
    count = os.cpu_count() or 1
    chosen = tuple((options.processor + client) % count for client in range(min(clients, count)))
    if options.processor >= count or not set(chosen) <= os.sched_getaffinity(0):
        allowed = sorted(os.sched_getaffinity(0))
        raise PlanError(f"-P {options.processor}: this process may use {allowed}: name one of these")
    return chosen


def value_of(options: Options, cell: dict[str, Any]) -> int:
    """The number in the matrix: whole kB/s, operations/s or µs per operation."""
    elapsed_s, operations = cell["elapsed_s"] or 1e-9, cell["operations"]
    if options.unit == "ops":
        return int(operations / elapsed_s)
    if options.unit == "usec":
        return int(us_of(elapsed_s) / max(1, operations))
    return int(cell["bytes"] / elapsed_s) >> 10


def _throughput(options: Options, agent: Agent, write: Write) -> None:
    tests = [test for test in THROUGHPUT if test in options.wanted()]
    file, record = _sizes(options)
    if options.count_min is not None or options.count_max is not None:
        write(f"\tMin process = {min(options.throughput)} \n\tMax process = {max(options.throughput)} \n")
    columns: list[list[Clients]] = []
    for position, count in enumerate(options.throughput):
        write(layout.throughput_head(options, count, file, record, first=position == 0))
        possible = [test for test in tests if count > 1 or test != "mixed"]
        cells = trial(options, agent, [(file, record)], possible, count)
        by_test = {cell["test"]: _clients(options, cell, record) for cell in cells}
        columns.append([by_test[test] for test in possible])
        write("".join(layout.throughput_block(options, clients) for clients in columns[-1]) + "\n")
        time.sleep(options.pause_s)
    write("\n")
    if options.excel and len({len(column) for column in columns}) == 1:
        write(layout.throughput_excel(options, record, columns) + "\n")
    write("iozone test complete.\n")


def _sizes(options: Options) -> tuple[int, int]:
    """File and record of throughput mode, in bytes."""
    return options.files[0] if options.files else 512 * KIB, options.records[0] if options.records else 4 * KIB


def _clients(options: Options, cell: dict[str, Any], record: int) -> Clients:
    kib = [(moved / KIB, rate) for moved, rate in cell["per_client"]]
    scale = record / KIB if options.unit == "ops" else 1.0
    wall_s = cell["last_done_s"] or 1e-9
    return Clients(
        test=cell["test"],
        rates=tuple(rate / scale for _, rate in kib),
        moved=tuple(moved / scale for moved, _ in kib),
        parent=cell["bytes"] / KIB / scale / wall_s,
    )


def trial(
    options: Options, agent: Agent, pairs: Sequence[tuple[int, int]], tests: Sequence[str], clients: int
) -> list[dict[str, Any]]:
    """The cells of one trial. Raises ContenderError when the folder failed."""
    folder, mount = str(options.folder), options.mount
    workload = FileMatrixWorkload(
        folder=folder,
        pairs=tuple(pairs),
        tests=tuple(tests),
        keep=options.keep,
        fsync=options.fsync,
        close=options.close,
        direct=options.direct,
        dsync=options.dsync,
        sync=options.sync,
        mmap=options.mmap,
        verify=True,
        cache="cold" if mount else "warm",
        drop_caches=False,
        cold_command=f"umount {shlex.quote(mount)} && mount {shlex.quote(mount)}" if mount else None,
        stonewall=options.stonewall and clients > 1,
        mixed_read_percent=options.mixed_percent,
        stride=options.stride,
        carrier=mount_of(str(options.folder)).carrier,
        link_bytes_per_s=None,
        stall_s=STALL_S,
    )
    spec = TrialSpec(
        workload=workload,
        load=load_step.Clients(clients),
        length_s=LENGTH_S,
        think_s=options.think_s,
        pin=processors_of(options, clients),
    )
    session = agent.start(spec).go()
    try:
        while (outcome := session.wait(POLL_S)) is None:
            pass
    except KeyboardInterrupt:
        session.cancel()
        session.wait(CANCEL_PATIENCE_S)
        raise
    if outcome.result.fatal:
        raise ContenderError(outcome.result.fatal)
    cells = (outcome.result.workload or {}).get("cells", [])
    if any(cell["skipped"] for cell in cells):
        raise GeneratorError("the trial ended before all of its tests were done")
    return list(cells)
