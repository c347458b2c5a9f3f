"""What is read out of a trial, in which unit, and which direction is good."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

from bakeoff.compare import settings
from bakeoff.compare.cube import Cube, why_unusable
from bakeoff.compare.file_weights import weights_of
from bakeoff.compare.mail_metrics import counts_messages, mail_metrics
from bakeoff.compare.metric import Metric
from bakeoff.compare.model import ContenderSummary
from bakeoff.compare.scores import scores
from bakeoff.compare.surface import common_cells, file_sizes_of, mean_rate
from bakeoff.store.records import EMPTY_SUMMARY, RunRecord, Summary, TrialRecord

# A distribution-free upper 95 % bound of a percentile needs this many independent operations.
P95_OPERATIONS, P99_OPERATIONS = 72, 368

# What the operations of a kind of suite are called in sentences.
WORK = {"web": "requests", "mail": "mail steps", "app": "transactions"}
FILE_WORK = "file operations"

# The step that a client of the office mix tells of each turn, and what its times are called.
TURN, OF_A_TURN = "turn", "response time of a turn"

MIX, BLOCKS = "file-mix", "file-blocks"

# Title of the primary metric of suites made of cells.
CELLS = "Geometric mean of"


def work_word(kind: str) -> str:
    """ "requests" for a web suite; "operations" where nothing better is known."""
    return FILE_WORK if kind.startswith("file-") else WORK.get(kind, "operations")


def has_turns(trial: TrialRecord) -> bool:
    """Whether the clients of a trial worked in turns with rests between them."""
    return isinstance(trial.workload.get("turns"), dict)


def response_of(trial: TrialRecord) -> Summary:
    """Response times in ns: of turns where clients worked in turns, of single operations otherwise."""
    if not has_turns(trial):
        return trial.service
    return next((step.summary for step in trial.steps if step.name == TURN), EMPTY_SUMMARY)


def _milliseconds(nanoseconds: float | None) -> float:
    return math.nan if nanoseconds is None else nanoseconds / 1e6


def metrics(kind: str, think_s: float = 0.0) -> tuple[Metric, ...]:
    """The metrics of a run of ``kind``, the primary one first. Clients pause ``think_s`` between operations."""
    rate = f"{work_word(kind)}/s"
    return (
        *_rates(kind, rate, think_s),
        Metric("throughput", "Throughput", "MB/s", True, "log", _megabytes(kind), "throughput"),
        Metric(
            "mean",
            "Mean response time",
            "ms",
            False,
            "log",
            lambda t: _milliseconds(response_of(t).mean_ns),
            "mean response time",
        ),
        Metric(
            "p50",
            "Median response time (p50)",
            "ms",
            False,
            "log",
            lambda t: _milliseconds(response_of(t).p50_ns),
            "p50 response time",
        ),
        Metric(
            "p95",
            "95th percentile of response time (p95)",
            "ms",
            False,
            "log",
            lambda t: _milliseconds(response_of(t).p95_ns),
            "p95 response time",
            least=P95_OPERATIONS,
        ),
        Metric(
            "p99",
            "99th percentile of response time (p99)",
            "ms",
            False,
            "log",
            lambda t: _milliseconds(response_of(t).p99_ns),
            "p99 response time",
            least=P99_OPERATIONS,
        ),
    )


def _megabytes(kind: str) -> Callable[[TrialRecord], float]:
    """MB/s: bytes received; sent ones as well where a kind moves data both ways. A web client sends only questions."""
    return received_mb_s if kind in ("web", "null") else moved_mb_s


def received_mb_s(trial: TrialRecord) -> float:
    """Bytes received in the window, 10⁶ a second."""
    return trial.bytes_in / 1e6 / trial.window_s if trial.window_s > 0.0 else math.nan


def moved_mb_s(trial: TrialRecord) -> float:
    """Bytes read and written in the window, 10⁶ a second."""
    return (trial.bytes_in + trial.bytes_out) / 1e6 / trial.window_s if trial.window_s > 0.0 else math.nan


def metrics_of(run: RunRecord, cube: Cube) -> tuple[Metric, ...]:
    """The metrics of ``run``. Where trials are made of cells, the primary one is the geometric mean of the rates of
    the cells that all contenders have: every cell then weighs the same, or by the files of a share.
    """
    found = metrics(run.kind, settings.number(run.plan, "think_s", 0.0))
    if counts_messages(run):
        return mail_metrics(run, found)
    if any(has_turns(trial) for trial in cube.usable.values()):
        found = tuple(_of_turns(metric) for metric in found)
    weights = weights_of(run.plan, file_sizes_of(run))
    keys = common_cells(run, cube.usable.values())
    if weights is not None:
        keys = frozenset(key for key in keys if weights.has(key[1]))
    if not keys:
        return found
    title = f"{CELLS} {len(keys):,} cell{'s' * (len(keys) > 1)}" + (f", {weights.words}" if weights else "")
    unit, scale = ("MB/s", 1024 / 1e6) if run.kind == BLOCKS else ("KiB/s", 1.0)
    rate = Metric(
        "rate",
        title,
        unit,
        True,
        "log",
        lambda trial: scale * mean_rate(trial, keys, weights),
        unit,
        keys,
        weights=weights,
    )
    return (rate, *found[1:])


def _of_turns(metric: Metric) -> Metric:
    """The same, named after turns when it is a response time."""
    plain = "response time"
    title, short = metric.title.replace(plain, OF_A_TURN), metric.short.replace(plain, OF_A_TURN)
    return replace(metric, title=title, short=short)


def _rates(kind: str, rate: str, think_s: float) -> tuple[Metric, ...]:
    """The rate of a run, in the sense that its kind of suite gives it, the primary one first."""
    title = rate[0].upper() + rate[1:]
    if kind == MIX:
        return (
            Metric("rate", "Throughput of the mix", "Mbit/s", True, "log", lambda t: 8 * moved_mb_s(t), "Mbit/s"),
            Metric("operations", title, rate, True, "log", lambda t: t.operations_per_s, rate),
        )
    if kind != "app":
        return (Metric("rate", title, rate, True, "log", lambda t: t.operations_per_s, rate),)
    published = f"{title} (weighted harmonic mean over clients, as published)"
    return (
        Metric(
            "rate",
            f"{title} (unweighted harmonic mean over clients)",
            rate,
            True,
            "log",
            lambda t: scores(t).unweighted,
            rate,
        ),
        Metric("plain", f"{title} (plain)", rate, True, "log", lambda t: scores(t).plain, f"plain {rate}"),
        Metric("weighted", published, rate, True, "log", lambda t: scores(t, think_s).weighted, f"weighted {rate}"),
    )


def peak_operations(run: RunRecord, contender: ContenderSummary) -> float:
    """The contender's peak in operations a second, whatever its rate is told in; NaN without one."""
    if run.kind != MIX and not counts_messages(run):
        return contender.peak
    rates: dict[int, list[float]] = defaultdict(list)
    for trial in run.trials:
        if trial.contender == contender.name and why_unusable(trial) is None:
            rates[trial.mix_clients].append(trial.operations_per_s)
    return max((math.fsum(found) / len(found) for found in rates.values()), default=math.nan)


def error_share(trial: TrialRecord) -> float:
    """Failed operations as a share of all that ended in the window; NaN when none ended."""
    tried = trial.operations + trial.errors_total
    return trial.errors_total / tried if tried else math.nan
