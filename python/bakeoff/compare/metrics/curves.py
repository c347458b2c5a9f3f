"""Each contender by itself: its curves over the load steps, its peak, what happens past it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bakeoff.compare.cube.cube import Cube, blamed, totals
from bakeoff.compare.cube.forfeits import broke
from bakeoff.compare.estimate.intervals import both_shown
from bakeoff.compare.estimate.resolution import resolution_of
from bakeoff.compare.failures.error_replies import BROKEN, error_replies
from bakeoff.compare.failures.hung import hung
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.metrics.metrics import error_share, rate_of
from bakeoff.compare.model.comparison import ContenderSummary, Curve, CurvePoint, CurveShape, Failed
from bakeoff.load.load_step import LoadStep
from bakeoff.stats import (
    Collapse,
    Saturation,
    collapse_after_peak,
    finite,
    geometric_interval,
    mean_interval,
    paired_log_ratio,
    saturation,
)
from bakeoff.store.records.figures import Figures
from bakeoff.store.records.marks import GENERATOR_LIMITED, GENERATOR_WAITED, LINK_LIMITED
from bakeoff.store.records.run_records import LEFT_OUT, RunRecord, TrialRecord

Floats = NDArray[np.float64]
SATURATION_SHARE = 0.05


def contender_curves(cube: Cube, metrics: tuple[Metric, ...], level: float) -> tuple[Curve, ...]:
    """Every metric and the share of failed operations, for each contender."""
    curves = []
    # One kind of mean for all rates of a row: a geometric one of some beside an arithmetic one of others, which a
    # client without anything has at 0, could have a harmonic mean above the plain rate.
    zeros = np.zeros((len(cube.contenders), len(cube.load_steps)), dtype=bool)
    for metric in filter(_is_rate, metrics):
        zeros |= (cube.values(metric.extract) == 0.0).any(axis=2)
    for metric in metrics:
        values, finest = cube.values(metric.extract), cube.values(resolution_of(metric))
        for index, contender in enumerate(cube.contenders):
            plain = zeros[index] if _is_rate(metric) else np.zeros(len(cube.load_steps), dtype=bool)
            curves.append(_curve(cube, metric, contender, values[index], level, finest[index], plain))
    errors = cube.values(lambda trial: _failed_share(cube, trial), failed_too=True) * 100.0
    for index, contender in enumerate(cube.contenders):
        points = tuple(_share(load_step, errors[index, m], level) for m, load_step in enumerate(cube.load_steps))
        curves.append(Curve("errors", "Failed operations", "%", contender, "arithmetic mean", points))
    return tuple(curves)


def _is_rate(metric: Metric) -> bool:
    return metric.higher_is_better and metric.scale == "log" and not metric.cells


def _failed_share(cube: Cube, trial: TrialRecord) -> float:
    """Of what its users count, the sort of which most failed."""
    return worst_share(cube.kind.failures([trial]), error_share(trial))


def worst_share(failures: Sequence[Failed], otherwise: float) -> float:
    """The largest share of failures; `otherwise` where none is counted apart."""
    return max((each.share for each in failures), default=otherwise)


def _curve(
    cube: Cube,
    metric: Metric,
    contender: str,
    values: Floats,
    level: float,
    finest: Floats,
    plain: NDArray[np.bool_],
) -> Curve:
    forfeited = cube.forfeits(contender)
    points = []
    for m, load_step in enumerate(cube.load_steps):
        broken = [broke(t) for b in cube.blocks if (t := cube.trials.get((contender, load_step, b))) is not None]
        number = sum(broken) if metric.higher_is_better and not metric.cells else 0
        resolved = finite(finest[m])
        share = float(resolved.mean()) if resolved.size else 0.0
        points.append(
            _point(load_step, values[m], metric.scale, level, int(forfeited[m].sum()), number, share, bool(plain[m]))
        )
    centre = "arithmetic mean" if metric.scale == "linear" else "geometric mean"
    return Curve(metric.key, metric.title, metric.unit, contender, centre, tuple(points))


def _point(
    load_step: LoadStep,
    values: Floats,
    scale: str,
    level: float,
    forfeited: int = 0,
    zeros: int = 0,
    finest: float = 0.0,
    plain: bool = False,
) -> CurvePoint:
    """`zeros` trials served nothing that counts, and others may have the number 0: they pull the mean down instead of
    being left out of it, as in a `plain` mean. A trial tells the figure to within a share `finest`.
    """
    beyond = int(np.isinf(values).sum())
    if beyond:
        # A time among the failures has no number, and a mean of the others would flatter.
        return CurvePoint(
            load_step, int(finite(values).size) + beyond, math.nan, math.nan, math.nan, forfeited + beyond
        )
    served = finite(values)
    if served.size and (zeros or plain or (scale == "log" and bool((served == 0.0).any()))):
        total = served.size + zeros
        return CurvePoint(load_step, int(total), float(served.sum()) / total, math.nan, math.nan, forfeited)
    interval = mean_interval(values, level) if scale == "linear" else geometric_interval(values, level, finest)
    low, high = both_shown(interval.low, interval.high, interval.blocks)
    return CurvePoint(load_step, interval.blocks, interval.centre, low, high, forfeited)


def _share(load_step: LoadStep, values: Floats, level: float) -> CurvePoint:
    """A share in percent: its interval cannot leave 0 to 100."""
    point = _point(load_step, values, "linear", level)
    low, high = (end if math.isnan(end) else min(100.0, max(0.0, end)) for end in (point.low, point.high))
    return replace(point, low=low, high=high)


def summaries(
    run: RunRecord, cube: Cube, metrics: tuple[Metric, ...], curves: tuple[Curve, ...]
) -> tuple[ContenderSummary, ...]:
    """Peak, saturation, collapse and reliability of each contender, in the order of the cube."""
    addresses = {contender.name: contender.address for contender in run.contenders}
    rate = rate_of(metrics)
    by_key = {(curve.metric, curve.contender): curve for curve in curves}
    rates = cube.values(rate.extract)
    if not rate.higher_is_better:  # a time has no peak
        rates = np.full_like(rates, math.nan)
        by_key |= {(rate.key, name): _unknown(by_key[rate.key, name]) for name in cube.contenders}
    made = [
        _summary(cube, name, addresses[name], rates[index], by_key[rate.key, name], by_key.get(("p99", name)))
        for index, name in enumerate(cube.contenders)
    ]
    return tuple(_with_peak_ratio(cube, rates, made[0], one) for one in made)


def _unknown(curve: Curve) -> Curve:
    """The same load steps without numbers."""
    return replace(curve, points=tuple(replace(point, centre=math.nan) for point in curve.points))


def _with_peak_ratio(cube: Cube, rates: Floats, base: ContenderSummary, one: ContenderSummary) -> ContenderSummary:
    """Peak ÷ peak of the baseline over the blocks that have both; none where a trial at either peak was lost."""
    at = [
        (cube.index(c.name), cube.load_steps.index(c.peak_load_step))
        for c in (base, one)
        if c.peak_load_step is not None
    ]
    forfeited = any(cube.forfeits(cube.contenders[index])[m].any() for index, m in at)
    if one is base or len(at) < 2 or forfeited or base.peak_is_bimodal or one.peak_is_bimodal:
        return one
    below, above = (rates[index, m] for index, m in at)
    ratio = paired_log_ratio(above, below)
    low, high = both_shown(ratio.low, ratio.high, ratio.blocks)
    return replace(one, peak_ratio=ratio.ratio, peak_ratio_low=low, peak_ratio_high=high)


def _summary(cube: Cube, name: str, address: str, rates: Floats, curve: Curve, p99: Curve | None) -> ContenderSummary:
    trials = [trial for (contender, _, _), trial in cube.trials.items() if contender == name]
    usable = [trial for (contender, _, _), trial in cube.usable.items() if contender == name]
    broken = sum(broke(trial) for trial in trials)
    states = {state: sum(trial.state == state for trial in trials) for state in ("voided", "interrupted")}
    operations, errors = totals(blamed(trials))
    left_open = hung(trials)
    waited = [trial.generator_run_delay_share or 0.0 for trial in usable if GENERATOR_WAITED in trial.marks]
    landmarks = saturation([point.centre for point in curve.points], SATURATION_SHARE)
    peak = curve.points[landmarks.peak] if landmarks else None
    collapse = collapse_after_peak(rates, SATURATION_SHARE)
    # Connections that carry a rate stand in for each other.
    fairness = [t.fairness_jain for t in usable if t.starts is None and math.isfinite(t.fairness_jain)]
    tried, stated = operations + sum(errors.values()), all(t.figures(Figures).errors_stated for t in trials)
    failures = tuple(cube.kind.failures(blamed(trials)))
    return ContenderSummary(
        name=name,
        address=address,
        peak_load_step=peak.load_step if peak else None,
        peak=peak.centre if peak else math.nan,
        peak_low=peak.low if peak else math.nan,
        peak_high=peak.high if peak else math.nan,
        peak_p99_ms=p99.points[landmarks.peak].centre if landmarks and p99 else math.nan,
        saturation_load_step=cube.load_steps[landmarks.knee]
        if landmarks and _flattens(curve, landmarks.knee)
        else None,
        load_steps_measured=sum(math.isfinite(point.centre) for point in curve.points),
        peak_is_last_load_step=bool(peak and collapse is None),
        last_share_of_peak=_last_share(curve, landmarks.peak, collapse) if landmarks else math.nan,
        collapsed=bool(collapse and collapse.shown),
        shape=_shape(cube, curve, landmarks, collapse, broken),
        trials_ok=len(usable),
        trials_failed=broken,
        trials_voided=states["voided"],
        trials_interrupted=states["interrupted"],
        operations=operations,
        errors=errors,
        error_share=worst_share(failures, sum(errors.values()) / tried if tried and stated else math.nan),
        failures=failures,
        error_replies=error_replies(blamed(trials), BROKEN).statuses,
        fairness_lowest=min(fairness, default=math.nan),
        generator_limited=sum(GENERATOR_LIMITED in trial.marks for trial in usable),
        link_limited=sum(LINK_LIMITED in trial.marks for trial in usable),
        generator_waited=len(waited),
        generator_wait_share=max(waited, default=0.0),
        hung_operations=left_open.operations,
        hung_trials=left_open.trials,
        **_ends(rates, landmarks),
        trials_dead=sum(broke(trial) and trial.operations == 0 for trial in trials),
        trials_not_asked=sum(broke(trial) and trial.code == LEFT_OUT for trial in trials),
    )


def _ends(rates: Floats, landmarks: Saturation | None) -> dict[str, float]:
    """The lowest and the highest block at the peak."""
    measured = finite(rates[landmarks.peak]) if landmarks else np.empty(0)
    return {"peak_lowest": float(measured.min()), "peak_highest": float(measured.max())} if measured.size else {}


def _last_share(curve: Curve, peak: int, collapse: Collapse | None) -> float:
    """The last load step with a number, as a share of the peak. What was lost there counts in it."""
    last = [point for point in curve.points if math.isfinite(point.centre)][-1]
    if last.forfeited and last is not curve.points[peak]:
        return last.centre / curve.points[peak].centre
    return collapse.ratio.ratio if collapse else 1.0


def _flattens(curve: Curve, knee: int) -> bool:
    """A curve whose first load step near the peak is the last one with a number has not been seen to flatten."""
    return any(math.isfinite(point.centre) for point in curve.points[knee + 1 :])


def _shape(
    cube: Cube, curve: Curve, landmarks: Saturation | None, collapse: Collapse | None, broken: int
) -> CurveShape:
    """What the curve does, as far as the numbers support it."""
    if landmarks is None:
        return CurveShape("none")
    knee, peak = (cube.load_steps[index] for index in (landmarks.knee, landmarks.peak))
    last, final = _last_share(curve, landmarks.peak, collapse), curve.points[-1]
    of = max(final.forfeited, final.blocks)
    shape = CurveShape("flat", knee, peak, last, final.forfeited, of, broken)
    if sum(math.isfinite(point.centre) for point in curve.points) == 1:
        return replace(shape, course="one_load_step")
    if collapse is None and not _flattens(curve, landmarks.knee):
        return replace(shape, course="rising")
    if collapse and collapse.shown:
        least = (1.0 - SATURATION_SHARE) * curve.points[landmarks.peak].centre
        near = sum(point.centre >= least for point in curve.points)
        return replace(shape, course="flat_and_falls" if near > 1 else "falls")
    if last < 1.0 - SATURATION_SHARE:
        return replace(shape, course="lost" if final.forfeited else "may_fall")
    return shape
