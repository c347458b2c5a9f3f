"""What a run stands on before its first trial: the contenders as its agents see them, and what the engines are told."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bakeoff.agents.base import Agent
from bakeoff.agents.cluster.hello import refuse_small
from bakeoff.agents.spec import TrialSpec
from bakeoff.core.errors import AbsentError, ContenderError, PlanError
from bakeoff.kinds.spec import NullCalibration, Workload, new_mark, new_secret
from bakeoff.load.load_step import LoadStep
from bakeoff.plan.design.shared_addresses import ADVICE, shared_addresses
from bakeoff.plan.model import Contender, Plan
from bakeoff.run.checks.polling import common_polling
from bakeoff.run.checks.preflight import check_disk, demand_of, estimate_bytes
from bakeoff.run.checks.rehearsal import rehearse
from bakeoff.run.checks.specs import trial_spec
from bakeoff.run.contenders.reset import reset
from bakeoff.run.fleet.sessions import Fleet
from bakeoff.run.kind import Check, Note, run_part
from bakeoff.run.modes.challenge import with_contenders


def preflight(plan: Plan, fleet: Fleet, run_file: Path) -> list[Note]:
    """Warnings. Raises GeneratorError or PlanError when an agent cannot carry its part, or the disk is too small."""
    demands = {name: demand_of(plan, part) for name, part in fleet.slices().items()}
    several = len(fleet.agents) > 1
    too_small = refuse_small({name: fleet.facts(name) for name in demands}, demands) if several else []
    texts_by_agent = fleet.each(lambda agent: agent.preflight(demands[agent.name]))
    check_disk(run_file, estimate_bytes(plan))
    warnings = [_of(fleet, name, text) for name, texts in texts_by_agent.items() for text in texts]
    one_sided = plan.fleet.one_sided([contender.name for contender in plan.contenders])
    same = [f"{one.text}: {ADVICE[0].lower()}{ADVICE[1:]}" for one in shared_addresses(plan.to_dict()["contenders"])]
    return [Note("warning", text) for text in (*same, *one_sided, *too_small, *warnings)]


class PreparedContenders:
    """The contenders of a plan as the agents of a fleet see them. Raises PlanError, ContenderError or GeneratorError;
    where some `may_miss`, all are looked at, and AbsentError tells of those that cannot be used.
    """

    def __init__(self, plan: Plan, fleet: Fleet, may_miss: bool = False) -> None:
        self._plan, self._fleet = plan, fleet
        self._refuse_addresses_of_others()
        self._seen = {agent.name: {c.name: c for c in plan.seen_by(agent.name).contenders} for agent in fleet.agents}
        self._checks: Mapping[str, Check] = fleet.each(lambda agent: agent.check(plan.seen_by(agent.name)))
        absent: dict[str, str] = {}
        for contender in plan.contenders:
            try:
                reset(contender, partial(self.answers, contender))
                self._examine(contender)
            except ContenderError as error:
                if not may_miss:
                    raise
                absent[contender.name] = str(error)
        if absent:
            raise AbsentError(absent)
        notes_by_agent = fleet.each(lambda agent: self._checks[agent.name].compare())
        self.notes = [Note(n.level, _of(fleet, name, n.text)) for name, notes in notes_by_agent.items() for n in notes]
        self._refuse_other_views()

    def _examine(self, contender: Contender) -> None:
        if not run_part(self._plan.kind).one_agent_at_a_time:
            self._all(lambda check, seen: check.examine(seen), contender)
            return
        for agent in self._fleet.active:
            check, seen = self._checks[agent.name], self._seen[agent.name][contender.name]
            self._fleet.named(agent.name, partial(check.examine, seen))

    def answers(self, contender: Contender) -> None:
        """Raises ContenderError unless the contender answers every agent now."""
        self._all(lambda check, seen: check.answers(seen), contender)

    def unchanged(self, contender: Contender) -> None:
        """Raises ContenderError when the address does not lead to what was examined any more. May not wait."""
        self._all(lambda check, seen: check.unchanged(seen), contender)

    def close(self) -> list[Note]:
        """The trials are over: nothing of them is left with the contenders."""
        present = {agent.name for agent in self._fleet.active}
        notes_by_agent = {name: check.close() for name, check in self._checks.items() if name in present}
        return [Note(n.level, _of(self._fleet, name, n.text)) for name, notes in notes_by_agent.items() for n in notes]

    def facts(self) -> dict[str, Any]:
        """What was found, as JSON values: as the first agent sees it, and the others under `agents`."""
        first, *others = ((name, check.facts()) for name, check in self._checks.items())
        return first[1] | ({"agents": dict(others)} if others else {})

    def found(self, contender: str) -> dict[str, Any]:
        """What is known of a contender now, as the first agent sees it."""
        facts = next(iter(self._checks.values())).facts()["contenders"].get(contender)
        return facts if isinstance(facts, dict) else {}

    def specs(self) -> "Specs":
        """What the engines are told: of every agent and contender, tried out as far as that goes without a load."""
        trial_specs = self._trial_specs()
        specs = self._specs(trial_specs)
        s = self._plan.settings
        for contender in self._plan.contenders:
            for load_step in dict.fromkeys((s.load_steps[0], s.load_steps[-1])):
                self._fleet.accept(specs.of(contender.name, load_step, self._plan.seed))
        has_learnt = False
        for agent in self._fleet.agents:
            own = {contender.name: trial_specs[agent.name, contender.name] for contender in self._plan.contenders}
            lessons = self._fleet.named(agent.name, partial(rehearse, self._plan, own, agent))
            for name, learnt in lessons.items():
                has_learnt = True
                self._checks[agent.name].learn(self._seen[agent.name][name], learnt)
        return self._specs(self._trial_specs()) if has_learnt else specs

    def _trial_specs(self) -> dict[tuple[str, str], TrialSpec]:
        return {
            (agent.name, contender.name): self._spec(agent, contender)
            for agent in self._fleet.agents
            for contender in self._plan.contenders
        }

    def _specs(self, trial_specs: Mapping[tuple[str, str], TrialSpec]) -> "Specs":
        return Specs(common_polling(trial_specs), partial(run_part(self._plan.kind).here, self._plan))

    def _spec(self, agent: Agent, contender: Contender) -> TrialSpec:
        check = self._checks[agent.name]
        facts, seen = self._fleet.facts(agent.name), self._seen[agent.name][contender.name]
        return self._fleet.named(agent.name, lambda: trial_spec(check, seen, check.addresses(seen), facts))

    def _all(self, ask: Callable[[Check, Contender], None], contender: Contender) -> None:
        """Ask about a contender from every agent, each of which may reach it at another address."""
        self._fleet.each(lambda agent: ask(self._checks[agent.name], self._seen[agent.name][contender.name]))

    def _refuse_addresses_of_others(self) -> None:
        agents = [agent.name for agent in self._fleet.agents]
        for name in self._plan.fleet.addresses:
            if name not in agents:
                raise PlanError(
                    f"the plan has addresses for agent {name}, and the agents of this run are {', '.join(agents)}: "
                    f"correct the name in [agents.{name}], or leave the table out"
                )

    def _refuse_other_views(self) -> None:
        corpora = {name: check.facts().get("corpus") for name, check in self._checks.items()}
        first, *others = corpora
        for other in others:
            if corpora[other] != corpora[first]:
                raise ContenderError(
                    f"the contenders serve other contents to agent {other} ({corpora[other]}) than to {first} "
                    f"({corpora[first]}): let their addresses lead to the same servers from both"
                )


def prepare_contenders(plan: Plan, fleet: Fleet, may_miss: bool) -> tuple[PreparedContenders, Plan, dict[str, str]]:
    """What a run stands on, the plan of the contenders that are there, and why the others are absent: none is, unless
    some `may_miss`. Raises as PreparedContenders does, ContenderError also where nobody is left.
    """
    absent: dict[str, str] = {}
    while True:
        try:
            return PreparedContenders(plan, fleet, may_miss), plan, absent
        except AbsentError as error:
            absent |= error.reasons
        left = [contender for contender in plan.contenders if contender.name not in absent]
        if not left:
            raise ContenderError("; ".join(absent.values()))
        plan = with_contenders(plan, left)


class Specs:
    """The trial specifications of all agents and contenders but for load step and seed. They are built once: a corpus
    has many requests.
    """

    def __init__(
        self,
        specs: Mapping[tuple[str, str], TrialSpec],
        here: Callable[[Workload], Workload],
    ) -> None:
        self._specs, self._here = specs, here

    def of(self, contender: str, load_step: LoadStep, seed: int) -> dict[str, TrialSpec]:
        """Those of one trial, by agent: alike but for what each agent sees of the contender."""
        by_agent = {agent: spec for (agent, name), spec in self._specs.items() if name == contender}
        mark, secret = new_mark(), new_secret()
        return {agent: spec.for_trial(load_step, seed, mark, secret) for agent, spec in by_agent.items()}

    @property
    def null_calibration(self) -> Sequence[tuple[Sequence[str], NullCalibration | None]]:
        """Contenders that are asked in one way, and the work as the first of them is asked for it, but of a server that
        does nothing; None with those for whose way there is none.
        """
        groups: dict[str | None, tuple[list[str], NullCalibration | None]] = {}
        for name in dict.fromkeys(name for _, name in self._specs):
            # Machines differ in where they see a contender, which is no part of it.
            calibration = next(
                spec for (_, other), spec in self._specs.items() if other == name
            ).workload.null_calibration
            groups.setdefault(None if calibration is None else calibration.way, ([], calibration))[0].append(name)
        return list(groups.values())

    @property
    def streams(self) -> int:
        """Requests at once on a connection: the same for all contenders."""
        return next(iter(self._specs.values())).streams

    def here(self, specs: Mapping[str, TrialSpec]) -> TrialSpec:
        """The specification of a trial of several agents as this process can read it."""
        first = next(iter(specs.values()))
        return first.model_copy(update={"workload": self._here(first.workload)}) if len(specs) > 1 else first


def _of(fleet: Fleet, agent: str, text: str) -> str:
    return text if len(fleet.agents) == 1 else f"agent {agent}: {text}"
