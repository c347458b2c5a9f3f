"""What file work needs and how long it takes in these folders: asked of the folders, and tried in them for a moment."""

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.spec import TrialSpec
from bakeoff.core.errors import ContenderError
from bakeoff.core.system.mounts import is_server
from bakeoff.core.units import format_size
from bakeoff.kinds.files.plan import FolderPlanPart
from bakeoff.kinds.files.servers import agreed_with, described
from bakeoff.kinds.spec import Workload
from bakeoff.load.load_step import LoadStep
from bakeoff.plan.design.durations import SETUP_TEARDOWN_S, ExpectedDuration, between_s, expected_duration
from bakeoff.plan.design.work import TrialWork
from bakeoff.plan.kind import plan_part
from bakeoff.plan.model import Contender, Plan
from bakeoff.run.checks.specs import trial_spec
from bakeoff.run.kind import Foreseen

# A try in a folder takes no longer than this, and no file of it is larger.
CALIBRATION_S = 2.0
# All parts of the work are tried again, so often at most, while no more than this part of the time is used.
ROUNDS, ROUNDS_SHARE = 3, 0.3
CALIBRATION_BYTES = 32 << 20
CANCEL_PATIENCE_S = 5.0
# Emptying the caches is tried until so much time is used, so often at most, and waited for no longer than that each.
EMPTYING_S, EMPTYINGS, EMPTYING_PATIENCE_S = 2.0, 4, 60.0
SETTLING_S = 30.0


@dataclass(frozen=True)
class Sample:
    """A small part of the work: what the engine is told, and what that comes to."""

    workload: Workload
    work: TrialWork


@dataclass(frozen=True)
class Trying:
    """What is tried, for so many sessions: parts of the work in which caches are left alone, and one in which they are
    emptied, None where a try may not do that.
    """

    samples: Callable[[Workload, int], Iterable[Sample]]
    emptying: Callable[[Workload, int], Sample] | None


def foresee(plan: Plan, trying: Trying | None) -> Foreseen:
    """Whether the folders are there and have room, and how long the run takes, by a try in each where there is one.
    Raises ContenderError for a folder that cannot be used.
    """
    room, cache_drops = _room(plan), _emptied(plan)
    found = expected_duration(plan)
    if trying is None:
        return Foreseen(found, room + cache_drops)
    began_s = time.monotonic()
    if cache_drops and trying.emptying is not None:
        _settle()
    measured = [_contender(plan, contender, trying) for contender in plan.contenders]
    costs = [cost for cost in measured if cost is not None]
    if len(costs) < len(measured):
        untimed = "a try in the folders did not end in time: the duration is not theirs"
        return Foreseen(found, (*room, *cache_drops, untimed))
    lines = room if trying.emptying is not None else room + cache_drops
    trials_s = sum(cost.trial_s(plan) for cost in costs) * plan.blocks + plan.trials * between_s(plan.settings)
    layout_s = sum(cost.layout_s(plan) for cost in costs)
    tried_s = time.monotonic() - began_s  # which the run does as well
    return Foreseen(ExpectedDuration(trials_s, layout_s, "measured", SETUP_TEARDOWN_S + tried_s), lines)


@dataclass(frozen=True)
class Cost:
    """Seconds for a cell, a transfer, a byte and a byte that is laid out, in one folder, for a trial, and for each time
    that caches are emptied.
    """

    cell_s: float
    call_s: float
    byte_s: float
    laid_s_per_byte: float
    trial_fixed_s: float
    emptied_s: float = 0.0

    def trial_s(self, plan: Plan) -> float:
        """All load steps once."""
        return sum(self._of(work) for work in _works(plan))

    def part_s(self, work: TrialWork) -> float:
        """A part of the work by itself, laid out and removed again."""
        return self._of(work) + work.layout_bytes * self.laid_s_per_byte

    def _of(self, work: TrialWork) -> float:
        each_s = work.cells * self.cell_s + work.calls * self.call_s + work.bytes * self.byte_s
        return work.timed_s + each_s + self.trial_fixed_s + work.cache_drops * self.emptied_s

    def layout_s(self, plan: Plan) -> float:
        """What is laid out once."""
        return max((work.layout_bytes for work in _works(plan)), default=0) * self.laid_s_per_byte


def fitted(works: Sequence[TrialWork], times_s: Sequence[float]) -> Cost:
    """The costs, none below 0, that explain how long these parts of the work took: relative errors count alike."""
    from scipy.optimize import nnls  # takes a moment to start: only when there is a try

    rows = [[w.cells, w.calls, w.bytes, w.layout_bytes, 1.0] for w in works]
    left = np.array([max(t - w.timed_s, 1e-6) for w, t in zip(works, times_s, strict=True)])
    matrix = np.array(rows, dtype=float) / left[:, None]
    scale = np.maximum(matrix.max(axis=0), 1e-30)
    solution, _ = nnls(matrix / scale, np.ones(len(left)))
    return Cost(*(float(x) for x in solution / scale))


def _contender(plan: Plan, contender: Contender, trying: Trying) -> Cost | None:
    """What a try in a folder says; None when the folder was too slow for it."""
    agent = LocalAgent()
    check = agent.check(plan)
    spec = trial_spec(check, contender, check.addresses(contender), agent.facts())
    load_step = plan.settings.load_steps[-1]
    sessions = load_step.clients * plan.settings.virtual_users
    until, works, times_s = time.monotonic() + CALIBRATION_S, list[TrialWork](), list[float]()
    for _ in range(ROUNDS):
        for sample in trying.samples(spec.workload, sessions):
            took_s = _tried(agent, _part(spec, sample, load_step), until)
            if took_s is None:
                break
            works.append(sample.work)
            times_s.append(took_s)
        if until - time.monotonic() < (1.0 - ROUNDS_SHARE) * CALIBRATION_S:
            break
    cost = fitted(works, times_s) if len(works) >= 3 else None
    if cost is None or trying.emptying is None or not any(work.cache_drops for work in _works(plan)):
        return cost
    emptied_s = _emptying_s(agent, _part(spec, sample := trying.emptying(spec.workload, sessions), load_step))
    return None if emptied_s is None else replace(cost, emptied_s=max(0.0, emptied_s - cost.part_s(sample.work)))


def _settle() -> None:
    """What others have left unwritten is not ours to be timed; a disk or share of theirs that hangs is left alone."""
    synced = threading.Thread(target=os.sync, daemon=True)
    synced.start()
    synced.join(SETTLING_S)


def _part(spec: TrialSpec, sample: Sample, load_step: LoadStep) -> TrialSpec:
    return spec.model_copy(update={"workload": sample.workload.under(load_step), "load": load_step.load})


def _works(plan: Plan) -> list[TrialWork]:
    """What a trial of each load step does."""
    return [work for load_step in plan.settings.load_steps if (work := plan.settings.work(load_step)) is not None]


def _emptying_s(agent: LocalAgent, part: TrialSpec) -> float | None:
    """How long a part takes before which caches are emptied: the median of some tries after the first, which empties
    what others have filled. None when one did not end in time.
    """
    first_s = _tried(agent, part, time.monotonic() + EMPTYING_PATIENCE_S)
    if first_s is None:
        return None
    command_s = first_s if getattr(part.workload, "cold_command", None) else 0.0
    times_s, until = list[float](), time.monotonic() + EMPTYING_S - command_s
    while len(times_s) < EMPTYINGS - 1 and time.monotonic() < until:
        took_s = _tried(agent, part, time.monotonic() + EMPTYING_PATIENCE_S)
        if took_s is None:
            return None
        times_s.append(took_s)
    return float(np.median(times_s or [first_s]))


def _tried(agent: LocalAgent, spec: TrialSpec, until: float) -> float | None:
    """How long a part of the work takes from its start to its end, all files removed; None when time was up."""
    began = time.monotonic()
    if began >= until:
        return None
    session, outcome = agent.start(spec).go(), None
    try:
        outcome = session.wait(until - began)
    finally:  # by time or by Ctrl-C: what it made is removed by itself
        if outcome is None:
            session.cancel()
            session.wait(CANCEL_PATIENCE_S)
    return None if outcome is None else time.monotonic() - began


def _emptied(plan: Plan) -> tuple[str, ...]:
    """That caches are emptied by means which a try may not use where a file asks for them."""
    command = getattr(plan.settings, "cold_command", None)
    if not (command or getattr(plan.settings, "drop_caches", False)):
        return ()
    times = sum(work.cache_drops for work in _works(plan)) * len(plan.contenders) * plan.blocks
    if not times:
        return ()
    what = "the cold command runs" if command else "all caches of this machine are dropped"
    return (f"{what} {times:,} times, before cells: that comes on top of the duration and may be most of it",)


def _room(plan: Plan) -> tuple[str, ...]:
    """What the work needs in each folder and what is free there. Raises ContenderError for too little, or no folder."""
    kind = plan_part(plan.kind)
    assert isinstance(kind, FolderPlanPart)
    needed, stays = kind.space_bytes(plan.settings), kind.retained_folder(plan) is not None
    devices: dict[int, list[Contender]] = {}
    lines = [f"space needed: {format_size(needed)} in each folder" + (", kept for the run" if stays else "")]
    for contender in plan.contenders:
        if is_server(contender.address):
            agreed = agreed_with(contender, CALIBRATION_S)
            lines.append(described(contender.name, agreed))
            continue
        if not Path(contender.address).is_dir():
            raise ContenderError(
                f"{contender.name}: there is no folder {contender.address}: mount the share, or make the folder"
            )
        if os.statvfs(contender.address).f_flag & os.ST_RDONLY:
            raise ContenderError(
                f"{contender.name}: {contender.address} cannot be written to (Read-only file system): "
                "mount it for writing"
            )
        devices.setdefault(Path(contender.address).stat().st_dev, []).append(contender)
    for sharing in devices.values():
        usage = shutil.disk_usage(sharing[0].address)
        wanted = needed * (len(sharing) if stays else 1)
        names = ", ".join(contender.name for contender in sharing)
        if usage.total and usage.free < wanted:  # some FUSE file systems say that they have no space at all
            raise ContenderError(
                f"{names}: {sharing[0].address} has {format_size(usage.free)} free, the run needs "
                f"{format_size(wanted)}: free some space, or use smaller files, a smaller region or fewer clients"
            )
        lines.append(f"free for {names}: {format_size(usage.free)}, of which {format_size(wanted)} are needed")
    return tuple(lines)
