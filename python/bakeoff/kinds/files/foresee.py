"""What file work needs and how long it takes in these folders: asked of the folders, and tried in them for a moment."""

import os
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.spec import TrialSpec
from bakeoff.errors import TargetError
from bakeoff.kinds import plan_part
from bakeoff.kinds.files.plan import FolderPlanPart
from bakeoff.kinds.spec import Workload
from bakeoff.plan.durations import OVERHEAD_S, Expected, expected
from bakeoff.plan.model import Contender, Plan
from bakeoff.plan.work import Work
from bakeoff.run.kind import Foreseen
from bakeoff.run.specs import trial_spec
from bakeoff.units import format_size

# A try in a folder takes no longer than this, and no file of it is larger.
CALIBRATION_S = 2.0
CALIBRATION_BYTES = 32 << 20
CANCEL_PATIENCE_S = 5.0


@dataclass(frozen=True)
class Sample:
    """A small part of the work: what the engine is told, and what that comes to."""

    workload: Workload
    work: Work


Samples = Callable[[Workload, int], Iterable[Sample]]


def foresee(plan: Plan, samples: Samples | None, calibrate: bool) -> Foreseen:
    """Whether the folders are there and have room, and how long the run takes by a try in each, where `samples` gives
    parts of the work for so many sessions. Raises TargetError for a folder that cannot be used.
    """
    lines = _room(plan)
    found = expected(plan)
    if not calibrate or samples is None:
        return Foreseen(found, lines)
    measured = [_contender(plan, contender, samples) for contender in plan.contenders]
    costs = [cost for cost in measured if cost is not None]
    if len(costs) < len(measured):
        return Foreseen(found, (*lines, "a try in the folders did not end in time: the duration is not theirs"))
    trials_s = sum(cost.trial_s(plan) for cost in costs) * plan.blocks
    laid_s = sum(cost.laid_s(plan) for cost in costs)
    return Foreseen(Expected(trials_s, laid_s, "measured"), lines)


@dataclass(frozen=True)
class Cost:
    """Seconds for a cell, a transfer, a byte and a byte that is laid out, in one folder."""

    cell_s: float
    call_s: float
    byte_s: float
    laid_s_per_byte: float
    trial_fixed_s: float

    def trial_s(self, plan: Plan) -> float:
        """All mixes once."""
        s = plan.settings
        works = [work for mix in s.mix_values if (work := s.work(mix)) is not None]
        return sum(
            work.timed_s
            + work.cells * self.cell_s
            + work.calls * self.call_s
            + work.bytes * self.byte_s
            + self.trial_fixed_s
            + OVERHEAD_S
            for work in works
        )

    def laid_s(self, plan: Plan) -> float:
        """What is laid out once."""
        works = [plan.settings.work(mix) for mix in plan.settings.mix_values]
        return max((work.laid_bytes for work in works if work is not None), default=0) * self.laid_s_per_byte


def fitted(works: Sequence[Work], times_s: Sequence[float]) -> Cost:
    """The costs, none below 0, that explain how long these parts of the work took: relative errors count alike."""
    rows = [[w.cells, w.calls, w.bytes, w.laid_bytes, 1.0] for w in works]
    left = np.array([max(t - w.timed_s, 1e-6) for w, t in zip(works, times_s, strict=True)])
    matrix = np.array(rows, dtype=float) / left[:, None]
    scale = np.maximum(matrix.max(axis=0), 1e-30)
    solution, _ = nnls(matrix / scale, np.ones(len(left)))
    return Cost(*(float(x) for x in solution / scale))


def _contender(plan: Plan, contender: Contender, samples: Samples) -> Cost | None:
    """What a try in a folder says; None when the folder was too slow for it."""
    agent = LocalAgent()
    check = agent.check(plan)
    spec = trial_spec(check, contender, check.addresses(contender), agent.facts())
    mix = plan.settings.mix_values[-1]
    until, works, times_s = time.monotonic() + CALIBRATION_S, list[Work](), list[float]()
    for sample in samples(spec.workload, mix.clients * plan.settings.threads):
        part = spec.model_copy(update={"workload": sample.workload, "load": mix})
        took_s = _tried(agent, part, until)
        if took_s is None:
            break
        works.append(sample.work)
        times_s.append(took_s)
    return fitted(works, times_s) if len(works) >= 3 else None


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


def _room(plan: Plan) -> tuple[str, ...]:
    """What the work needs in each folder and what is free there. Raises TargetError for too little, or no folder."""
    kind = plan_part(plan.kind)
    assert isinstance(kind, FolderPlanPart)
    needed, stays = kind.space_bytes(plan.settings), kind.kept_folder(plan) is not None
    devices: dict[int, list[Contender]] = {}
    for contender in plan.contenders:
        if not Path(contender.address).is_dir():
            raise TargetError(
                f"{contender.name}: there is no folder {contender.address}: mount the share, or make the folder"
            )
        if os.statvfs(contender.address).f_flag & os.ST_RDONLY:
            raise TargetError(
                f"{contender.name}: {contender.address} cannot be written to (Read-only file system): "
                "mount it for writing"
            )
        devices.setdefault(Path(contender.address).stat().st_dev, []).append(contender)
    lines = [f"space needed: {format_size(needed)} in each folder" + (", kept for the run" if stays else "")]
    for sharing in devices.values():
        usage = shutil.disk_usage(sharing[0].address)
        wanted = needed * (len(sharing) if stays else 1)
        names = ", ".join(contender.name for contender in sharing)
        if usage.total and usage.free < wanted:  # some FUSE file systems say that they have no space at all
            raise TargetError(
                f"{names}: {sharing[0].address} has {format_size(usage.free)} free, the run needs "
                f"{format_size(wanted)}: free some space, or use smaller files, a smaller region or fewer clients"
            )
        lines.append(f"free for {names}: {format_size(usage.free)}, of which {format_size(wanted)} are needed")
    return tuple(lines)
