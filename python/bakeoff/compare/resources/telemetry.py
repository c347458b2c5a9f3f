"""From what was seen of contenders to what they needed, and what was at its limit."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Sequence
from dataclasses import replace

import numpy as np

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.estimate.intervals import shown
from bakeoff.compare.resources import telemetry_limits as limits
from bakeoff.compare.resources.telemetry_cost import ITSELF, OWN, WORKING, scopes, seconds_per_1000, shares_machine
from bakeoff.compare.resources.telemetry_model import (
    BoundAt,
    BusiestProcessor,
    LimitsSeen,
    MemoryPerConnection,
    NoProcessorTime,
    Resources,
    ResourceUse,
    Swapped,
    WatchedContender,
)
from bakeoff.compare.resources.telemetry_processors import busiest_processor, each_processor
from bakeoff.compare.resources.telemetry_window import (
    growth,
    highest,
    is_whole,
    level,
    of_contender,
    of_generators,
    parts,
    per_s,
)
from bakeoff.core.thresholds import BUSY_SHARE, MINIMUM_BLOCKS
from bakeoff.load.load_step import LoadStep
from bakeoff.stats import geometric_interval, mean_interval
from bakeoff.store.records.marks import GENERATOR_LIMITED, LINK_LIMITED
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from bakeoff.telemetry.model import Telemetry
from bakeoff.telemetry.names import CPU as STATES
from bakeoff.telemetry.names import PRESSURE

ALL = tuple(f"cpu_{state}_s" for state in STATES)
SWAP = ("swapped_in_pages", "swapped_out_pages")
KINDS_OF_GAPS = 3
# Links above others, which count what goes through them, too: bonds, bridges, VLANs.
ABOVE = re.compile(r"(?:bond|team|br|docker|podman|virbr|lxcbr|lxdbr|cni|vlan)[\d-].*")
Figure = Callable[[Telemetry], float]


def resources_of(run: RunRecord, cube: Cube) -> Resources | None:
    """None for a run in which nobody was watched, and the machine that sent load neither."""
    known = scopes(run)
    looked = [seen.cost for trial in run.trials for seen in of_generators(trial)]
    if not known and not looked:
        return None
    uses = tuple(
        _use(cube, name, load_step, known[name][0])
        for name in cube.contenders
        if name in known
        for load_step in cube.load_steps
        if _seen(cube, name, load_step)
    )
    watched = tuple(_watched(run, name, *known[name]) for name in cube.contenders if name in known)
    shared = {each.contender for each in watched if each.shares_machine}
    uses = tuple(_bound(use, uses, use.contender not in shared) for use in uses)
    memory = (_memory(run, cube, name) for name in cube.contenders if known.get(name, ("", None))[0] == ITSELF)
    return Resources(
        watched=watched,
        uses=uses,
        memory=tuple(each for each in memory if each is not None),
        limits=tuple(limit for each in watched if (limit := _limits(each, uses)) is not None),
        processors=tuple(one for each in watched if (one := _busiest_one(each, uses)) is not None),
        pressure_missing=tuple(name for name in cube.contenders if name in known and _without_pressure(cube, name)),
        swapped=_swapped(run, [name for name in cube.contenders if name in known]),
        generator_cpu_s=math.fsum(cost.cpu_s for cost in looked),
        generator_samples=sum(cost.samples for cost in looked),
    )


def _swapped(run: RunRecord, names: Sequence[str]) -> tuple[Swapped, ...]:
    """Whose machines swapped in a window: of the contenders, and last of what sent the load."""
    seen: dict[str, list[Telemetry]] = {
        name: [one for trial in run.trials if trial.contender == name and (one := of_contender(trial)) is not None]
        for name in names
    }
    seen[""] = [one for trial in run.trials for one in of_generators(trial)]
    found = []
    for name, windows in seen.items():
        pages = [(growth(one, SWAP[:1]), growth(one, SWAP[1:])) for one in windows]
        known = [(read, written) for read, written in pages if math.isfinite(read + written)]
        trials = sum(read + written > 0.0 for read, written in known)
        if trials:
            sums = [math.fsum(each) for each in zip(*known, strict=True)]
            found.append(Swapped(name, trials, len(known), *sums))
    return tuple(found)


def _trials(cube: Cube, name: str, load_step: LoadStep) -> list[TrialRecord]:
    return [trial for (contender, at, _), trial in cube.usable.items() if (contender, at) == (name, load_step)]


def _seen(cube: Cube, name: str, load_step: LoadStep) -> list[Telemetry]:
    """Trials of which the window was seen."""
    found = (of_contender(trial) for trial in _trials(cube, name, load_step))
    return [seen for seen in found if seen is not None and is_whole(seen)]


def _watched(run: RunRecord, name: str, scope: str, why_not: NoProcessorTime | None) -> WatchedContender:
    trials = [trial for trial in run.trials if trial.contender == name]
    found = [seen for trial in trials if (seen := of_contender(trial)) is not None]
    gaps = tuple(dict.fromkeys(gap.why for seen in found for gap in seen.gaps))
    remote = [seen.cost.remote_cpu_s for seen in found if seen.cost.remote_cpu_s is not None]
    return WatchedContender(
        contender=name,
        source=found[0].source,
        scope=scope,
        why_not=why_not,
        shares_machine=any(map(shares_machine, trials)),
        trials=len(trials),
        trials_whole=sum(is_whole(seen) for seen in found),
        gaps=gaps[:KINDS_OF_GAPS],
        cost_cpu_s=math.fsum(seen.cost.cpu_s for seen in found),
        cost_remote_cpu_s=math.fsum(remote) if remote else math.nan,
        cost_bytes=sum(seen.cost.out_bytes + seen.cost.in_bytes for seen in found),
    )


def _use(cube: Cube, name: str, load_step: LoadStep, scope: str) -> ResourceUse:
    trials, seen = _trials(cube, name, load_step), _seen(cube, name, load_step)

    def mean(figure: Figure) -> float:
        values = [value for each in seen if math.isfinite(value := figure(each))]
        return math.fsum(values) / len(values) if values else math.nan

    def share(*series: str) -> float:
        return mean(lambda each: growth(each, [s for s in series if s in each.series] or series) / _available(each))

    cost = geometric_interval([seconds_per_1000(trial, scope) for trial in trials])
    disk, disk_share = _busiest(seen, mean)
    link, link_share = _fullest(seen)
    own = mean(lambda each: per_s(each, OWN))
    processors = max((int(each.facts.get("processors", 0) or 0) for each in seen), default=0)
    is_own = bool(seen) and all("own_memory_bytes" in each.series for each in seen)
    memory_of = "own_memory_bytes" if is_own else "memory_used_bytes"
    pressure = {name: mean(lambda each, name=name: per_s(each, (name,))) for name in PRESSURE}  # type: ignore[misc]
    return ResourceUse(
        contender=name,
        load_step=load_step,
        trials=len(seen),
        cpu_s_per_1000=cost.centre,
        cpu_low=shown(cost.low, cost.blocks),
        cpu_high=shown(cost.high, cost.blocks),
        own_processors=own,
        processors=processors,
        processor_share=share(*WORKING),
        each_processor=each_processor(seen),
        user_share=share("cpu_user_s"),
        system_share=share("cpu_system_s"),
        iowait_share=share("cpu_iowait_s"),
        irq_share=share("cpu_irq_s", "cpu_softirq_s"),
        steal_share=share("cpu_steal_s"),
        run_queue=mean(lambda each: level(each, "run_queue")),
        disk=disk,
        disk_share=disk_share,
        disk_bytes_per_s=_of_parts(seen, "disk", ("read_bytes", "written_bytes"), mean),
        network_bytes_per_s=_of_parts(seen, "net", ("in_bytes", "out_bytes"), mean),
        link=link,
        link_share=link_share,
        memory_bytes=mean(lambda each: level(each, memory_of)),
        pressure_cpu=pressure["psi_cpu_s"],
        pressure_memory=pressure["psi_memory_s"],
        pressure_io=pressure["psi_io_s"],
        major_faults_per_s=mean(lambda each: per_s(each, ("major_faults",))),
        swapped_pages_per_s=mean(lambda each: per_s(each, SWAP)),
        overflows=mean(lambda each: growth(each, ("listen_overflows",))),
        retransmits=mean(lambda each: growth(each, ("tcp_retransmits",))),
        bound=_outside(trials),
    )


def _outside(trials: Sequence[TrialRecord]) -> str:
    """What limited most of the trials that is not of the contender."""
    half = len(trials) / 2
    marked = ((limits.GENERATOR, GENERATOR_LIMITED), (limits.LINK, LINK_LIMITED))
    return next((what for what, mark in marked if sum(mark in trial.marks for trial in trials) > half), limits.NOTHING)


def _bound(use: ResourceUse, uses: Sequence[ResourceUse], alone: bool) -> ResourceUse:
    """What was at its limit, in view of higher load steps: who used more than one processor there has no thread that is
    the limit here, and a full processor is none where all of them did more there. `alone`: its machine sends no load.
    """
    higher = [each for each in uses if each.contender == use.contender and each.load_step > use.load_step]  # type: ignore[operator]
    one_thread = not any(each.own_processors > limits.ONE_TO for each in higher)
    does_more = any(each.processor_share > limits.MORE * use.processor_share for each in higher)
    one = use.each_processor
    bound = limits.bound(
        _of_what_was_left(use.processor_share, use.steal_share),
        use.disk_share,
        use.own_processors,
        use.processors,
        use.pressure_memory,
        generator=use.bound == limits.GENERATOR,
        link=use.bound == limits.LINK or use.link_share > BUSY_SHARE,
        one_thread=one_thread,
        busiest_share=one.busiest_share if one is not None and alone and not does_more else math.nan,
    )
    return replace(use, bound=bound)


def _of_what_was_left(busy: float, stolen: float) -> float:
    """A share of the processors as one of what a hypervisor has left of them."""
    return busy / (1.0 - stolen) if 0.0 < stolen < 1.0 else busy


def _available(seen: Telemetry) -> float:
    """All processor time that there was in the window, s; NaN where nobody knows."""
    return growth(seen, [name for name in ALL if name in seen.series]) or math.nan


def _busiest(seen: Sequence[Telemetry], mean: Callable[[Figure], float]) -> tuple[str, float]:
    names = dict.fromkeys(name for each in seen for name in parts(each, "disk"))
    busy = {name: _of_series((f"disk/{name}/busy_s",), mean) for name in names}
    busy = {name: min(1.0, share) for name, share in busy.items() if math.isfinite(share)}
    name = max(busy, key=lambda name: busy[name], default="")
    return name, busy.get(name, math.nan)


def _fullest(seen: Sequence[Telemetry]) -> tuple[str, float]:
    """The link that was nearest to the speed that it states, in the direction in which it carried more, and how near:
    mean over the trials. Full duplex is taken for granted: a link that is not is fuller.
    """
    shares: dict[str, list[float]] = {}
    for each in seen:
        speeds = each.facts.get("link_bytes_per_s")
        for name, speed in speeds.items() if isinstance(speeds, dict) else ():
            if name == "lo" or not isinstance(speed, int) or speed <= 0:
                continue
            ways = [per_s(each, (f"net/{name}/{way}",)) for way in ("in_bytes", "out_bytes")]
            known = [way / speed for way in ways if math.isfinite(way)]
            if known:
                shares.setdefault(name, []).append(max(known))
    means = {name: math.fsum(values) / len(values) for name, values in shares.items()}
    name = max(means, key=lambda name: means[name], default="")
    return name, means.get(name, math.nan)


def _of_parts(seen: Sequence[Telemetry], sort: str, what: tuple[str, ...], mean: Callable[[Figure], float]) -> float:
    """Bytes a second of all disks, or links but for the loopback and those whose bytes others count, too."""
    found = dict.fromkeys(name for each in seen for name in parts(each, sort))
    names = [name for name in found if name != "lo"]
    below = [name for name in names if sort != "net" or not _is_above(name, names)]
    series = [f"{sort}/{name}/{one}" for name in below or names for one in what]
    return _of_series(series, mean) if series else math.nan


def _is_above(link: str, links: Container[str]) -> bool:
    return ABOVE.fullmatch(link) is not None or link.rpartition(".")[0] in links


def _of_series(series: Sequence[str], mean: Callable[[Figure], float]) -> float:
    """What disks or links did each second: those that did nothing in a trial are not in it."""

    def in_trial(seen: Telemetry) -> float:
        return math.fsum(per_s(seen, (name,)) if name in seen.series else 0.0 for name in series)

    return mean(in_trial)


def _memory(run: RunRecord, cube: Cube, name: str) -> MemoryPerConnection | None:
    """What a connection takes: how memory rises with them in each block, NaN where it does not for certain: all memory
    by all connections would be mostly what the server needs without any. None under a rate, where nobody knows how many
    there are, and of work that opens none, as on files.
    """
    virtual_users = run.planned.settings.virtual_users
    by_block: dict[int, list[tuple[int, float]]] = {}
    top = (math.nan, 0)
    for (contender, load_step, block), trial in cube.usable.items():
        seen = of_contender(trial)
        if contender != name or seen is None or not is_whole(seen) or not trial.connections.get("opened"):
            continue
        connections = load_step.sessions(virtual_users)
        if connections is not None and math.isfinite(used := level(seen, "own_memory_bytes")):
            by_block.setdefault(block, []).append((connections, used))
            most = highest(seen, "own_memory_bytes")
            top = max(top, (most, connections)) if math.isfinite(top[0]) else (most, connections)
    if not by_block:
        return None
    slopes = [slope for points in by_block.values() if math.isfinite(slope := _slope(points))]
    interval = mean_interval(slopes) if slopes else None
    if interval is not None and interval.blocks >= MINIMUM_BLOCKS and interval.low > 0:
        return MemoryPerConnection(name, interval.centre, interval.low, interval.high, top[0])
    return MemoryPerConnection(name, math.nan, math.nan, math.nan, top[0])


def _slope(points: list[tuple[int, float]]) -> float:
    """Bytes for each further connection, by least squares; NaN for fewer than three numbers of them."""
    x, y = (np.array(values, dtype=float) for values in zip(*points, strict=True))
    if len(set(x)) < 3:
        return math.nan
    return float(np.polyfit(x, y, 1)[0])


def _without_pressure(cube: Cube, name: str) -> bool:
    found = [seen for load_step in cube.load_steps for seen in _seen(cube, name, load_step)]
    return bool(found) and not any(one in seen.series for seen in found for one in PRESSURE)


def _limits(watched: WatchedContender, uses: tuple[ResourceUse, ...]) -> LimitsSeen | None:
    found = [use for use in uses if use.contender == watched.contender]
    if not found:
        return None
    shared = watched.shares_machine and any(use.bound in (*limits.FULL, limits.DISK) for use in found)
    bounds = tuple(BoundAt(use.load_step, use.bound) for use in found)
    return LimitsSeen(watched.contender, bounds, shared, _by_itself(found) if shared else math.nan)


def _by_itself(uses: Sequence[ResourceUse]) -> float:
    """How much of full processors the server itself used: where that is little, others filled them."""
    full = [use for use in uses if use.bound in limits.FULL and use.processors]
    shares = [use.own_processors / use.processors for use in full if math.isfinite(use.own_processors)]
    return max(shares, default=math.nan)


def _busiest_one(watched: WatchedContender, uses: tuple[ResourceUse, ...]) -> BusiestProcessor | None:
    own = [use for use in uses if use.contender == watched.contender]
    return busiest_processor(watched.contender, own, watched.shares_machine)
