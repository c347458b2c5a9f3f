"""What runs know of a kind of workload."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from pydantic import ValidationError

from bakeoff.agents.engine import load_engine
from bakeoff.agents.result import TrialResult
from bakeoff.core.errors import GeneratorError, PlanError
from bakeoff.kinds import load
from bakeoff.kinds.spec import Workload, spec_part
from bakeoff.load.capacity.judge import Answers
from bakeoff.plan.design.durations import ExpectedDuration, expected_duration
from bakeoff.plan.model import Contender, Plan
from bakeoff.store.records.figures import Shape
from bakeoff.store.records.marks import Mark


@dataclass(frozen=True)
class Note:
    """Something worth knowing about the contenders, to be stored as an `EventRecord` with these fields."""

    level: str
    text: str
    code: str = ""
    contender: str | None = None
    reason: str = ""


@dataclass(frozen=True)
class Foreseen:
    """What a look at the contenders before a run says of it: how long it takes, and what else there is to know."""

    expected: ExpectedDuration
    lines: Sequence[str] = ()


class Check(ABC):
    """Looks at the contenders of one plan, one after the other, then compares them, and says what the engine is told.

    A kind's own check derives from it; what has a body here need not be there.
    """

    def __init__(self, plan: Plan) -> None:
        """Raises PlanError when something that the plan names is missing, GeneratorError when the engine lacks the
        kind.
        """
        self.plan = plan
        spec_part(plan.kind)
        if plan.kind not in load_engine().workloads():
            raise GeneratorError(
                f"this build of the engine has no workload {plan.kind!r}: add its line to "
                "crates/bridge/src/registry.rs and do `make build`"
            )

    @abstractmethod
    def answers(self, contender: Contender) -> None:
        """Raises ContenderError unless the contender answers now."""

    def examine(self, contender: Contender) -> None:
        """Look at a contender that is ready. Raises ContenderError when it serves other content than it must."""
        self.answers(contender)

    def compare(self) -> Sequence[Note]:
        """Differences that do not forbid the comparison; ContenderError for one that does."""
        return ()

    @abstractmethod
    def addresses(self, contender: Contender) -> Sequence[str]:
        """The numeric addresses to use, the best first."""

    @abstractmethod
    def workload(self, contender: Contender, addresses: Sequence[str]) -> Workload:
        """What the engine is told of the work on a contender that was examined.

        Raises PlanError for settings that do not fit this machine or the contender.
        """

    def checked_workload(self, contender: Contender, addresses: Sequence[str]) -> Workload:
        """The same; raises PlanError also where the kind does not fill in its own specification."""
        try:
            return self.workload(contender, addresses)
        except ValidationError as error:  # the two parts of the kind contradict each other
            fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
            where = ".".join(map(str, fault["loc"]))
            raise PlanError(
                f"the kind {self.plan.kind} does not fill in its own specification ({where}: {fault['msg']}): correct "
                "its plan.py or spec.py"
            ) from None

    def learn(self, contender: Contender, lessons: Sequence[dict[str, Any]]) -> None:  # noqa: B027 - most learn nothing
        """Take what the engine tells of the replies of a contender, each time that it was rehearsed with it."""

    def facts(self) -> dict[str, Any]:
        """What was found, as JSON values, for the record of the run: `contenders` by name and, in `corpus`, what a
        resumed run must find again as it was.
        """
        return {"corpus": None, "contenders": {}}

    def unchanged(self, contender: Contender) -> None:  # noqa: B027 - most have nothing to ask
        """Asked before each trial, so it must cost nothing and may not wait. Raises ContenderError when the address
        does not lead to what was examined any more.
        """

    def close(self) -> Sequence[Note]:
        """The trials are over, in whatever way: remove what they kept with the contenders. Raises nothing."""
        return ()


S = TypeVar("S", bound=Shape)


def figures_of(model: type[S], result: TrialResult) -> S:
    """What a trial told of itself beside the counts of every trial. Raises GeneratorError when it cannot be that."""
    try:
        return model.model_validate(result.workload or {})
    except ValidationError as error:
        raise GeneratorError(f"the engine's result cannot be read ({str(error)[:200]}): build it again") from None


@dataclass(frozen=True)
class Fault:
    """Why a trial does not count: its state (`failed`, or `voided` where the contender is not to blame) and reason."""

    state: str
    reason: str


# Of the bytes of a histogram: how many of its times are at most so long, ns, and how long such a share is at most.
Timed = Callable[[bytes], tuple[Callable[[int], int], Callable[[float], int | None]]]


@dataclass(frozen=True)
class RunPart:
    """The part of a kind for runs. `check` is made of a plan; a kind whose figures can say that a trial does not count,
    or is to be marked, derives from this class.
    """

    check: type[Check]
    # Whether looks of several agents at a contender get into each other's way, so that they look one after the other.
    one_agent_at_a_time: ClassVar[bool] = False

    def here(self, plan: Plan, workload: Workload) -> Workload:
        """A workload as an agent was told it, with what it names where this process finds it: what agents measured is
        merged here.
        """
        return workload

    def foresee(self, plan: Plan, calibrate: bool, acts: bool = False) -> Foreseen:
        """How long a plan takes with these contenders and whether they have room for it; `calibrate` lets a small part
        of the work be tried with them for a moment, and `acts` what its settings do to this machine and to others (a
        command, dropped caches). Raises ContenderError for one that cannot be used.
        """
        return Foreseen(expected_duration(plan))

    def fault(self, result: TrialResult) -> Fault | None:
        """What the kind's own figures say against a trial, if anything."""
        return None

    def failed(self, result: TrialResult) -> Sequence[tuple[str, int, int]]:
        """What failed, by what users count: what it is called, how many failed, of how many; empty where that is the
        operations.
        """
        return ()

    def further_answers(self, workload: Mapping[str, Any], timed: Timed) -> Mapping[str, Answers]:
        """What an objective holds for beside the answers to operations, by the word in front of its terms, from the
        figures of a trial; `timed` reads a histogram.
        """
        return {}

    def apart(self, result: TrialResult, start_spread_s: float) -> str | None:
        """Of a trial of several agents: why it is void when they began something after each other that they had to
        begin together in the middle of it.
        """
        return None

    def marks(self, result: TrialResult) -> Sequence[Mark]:
        """Warnings of the kind's own."""
        return ()


def run_part(name: str) -> RunPart:
    """What runs know of a kind. Raises PlanError when there is no such kind, or when it lacks this part."""
    part: RunPart = load(name, "run")
    return part
