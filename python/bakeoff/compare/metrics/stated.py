"""The metrics of a run that another tool measured: the figures that its files state, in their own units."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from functools import partial

from bakeoff.compare.metrics.metric import Metric
from bakeoff.core.units import plural
from bakeoff.store.records.figures import Figures, StatedFigure
from bakeoff.store.records.run_records import TrialRecord

# The key of the mean over parts of the work, by the figure that it is the mean of.
OVER_PARTS = "mean-of-{}"


def stated_metrics(trials: Sequence[TrialRecord]) -> tuple[Metric, ...]:
    """The metrics of trials whose figures are stated, the one that decides first; none where no trial has any.

    Where one figure is stated of several parts of the work and not of all of it, the geometric mean over the parts that
    every trial has decides.
    """
    found: dict[str, StatedFigure] = {}
    if not all(trial.figures(Figures).stated for trial in trials):
        return ()
    for trial in trials:
        for key, figure in (trial.figures(Figures).stated or {}).items():
            found.setdefault(key, figure)
    ordered = dict(sorted(found.items(), key=lambda item: (bool(item[1].of), item[1].place)))
    return (*_means(ordered, trials), *(_metric(key, figure) for key, figure in ordered.items()))


def _metric(key: str, figure: StatedFigure) -> Metric:
    title = f"{figure.of}: {figure.name}" if figure.of else figure.name
    return Metric(
        key,
        f"{title[0].upper()}{title[1:]}",
        figure.unit,
        figure.higher_is_better,
        "log",
        partial(_value, key),
        title,
        least=0,
        finest=partial(_finest, (key,)),
    )


def _value(key: str, trial: TrialRecord) -> float:
    figure = (trial.figures(Figures).stated or {}).get(key)
    return math.nan if figure is None else figure.value


def _finest(keys: Sequence[str], trial: TrialRecord) -> float:
    """By what share the mean of these figures may be off, by their printed digits."""
    shares = [figure.finest for key, figure in (trial.figures(Figures).stated or {}).items() if key in keys]
    return math.fsum(shares) / len(shares) if shares else 0.0


def _means(found: dict[str, StatedFigure], trials: Sequence[TrialRecord]) -> list[Metric]:
    """One mean for each figure that is stated of several parts and never of all the work."""
    parts: dict[str, list[str]] = defaultdict(list)
    whole = {figure.name for figure in found.values() if not figure.of}
    for key, figure in found.items():
        common = all(key in (trial.figures(Figures).stated or {}) for trial in trials)
        if figure.of and figure.name not in whole and common:
            parts[figure.name].append(key)
    return [_mean(name, keys, found[keys[0]]) for name, keys in parts.items() if len(keys) > 1]


def _mean(name: str, keys: list[str], like: StatedFigure) -> Metric:
    # Of how many single operations a figure is, nobody says: none is left out for being of few.
    title = f"Geometric mean of {plural(len(keys), 'figure')}: {name}"
    key = OVER_PARTS.format(name)
    return Metric(
        key,
        title,
        like.unit,
        like.higher_is_better,
        "log",
        partial(_over, keys),
        f"mean {name}",
        least=0,
        finest=partial(_finest, keys),
    )


def _over(keys: list[str], trial: TrialRecord) -> float:
    values = [_value(key, trial) for key in keys]
    if any(math.isnan(value) for value in values):
        return math.nan
    return 0.0 if min(values) <= 0.0 else math.exp(math.fsum(map(math.log, values)) / len(values))
