"""One cell, from servers to the comparison; trials and good contenders are shared between cells."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from bakeoff.agents.result import TrialResult
from bakeoff.compare import Comparison
from tests.faults.bench import EVIL, GOOD, Measured, RefusedError, compared, hurried, measure, plan_of
from tests.faults.faults import FAULTS, Fault
from tests.faults.scenes import SCENES, Stage
from tests.faults.searches import searched
from tests.faults.sorts import AGENTS, CAPACITY, CLOSED, HTTP_3, RATE
from tests.told import headline_of, kinds_of

# Suites under all of whose loads trials are sent, for each family of contenders; of the others under these loads, and
# under the rest by the counts of those.
WHOLLY = ("web-url", "app", "mail-pop", "file-blocks", "file-matrix", "file-mix")
SENT = (CLOSED, RATE)
REFUSED = "refused"


@dataclass(frozen=True)
class Came:
    """What came out: `outcome` in one word, with all sentences of the headline, who was told to be better by any
    endpoint, and the keys of all endpoints.
    """

    outcome: str
    headline: str
    winners: tuple[str, ...]
    metrics: tuple[str, ...] = ()

    @property
    def praised(self) -> bool:
        """Whether the faulty contender is better by anything that is told."""
        return EVIL in self.winners or f"{EVIL} is better" in self.headline or f"{EVIL} better" in self.headline


@dataclass
class Runner:
    """Runs cells on a stage."""

    stage: Stage
    _good: dict[tuple[str, str, str], Mapping[str, TrialResult]] = field(default_factory=dict)
    _measured: dict[tuple[str, str, str], Measured | RefusedError] = field(default_factory=dict)

    def run(self, name: str, suite: str, load: str) -> Came:
        """What comes out of a cell."""
        fault = FAULTS[name]
        if load == CAPACITY:
            sent = RATE
        else:
            at_rate = suite == "replay" or (suite == "httperf" and load == AGENTS)
            sent = load if suite in WHOLLY or load in SENT else RATE if at_rate else CLOSED
        try:
            measured = self._of(fault, suite, sent)
        except RefusedError as error:
            return Came(REFUSED, str(error), ())
        if sent != load:
            addresses = {c.name: c.address for c in measured.plan.contenders}
            if load == HTTP_3:
                addresses = {name: address.replace("http://", "https://") for name, address in addresses.items()}
            tables, _ = self.stage.tables(suite, load, fault.settings)
            measured = replace(measured, plan=plan_of(suite, tables, addresses))
        return came(searched(measured, fault.slow) if load == CAPACITY else compared(measured, fault.slow))

    def _of(self, fault: Fault, suite: str, load: str) -> Measured:
        key = (fault.name, suite, load)
        if key not in self._measured:
            try:
                self._measured[key] = self._measure(fault, suite, load)
            except RefusedError as error:
                self._measured[key] = error
        found = self._measured[key]
        if isinstance(found, RefusedError):
            raise found
        return found

    def _measure(self, fault: Fault, suite: str, load: str) -> Measured:
        scene, known = SCENES[suite], self._good.get((suite, load, fault.target), {})
        root = self.stage.folder / scene.root if scene.root else None
        with ExitStack() as stack:
            addresses = {}
            for name, start in ((GOOD, fault.good), (EVIL, fault.start)):
                bare = stack.enter_context(start(root))
                addresses[name] = stack.enter_context(self.stage.address(suite, load, bare, fault.load))
            tables, agents = self.stage.tables(suite, load, fault.settings)
            measured = measure(plan_of(suite, tables, addresses), agents, scene.shortened(load), known)
        if not fault.slow:
            faster = hurried(measured.results[EVIL], measured.results[GOOD])
            measured = replace(measured, results={GOOD: measured.results[GOOD], EVIL: faster})
        self._good[suite, load, fault.target] = {GOOD: measured.results[GOOD]}
        return measured


def came(found: Comparison) -> Came:
    """A comparison in short."""
    (pair,) = found.pairs
    verdict = pair.primary.verdict
    ends = (pair.primary, *pair.secondary)
    winners = tuple(end.verdict.winner for end in ends if end.verdict.winner is not None)
    if any(kind == "loss" and text.startswith(f"{EVIL} is disqualified") for kind, text in headline_kinds(found)):
        outcome = "disqualified"
    elif verdict.winner is not None:
        outcome = "wins" if verdict.winner == EVIL else "loses"
    else:
        outcome = verdict.kind
    return Came(outcome, "\n".join(headline_of(found)), winners, tuple(end.metric for end in ends))


def headline_kinds(found: Comparison) -> list[tuple[str, str]]:
    """The sentences of the headline with their kinds."""
    return list(zip(kinds_of(found), headline_of(found), strict=True))
