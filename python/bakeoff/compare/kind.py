"""What comparisons know of a kind of suite. `DEFAULT` is what holds for a kind that does not say otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bakeoff.compare.cube.cell_form import CellForm
from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.cube.forfeits import ENOUGH
from bakeoff.compare.estimate.exploratory import ratios_of_operations
from bakeoff.compare.failures.faults import ANSWERS, RECORDS, FaultSource
from bakeoff.compare.metrics import metrics
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.metrics.time_breakdown import STEPS, step_times
from bakeoff.compare.model.comparison import Audit, Failed, KindSummary
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.pair import Gate
from bakeoff.compare.validity import audits
from bakeoff.compare.validity.audit_model import Edges
from bakeoff.compare.validity.audits import LittlesLaw
from bakeoff.kinds import load
from bakeoff.plan.model import Plan
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from bakeoff.store.records.served import WorkPart, parts_of
from bakeoff.store.records.trial_parts import Summary


class ComparePart:
    """The part of a kind for comparisons: derive from it, and set or override what differs.

    `work` is what its operations are called in sentences, `iterations` what one start of a rate begins, where that is
    more than one of them, and `responds` what a response time at a rate is then of. `faults` are what makes a contender
    lose outright, in the order of printing. `wrong` are the classes of errors that are wrong answers, and no refusals.
    From a mean of `enough` operations on a client without any was starved. With `ends_with_its_starts` a trial has a
    number of starts, and its window lasts until the last of them is over. `cells` is how its cells are told, where
    trials are made of cells. `gates_of_its_own` and `audits_of_its_own` name what `gates` and `same_work` may find
    beyond the general ones. `law_allows` says what `law_tolerance` leaves to the edges of the window.
    """

    work: str = "operations"
    iterations: str = ""
    responds: str = ""
    faults: Sequence[FaultSource] = (RECORDS, ANSWERS)
    wrong: Sequence[str] = ("wrong_status", "protocol")
    enough: int = ENOUGH
    cells: CellForm | None = None
    ends_with_its_starts: bool = False
    gates_of_its_own: Sequence[str] = ()
    audits_of_its_own: Sequence[str] = ()
    law_allows: Edges = "operation"

    def response(self, trial: TrialRecord) -> Summary:
        """Response times in ns, as the kind means them: those of single operations, and at a rate those of whole
        iterations
        from the planned start.
        """
        return trial.response or trial.service

    def service(self, trial: TrialRecord) -> Summary:
        """Service times in ns of the same operations."""
        return trial.service

    def moved_bytes(self, trial: TrialRecord) -> int:
        """What counts as throughput: bytes in both directions."""
        return trial.bytes_in + trial.bytes_out

    def rates(self, plan: Plan) -> tuple[Metric, ...]:
        """The rates of a run of `plan`, the primary one first."""
        return (metrics.operations_rate(self.work),)

    def endpoints(self, run: RunRecord, cube: Cube, general: tuple[Metric, ...]) -> tuple[Metric, ...]:
        """The metrics of `run`, the primary one first; `general` are `rates`, throughput and response times."""
        return general

    def parts(self, trial: TrialRecord) -> Iterable[WorkPart]:
        """The parts of its work, to each of which the error budget applies."""
        return parts_of(trial)

    def implied_sessions(self, trial: TrialRecord, law: LittlesLaw) -> float | None:
        """The sessions that rate and times imply; None when they cannot tell."""
        return audits.implied_sessions(trial, law)

    def law_tolerance(self, trial: TrialRecord, law: LittlesLaw) -> float:
        """How far `implied_sessions` may be off, as a share."""
        return audits.law_tolerance(trial, law)

    def open_loop_metrics(self, run: RunRecord, metrics: tuple[Metric, ...]) -> tuple[Metric, ...]:
        """The metrics of `run` at rates, what decides first; `metrics` are those of any kind."""
        return metrics

    # What is in the response time that decides at rates beside response times, in words.
    waits_for: str = ""

    def waited_ns(self, trial: TrialRecord, figure: str) -> float:
        """What a user waits for after a good reply, ns: in the `figure` that decides at rates. NaN where that never
        ended.
        """
        return 0.0

    def owes_more(self, trial: TrialRecord) -> bool:
        """Whether a contender that has answered is overloaded all the same: what it has promised to do piles up."""
        return False

    def failures(self, trials: Sequence[TrialRecord]) -> Sequence[Failed]:
        """What failed, by what its users count; empty where that is its operations."""
        return ()

    def time_breakdown(self, trials: Sequence[TrialRecord]) -> Mapping[str, Mapping[str, float]]:
        """Where the time of `trials` went, ns: of each time that is divided, the steps that add up to it."""
        return {"response time": step_times(trials, STEPS)}

    def same_work(self, run: RunRecord, cube: Cube) -> Sequence[Audit]:
        """The audits that all contenders did the same work; none when there is nothing to hold them to. Trials made of
        cells have one of their own, and this is not asked.
        """
        return (audits.same_content(cube),)

    def explored(self, base: TrialRecord, other: TrialRecord) -> Iterable[tuple[str, str, float]]:
        """What two trials of one block are compared in beside the endpoints: the name of a part of the work, chosen
        regardless of any result, `mean` or `p99`, and the log-ratio of that time.
        """
        return ratios_of_operations(base, other)

    def gates(self, name: str, usable: list[TrialRecord], ahead: bool) -> list[Gate]:
        """Validity checks beyond the general ones, of a contender that is `ahead` or behind."""
        return []

    def advice(self, run: RunRecord) -> list[Fact]:
        """What a reader must know of such a run beyond what holds for any."""
        return []

    def summary(self, run: RunRecord) -> KindSummary | None:
        """What a comparison tells beside its curves."""
        return None


DEFAULT = ComparePart()


def compare_part(name: str) -> ComparePart:
    """What comparisons know of a kind; the default part for a kind without one, known or not."""
    part: ComparePart = load(name, "compare", DEFAULT)
    return part
