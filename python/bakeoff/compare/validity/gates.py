"""Validity checks between the numbers and a verdict: a fast wrong server must lose, a limited
generator must not win.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bakeoff.compare.cube.cells import starving_cells
from bakeoff.compare.cube.cube import Cube, blamed, totals, why_unusable
from bakeoff.compare.cube.forfeits import broke, starved_clients
from bakeoff.compare.cube.spread import widest
from bakeoff.compare.estimate.interim import ONLY_ANALYSIS, InterimAnalysis
from bakeoff.compare.failures.content import Differences
from bakeoff.compare.failures.error_replies import ERROR_STATUSES, MORE, error_replies
from bakeoff.compare.failures.faults_model import Fault
from bakeoff.compare.failures.hung import hung
from bakeoff.compare.failures.stale_connections import STALE_LIMIT, stale_share
from bakeoff.compare.failures.unserved import over_budget
from bakeoff.compare.model import gate as of
from bakeoff.compare.model.comparison import Repeated
from bakeoff.compare.model.pair import Gate, GateLevel, Verdict, VerdictKind
from bakeoff.compare.resources.fleet import busy_threads, full_link_of
from bakeoff.compare.validity.audits import LITTLE_RED, LittlesLaw
from bakeoff.compare.validity.client_options_model import ClientOption
from bakeoff.compare.validity.disturbances import crowd, crowd_gate, lost_share
from bakeoff.compare.validity.generator_capacity import GeneratorCapacity
from bakeoff.compare.validity.steadiness_model import SteadyState
from bakeoff.compare.verdict.why_open import Open
from bakeoff.core.thresholds import LOST_REPORTED
from bakeoff.load.load_step import LoadStep
from bakeoff.stats import Decision
from bakeoff.store.records.marks import (
    BEHIND_SCHEDULE,
    GENERATOR_LIMITED,
    GENERATOR_PAUSED,
    GENERATOR_WAITED,
    LINK_LIMITED,
    NEAR_GENERATOR_CAPACITY,
)
from bakeoff.store.records.run_records import TrialRecord

ERROR_BUDGET = 0.01
WRONG_BUDGET = 0.001
# Whoever was measured with so many times the lost time of the other was measured with another generator.
LOST_TIMES = 2.0
# Outcomes in which one of the two is ahead.
AHEAD = ("higher", "lower", "near_margin")
# A generator that is late by this share of a response time is in it.
SCHEDULE_SHARE = 0.1
NOTHING = Open()


@dataclass(frozen=True)
class Judge:
    """Everything needed to turn a decision about a pair into a verdict. `faults` are those of the whole run: a
    server that loses mail at one load step is not the better one at another.
    """

    cube: Cube
    little: LittlesLaw
    delta: float
    faults: dict[str, tuple[Fault, ...]] = field(default_factory=dict)
    # Contenders whose pages differ from the baseline's.
    different: frozenset[str] = frozenset()
    differences: Differences = field(default_factory=dict)
    interim: InterimAnalysis = ONLY_ANALYSIS
    repeated: tuple[Repeated, ...] = ()
    # What the generator could have asked of a contender at most, where that was measured.
    capacities: Mapping[str, GeneratorCapacity] = field(default_factory=dict)
    # Whoever is ahead, both are held to what the one ahead is held to.
    both: bool = False
    # How steady the trials were; None where seconds say nothing of it.
    steady: SteadyState | None = None
    # Of several run files: how they speak against each other, by metric and pair; and the metric that is judged now.
    files: Mapping[tuple[str, frozenset[str]], Gate] = field(default_factory=dict)
    # The kind of suite, and the settings of clients that contenders have differently.
    kind: str = ""
    client_options: tuple[ClientOption, ...] = ()
    metric: str = ""
    # How long a block takes; NaN where nobody knows.
    block_s: float = math.nan
    # Whose lead is gone where each failed operation counts as slow as the slowest answer.
    flattered: str = ""

    def verdict(
        self,
        decision: Decision,
        baseline: str,
        contender: str,
        load_steps: tuple[LoadStep, ...],
        leader: str,
        blocks: int,
        reach: tuple[float, float] = (math.nan, math.nan),
        p: float = math.nan,
        still: Open = NOTHING,
    ) -> tuple[Verdict, tuple[Gate, ...]]:
        """The verdict on `contender` against `baseline` over `load_steps`; `leader` is the one ahead, by a factor
        inside `reach`, which equals would show in a share `p` of runs. `still` is what is open where none is.
        """
        both_sides = self.both or decision.outcome not in AHEAD
        follower = baseline if leader == contender else contender
        found = self._gates(leader, follower, load_steps, both_sides)
        if (gate := self._crowded(decision, leader, follower, load_steps, (reach[0], p))) is not None:
            found.append(gate)
        gates = tuple(found)
        return self._judged(decision, leader, blocks, gates, reach, still), gates

    def alone(self, name: str, load_steps: tuple[LoadStep, ...]) -> tuple[Gate, ...]:
        """The gates that withhold every verdict on `name`, whoever it is compared with."""
        found = self._gates(name, name, load_steps, both_sides=True)
        return tuple({gate.name: gate for gate in found if gate.level == "red"}.values())

    def _judged(
        self,
        decision: Decision,
        leader: str,
        blocks: int,
        gates: tuple[Gate, ...],
        reach: tuple[float, float],
        still: Open,
    ) -> Verdict:
        def verdict(kind: VerdictKind, more: int | None = None) -> Verdict:
            return Verdict(kind, more_blocks=more, reasons=gates, blocks=blocks, margin=self.delta)

        red = {gate.name for gate in gates if gate.level == "red"}
        wrong = any(gate.name == "wrong content" for gate in gates)
        if wrong and (decision.outcome not in AHEAD or leader in self.faults):
            # No number of further blocks mends it, so that none is named.
            return verdict("disqualified")
        if "different pages" in red:
            return verdict("withheld")
        if decision.outcome == "too_few":
            return verdict("too_few", decision.more_blocks)
        if "files" in red:
            return verdict("withheld")
        if decision.outcome == "inconclusive":
            return replace(verdict("inconclusive", decision.more_blocks), still=still)
        if red:
            return verdict("withheld")
        is_faster = decision.outcome == "near_margin" or reach[0] > 1.0
        if decision.outcome in ("equivalent", "near_margin"):
            kind: VerdictKind = "equivalent" if decision.outcome == "equivalent" else "near_margin"
            return replace(verdict(kind), ahead=leader if is_faster else "", reach=reach)
        sized = not any(gate.name == "other load" for gate in gates)
        return replace(verdict("better"), winner=leader, sized=sized)

    def _gates(self, leader: str, follower: str, load_steps: tuple[LoadStep, ...], both_sides: bool) -> list[Gate]:
        gates: list[Gate] = []
        if (leader in self.different) != (follower in self.different):
            name = leader if leader in self.different else follower
            gates.append(Gate("different content", "red", name, of.OtherContent(leader, follower)))
        other = self.differences.get(frozenset((leader, follower)))
        if other is not None:
            gates.append(Gate("different pages", "red", leader, of.DifferentPages(other)))
        gates += [gate] if (gate := self.files.get((self.metric, frozenset((leader, follower))))) else []
        gates += self._client_options_gates(leader, follower)
        gates += self._error_replies(leader, follower, load_steps, both_sides)
        gates += self._stopped(leader, follower, load_steps, both_sides)
        for name in (leader, follower):
            trials = self.cube.of(name, load_steps)
            ahead = both_sides or name == leader
            gates += self._faults(name, ahead)
            gates += self._broken(name, trials, ahead)
            gates += self._repeated(name, load_steps)
            gates += self._starving(name, trials, ahead)
            gates += self._hung(name, trials, ahead)
            usable = [trial for trial in trials if why_unusable(trial) is None]
            # Honest refusals do not save an opponent whose content or mail accounting is wrong.
            gates += self._errors(name, usable, ahead and not (name == leader and follower in self.faults))
            gates += self.cube.kind.gates(name, usable, ahead)
            gates += self._generator(name, usable, both_sides or name == follower)
            gates += self._near_generator_capacity(name, usable)
            gates += self._link(name, usable, both_sides or name == follower)
            gates += self._schedule(name, usable, both_sides or name == follower)
            gates += self._waited(name, usable)
            gates += self._little(name, usable)
            gates += self._spread(name, usable)
            gates += self._stale(name, usable)
            gates += self._unsteady(name)
        return gates

    def _faults(self, name: str, ahead: bool) -> list[Gate]:
        listed = self.faults.get(name)
        return [Gate("wrong content", "red" if ahead else "amber", name, of.Faulty(listed))] if listed else []

    def _client_options_gates(self, leader: str, follower: str) -> list[Gate]:
        """A setting of one side alone may be all of its lead: whoever reads the verdict reads that."""
        if all(option.values.get(leader) == option.values.get(follower) for option in self.client_options):
            return []
        return [
            Gate(
                "settings",
                "amber",
                leader,
                of.ClientOptionsDifferGate(self.kind, self.client_options, (leader, follower)),
            )
        ]

    def _error_replies(self, leader: str, follower: str, load_steps: tuple[LoadStep, ...], alike: bool) -> list[Gate]:
        """Whoever says no to more of the same requests does less for each."""
        usable = {
            name: {(t.load_step, t.block): t for t in self.cube.of(name, load_steps) if why_unusable(t) is None}
            for name in (leader, follower)
        }
        both = usable[leader].keys() & usable[follower].keys()
        away = {name: error_replies((trials[key] for key in both), ERROR_STATUSES) for name, trials in usable.items()}
        gates: list[Gate] = []
        for name, other in ((leader, follower), (follower, leader)):
            if away[name].share - away[other].share > MORE:
                level: GateLevel = "red" if alike or name == leader else "amber"
                gates.append(Gate("error replies", level, name, of.MoreErrorReplies(away[name], other, away[other])))
        return gates

    def _broken(self, name: str, trials: list[TrialRecord], ahead: bool) -> list[Gate]:
        broken = [trial for trial in trials if broke(trial)]
        if not broken:
            return []
        return [Gate("failed trials", "red" if ahead else "amber", name, of.FailedTrials(len(broken), len(trials)))]

    def _repeated(self, name: str, load_steps: tuple[LoadStep, ...]) -> list[Gate]:
        """Whoever is asked again until it does not fail must be named, whatever came of it."""
        failed = [each for each in self.repeated if each.contender == name and each.state == "failed"]
        failed = [
            each for each in failed if each.load_step in load_steps or each.load_step not in self.cube.load_steps
        ]  # of a search
        return [Gate("repeated trials", "amber", name, of.Repetitions(len(failed)))] if failed else []

    def _starving(self, name: str, trials: list[TrialRecord], ahead: bool) -> list[Gate]:
        hit = sum(
            not broke(trial) and bool(starved_clients(trial, self.cube.kind.enough) or starving_cells(trial))
            for trial in blamed(trials)
        )
        if not hit:
            return []
        return [Gate("starved clients", "red" if ahead else "amber", name, of.Starving(hit, len(trials)))]

    def _hung(self, name: str, trials: list[TrialRecord], ahead: bool) -> list[Gate]:
        """A server that swallows a request frees itself of work: one such operation is too many for a lead."""
        left_open = hung(trials)
        level: GateLevel = "red" if ahead else "amber"
        return [Gate("unfinished", level, name, of.LeftOpen(left_open))] if left_open.trials else []

    def _errors(self, name: str, usable: list[TrialRecord], ahead: bool) -> list[Gate]:
        operations, errors = totals(usable)
        tried = operations + sum(errors.values())
        # Wrong content, which a client would take for right, is a fault: see `faults`.
        wrong = sum(errors.get(name, 0) for name in self.cube.kind.wrong)
        level: GateLevel = "red" if ahead else "amber"
        if tried and wrong / tried > WRONG_BUDGET:
            return [Gate("wrong answers", level, name, of.WrongAnswers(wrong / tried, self.cube.kind.work))]
        share, work = sum(errors.values()) / tried if tried else 0.0, f"the {self.cube.kind.work}"
        if share > ERROR_BUDGET:
            return [Gate("errors", level, name, of.ErrorsOver(share, work))]
        over = over_budget(self.cube.kind, usable, ERROR_BUDGET) if errors else None
        if over is not None:
            return [Gate("errors", level, name, of.ErrorsOver(over.failed / (over.good + over.failed), over.words))]
        if ahead and name == self.flattered:
            return [Gate("errors", "red", name, of.Flattering(share, work))]
        return []

    def _generator(self, name: str, usable: list[TrialRecord], behind: bool) -> list[Gate]:
        limited = sum(GENERATOR_LIMITED in trial.marks for trial in usable)
        if 2 * limited <= len(usable):
            return []
        # The leader could have been faster still: the difference stands, its size is a lower bound.
        detail = of.GeneratorLimit(limited, len(usable), busy_threads(usable), not behind)
        return [Gate("generator", "red" if behind else "amber", name, detail)]

    def _link(self, name: str, usable: list[TrialRecord], behind: bool) -> list[Gate]:
        """A full link is as fast as it is, whatever server answers over it."""
        limited = [trial for trial in usable if LINK_LIMITED in trial.marks]
        if 2 * len(limited) <= len(usable):
            return []
        detail = of.LinkLimit(len(limited), len(usable), full_link_of(limited), not behind)
        return [Gate("link", "red" if behind else "amber", name, detail)]

    def _near_generator_capacity(self, name: str, usable: list[TrialRecord]) -> list[Gate]:
        """Whoever answers nearly as much as the generator can ask may be faster than it looks."""
        near = [trial for trial in usable if NEAR_GENERATOR_CAPACITY in trial.marks]
        if name not in self.capacities or not near:
            return []
        capacity = self.capacities[name]
        most = max(trial.operations_per_s for trial in near) / capacity.operations_per_s
        detail = of.NearGeneratorCapacity(len(near), len(usable), most, capacity.is_floor)
        return [Gate("generator capacity", "amber", name, detail, most)]

    def _schedule(self, name: str, usable: list[TrialRecord], behind: bool) -> list[Gate]:
        """A generator that is late itself makes a server look slow."""
        late = sum(BEHIND_SCHEDULE in trial.marks and _late_at(trial, self.metric) for trial in usable)
        if 2 * late <= len(usable):
            return []
        detail = of.LateStarts(late, len(usable))
        return [Gate("schedule", "red" if behind else "amber", name, detail, late / len(usable))]

    def _waited(self, name: str, usable: list[TrialRecord]) -> list[Gate]:
        waits = [trial.generator_run_delay_share or 0.0 for trial in usable if GENERATOR_WAITED in trial.marks]
        if not waits:
            return []
        detail = of.Waits(len(waits), len(usable), max(waits))
        return [Gate("generator waited", "amber", name, detail, max(waits))]

    def _crowded(
        self,
        decision: Decision,
        leader: str,
        follower: str,
        load_steps: tuple[LoadStep, ...],
        found: tuple[float, float],
    ) -> Gate | None:
        """Two that were measured with other processors each, or hardly any, are compared by their processors."""
        crowds = {
            name: crowd([trial for trial in self.cube.of(name, load_steps) if why_unusable(trial) is None])
            for name in (leader, follower)
        }
        return crowd_gate(decision, leader, follower, crowds, self.delta, *found)

    def _stopped(self, leader: str, follower: str, load_steps: tuple[LoadStep, ...], both_sides: bool) -> list[Gate]:
        """A generator that was stopped while one of two was measured makes that one look slow."""
        forfeited = {name: self._lost(name, load_steps) for name in (leader, follower)}
        gates: list[Gate] = []
        for name, other in ((follower, leader), (leader, follower)):
            trials, share = forfeited[name]
            if not trials:
                continue
            more = share >= LOST_REPORTED and share > LOST_TIMES * forfeited[other][1]
            red = more and (both_sides or name == follower)
            detail = of.Stopped(trials, share, other, forfeited[other][1])
            gates.append(Gate("generator stopped", "red" if red else "amber", name, detail))
        return gates

    def _lost(self, name: str, load_steps: tuple[LoadStep, ...]) -> tuple[int, float]:
        """In how many usable trials the generator was stopped, and the mean share of all of them that this took."""
        usable = [trial for trial in self.cube.of(name, load_steps) if why_unusable(trial) is None]
        marked = sum(GENERATOR_PAUSED in trial.marks for trial in usable)
        return marked, math.fsum(lost_share(trial) for trial in usable) / max(1, len(usable))

    def _spread(self, name: str, usable: list[TrialRecord]) -> list[Gate]:
        spread = widest(usable)
        if spread is None:
            return []
        return [Gate("blocks", "amber", name, of.Uneven(spread, self.cube.kind.work), spread.factor)]

    def _unsteady(self, name: str) -> list[Gate]:
        """Whoever sinks while it is measured looks as good as its window is short."""
        contenders = () if self.steady is None else self.steady.contenders
        unsteady = [
            (steadiness.unsteady_trials, steadiness.worst) for steadiness in contenders if steadiness.contender == name
        ]
        often = [(one, worst) for one, worst in unsteady if one is not None and 2 * one.trials > max(2, one.of)]
        return [Gate("not steady", "amber", name, of.NotSteady(one), worst) for one, worst in often]

    def _stale(self, name: str, usable: list[TrialRecord]) -> list[Gate]:
        """A server that drops idle connections early saves what others spend on keeping them."""
        share = stale_share(usable)
        if share <= STALE_LIMIT:
            return []
        detail = of.StaleConnections(share, self.cube.kind.work)
        return [Gate("stale connections", "amber", name, detail, share)]

    def _little(self, name: str, usable: list[TrialRecord]) -> list[Gate]:
        off = sum(abs(away) > LITTLE_RED for trial in usable if (away := self.little.deviation(trial)) is not None)
        if 2 * off <= len(usable):
            return []
        return [Gate("Little's law", "red", name, of.LawOff(off, len(usable), LITTLE_RED))]


def _late_at(trial: TrialRecord, metric: str) -> bool:
    """Whether a late generator is in this figure: the mark is about the 99th percentile. Service times begin when an
    operation is sent, and a median is off by the median of the lateness.
    """
    if metric.startswith("service_"):
        return False
    if metric not in ("p50", "p95") or trial.response is None:
        return True
    late, response = (getattr(times, f"{metric}_ns") for times in (trial.generator_late_start, trial.response))
    return late is None or response is None or late > SCHEDULE_SHARE * response
