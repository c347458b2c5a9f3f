"""The table of benchmarks/sharpness.py, of what is in its file."""

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from sharpness_servers import CLIENTS, NAMES, difference, weights

from bakeoff.compare.estimate.interim import planned_levels
from bakeoff.stats.design.power import blocks_with_power, power_of_difference

ONE, SAME, SLOWER = NAMES
ARMS = {
    "contenders": "before: each contender's load steps in one piece",
    "load_steps": "after: contenders back to back at each load step",
}
TRUE, POWER, ALPHA = math.log(1.05), 0.8, 0.045
TRIES = 4000
DELTA = math.log(1.02)
PAIRS = ((ONE, SAME), (ONE, SLOWER), (SAME, SLOWER))
LONG_ANALYSES = tuple(range(6, 61, 6))
Run = Mapping[str, Any]


def table(data: Mapping[str, Any]) -> str:
    """Markdown."""
    logs = data["known"]["logs"]
    true, half, _ = difference(logs, ONE, SLOWER)
    used = data["known"]["worker_us"]
    bare_sd = difference(logs, ONE, SAME)[2]
    runs = {arm: [run for run in data["runs"] if run["arm"] == arm] for arm in ARMS}
    count = max(len(each) for each in runs.values())
    lines = [
        f"{data['machine']}{', server and generator pinned' if data['pinned'] else ''}; {count} repetitions, trials of "
        f"{data['length_s'] * 1e3:.0f} ms at {', '.join(map(str, CLIENTS))} clients, analyses after "
        f"{data['analyses'].replace(',', ', ')} blocks, δ = 2 %. Slower one: {true:.1%} ± {half:.1%} "
        f"for the bare client, whose own blocks spread by {bare_sd:.1%} between the equals; its worker "
        f"uses {used[SLOWER]:.1f} µs of a processor for a request, the others {used[ONE]:.1f} and {used[SAME]:.1f} µs.",
        "",
        "| | spread of a block, equals | slower one called | wall time until then, median | equals called different | "
        "wall time for 80 % at 5 % | wall time until exactly 5 % is called, median; equals called different |",
        "|---|---|---|---|---|---|---|",
        *(f"| {ARMS[arm]} | {' | '.join(_cells(each))} |" for arm, each in runs.items() if each),
    ]
    if all(runs.values()):
        low, high = _ratio(runs)
        before, after = (spread(each, SAME) for each in runs.values())
        slower, within = _pooled([run for each in runs.values() for run in each])
        lines += [
            "",
            f"The spread after is {after / before:.2f} × ({low:.2f}–{high:.2f}, 95 %) the one before. All blocks "
            f"together find the slower server slower by {slower:.1%} ± {within:.1%}.",
        ]
    return "\n".join(lines)


def _cells(runs: Sequence[Run]) -> list[str]:
    sd, block_s = spread(runs, SAME), statistics.fmean(run["wall_s"] / _blocks(run) for run in runs)
    called = [_called(run) for run in runs]
    times = [math.inf if analysis is None else float(analysis["s"]) for analysis in called]
    middle = statistics.median(times)
    longest = max(run["wall_s"] for run in runs)
    by_analysis = [
        f"{sum(analysis is not None and analysis['blocks'] <= blocks for analysis in called)} of {len(runs)} by "
        f"{blocks} blocks"
        for blocks in sorted({analysis["blocks"] for run in runs for analysis in run["analyses"]})
    ]
    false = sum(any(analysis["pairs"][f"{ONE}/{SAME}"][0] == "better" for analysis in run["analyses"]) for run in runs)
    needed = blocks_with_power(lambda n: power_of_difference(n, sd, TRUE, ALPHA), POWER)
    return [
        f"{sd:.1%}",
        ", ".join(by_analysis),
        f"{middle:.0f} s" if math.isfinite(middle) else f"over {longest:.0f} s",
        f"{false} of {len(runs)}",
        "more than can be told" if needed is None else f"{needed * block_s:.0f} s ({needed} blocks of {block_s:.1f} s)",
        _assembled(runs, block_s),
    ]


def _assembled(runs: Sequence[Run], block_s: float) -> str:
    """Of longer runs put together from the blocks of whole repetitions, with the difference made exactly 5 %, or none,
    by a shift: at each analysis the t test that the plan allows, of one of three pairs.
    """
    alphas = [alpha / len(PAIRS) for alpha in planned_levels(LONG_ANALYSES)]
    slower, same = (_blocks_until_called(runs, other, true, alphas) for other, true in ((SLOWER, TRUE), (SAME, 0.0)))
    middle = statistics.median(slower)
    texts = (
        f"{middle * block_s:.0f} s ({middle:.0f} blocks)"
        if math.isfinite(middle)
        else f"over {LONG_ANALYSES[-1]} blocks"
    )
    return f"{texts}; {sum(map(math.isfinite, same)) / len(same):.1%}"


def _blocks_until_called(runs: Sequence[Run], other: str, true: float, alphas: Sequence[float]) -> list[float]:
    """Of each run that is put together the blocks until it is called; infinite where it never is."""
    from scipy import stats

    pieces = [ratios for run in runs if (ratios := block_ratios(run, ONE, other))]
    shift = true - statistics.fmean([ratio for piece in pieces for ratio in piece])
    rng, found = random.Random(2), []
    for _ in range(TRIES):
        blocks: list[float] = []
        while len(blocks) < LONG_ANALYSES[-1]:
            blocks += [ratio + shift for ratio in rng.choice(pieces)]
        until = math.inf
        for analysis, alpha in zip(LONG_ANALYSES, alphas, strict=True):
            seen = blocks[:analysis]
            mean, error = statistics.fmean(seen), statistics.stdev(seen) / math.sqrt(analysis)
            if abs(mean) >= DELTA and 2.0 * float(stats.t.sf(abs(mean) / error, analysis - 1)) <= alpha:
                until = analysis
                break
        found.append(until)
    return found


def _called(run: Run) -> Mapping[str, Any] | None:
    """The analysis at which the slower one was first called that."""
    return next((analysis for analysis in run["analyses"] if is_called(analysis)), None)


def is_called(analysis: Mapping[str, Any]) -> bool:
    """Whether the slower one is called that at this analysis."""
    kind, winner = analysis["pairs"][f"{ONE}/{SLOWER}"][:2]
    return bool(kind == "better" and winner == ONE)


def _blocks(run: Run) -> int:
    return int(run["analyses"][-1]["blocks"])


def spread(runs: Sequence[Run], other: str) -> float:
    """Standard deviation of a block's log-ratio within runs, of all runs together."""
    squares = [_variance(run, other) for run in runs]
    return math.sqrt(statistics.fmean([square for square in squares if math.isfinite(square)]))


def _variance(run: Run, other: str) -> float:
    ratios = block_ratios(run, ONE, other)
    return statistics.variance(ratios) if len(ratios) > 1 else math.nan


def block_ratios(run: Run, first: str, second: str) -> list[float]:
    """The log-ratio of each whole block, weighted over the load steps as the primary endpoint is."""
    rates = {(block, clients, name): rate for block, clients, name, rate, *_ in run["trials"]}
    share = dict(zip(CLIENTS, weights(), strict=True))
    ratios = []
    for block in range(1, _blocks(run) + 1):
        pairs = [(share[n], rates.get((block, n, first)), rates.get((block, n, second))) for n in CLIENTS]
        if all(a and b for _, a, b in pairs):
            ratios.append(sum(weight * math.log(a / b) for weight, a, b in pairs))
    return ratios


def _pooled(runs: Sequence[Run]) -> tuple[float, float]:
    """The log-ratio of the slower server over all runs, one value of each, and half of its 95 % interval."""
    means = [statistics.fmean(ratios) for run in runs if (ratios := block_ratios(run, ONE, SLOWER))]
    return statistics.fmean(means), 1.96 * statistics.stdev(means) / math.sqrt(len(means))


def _ratio(runs: Mapping[str, Sequence[Run]]) -> tuple[float, float]:
    """95 % of the ratio of the spreads, by drawing repetitions of both arms together."""
    by = {arm: {run["repetition"]: run for run in each} for arm, each in runs.items()}
    found = {arm: {number: _variance(run, SAME) for number, run in each.items()} for arm, each in by.items()}
    both = [n for n in found["contenders"] if all(math.isfinite(each.get(n, math.nan)) for each in found.values())]
    squares = {arm: [each[number] for number in both] for arm, each in found.items()}
    rng, ratios = random.Random(1), []
    for _ in range(TRIES):
        drawn = rng.choices(range(len(both)), k=len(both))
        before, after = (sum(squares[arm][i] for i in drawn) for arm in ARMS)
        ratios.append(math.sqrt(after / before))
    ratios.sort()
    return ratios[int(0.025 * TRIES)], ratios[int(0.975 * TRIES) - 1]
