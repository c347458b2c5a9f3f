"""What every kind of agent must do, wherever its machine is. A kind is a class of tests that gives its `agent`."""

import json
import time
from collections.abc import Iterator

import pytest

from bakeoff import _engine
from bakeoff.agents.base import Agent, TrialSession
from bakeoff.agents.result import Outcome, SoakInterval
from bakeoff.agents.spec import WHOLE, NullWorkload, Slice, TrialSpec
from bakeoff.core.errors import ContenderError, PlanError
from bakeoff.load.arrivals import Constant
from bakeoff.load.load_step import Clients, Rate
from bakeoff.run.checks.preflight import demand_of
from bakeoff.run.fleet.clocks import ROUNDS, check_clock
from tests.control import PATIENCE_S
from tests.unit.run.fake import plan_for, serving

# Ends after its operations, however busy the machine is; `ENDLESS` only when it is stopped.
SHORT = TrialSpec(workload=NullWorkload(), load=Clients(4), length_s=3600.0, max_operations=1_000)
ENDLESS = SHORT.model_copy(update={"max_operations": None})
HOUR_NS = 3_600_000_000_000


def ended(session: TrialSession) -> Outcome:
    """The outcome, waited for."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        outcome = session.wait(1.0)
        if outcome is not None:
            return outcome
    raise AssertionError("the trial hangs")


def armed(session: TrialSession) -> TrialSession:
    """The session when all is ready."""
    until = time.monotonic() + PATIENCE_S
    while not session.armed(1.0):
        assert time.monotonic() < until, "the trial is never ready"
    return session


def phase_of(session: TrialSession, phase: str) -> None:
    """Wait until the trial tells that it is in this phase: what is told may be some tenths of a second old."""
    until = time.monotonic() + PATIENCE_S
    while (observed := session.snapshot().phase) != phase:
        assert time.monotonic() < until, observed
        time.sleep(0.01)


def begun(session: TrialSession) -> None:
    """Wait until the trial has done something."""
    until = time.monotonic() + PATIENCE_S
    while not session.snapshot().operations:
        assert session.wait(0.01) is None and time.monotonic() < until


class AgentContract:
    """`agent` is what is tested, and `address` that of a web server which its machine reaches."""

    @pytest.fixture
    def agent(self) -> Agent:
        raise NotImplementedError

    @pytest.fixture
    def address(self) -> Iterator[str]:
        with serving({"": b"page"}) as site:
            yield site.address

    def test_facts_tell_what_its_machine_is(self, agent: Agent) -> None:
        facts = agent.facts()
        assert facts.build == dict(_engine.build_info()), "it has the engine of this build"
        assert facts.processors and facts.addresses and facts.environment["kernel"]
        assert json.loads(json.dumps(facts.environment)) == facts.environment

    def test_its_clock_never_goes_back_and_can_be_compared(self, agent: Agent) -> None:
        shown = [agent.clock() for _ in range(3 * ROUNDS)]
        assert shown == sorted(shown) and shown[0] < shown[-1]
        check = check_clock(agent.clock)
        assert check.round_trip_ns >= 0
        before_ns = time.monotonic_ns()
        shown_ns = agent.clock()
        after_ns = time.monotonic_ns()
        # A crystal is off by less than one in a thousand in the time between, and the check by half of its round trip.
        slack_ns = check.round_trip_ns + (after_ns - before_ns) // 1_000 + 1_000_000
        assert check.there(before_ns) - slack_ns <= shown_ns <= check.there(after_ns) + slack_ns

    def test_it_says_what_its_machine_can_carry(self, agent: Agent, address: str) -> None:
        plan = plan_for(address, suite="web-url")
        assert all(isinstance(text, str) for text in agent.preflight(demand_of(plan, WHOLE)))

    def test_it_looks_at_contenders_from_its_place(self, agent: Agent, address: str) -> None:
        plan = plan_for(address, "http://127.0.0.1:1/", suite="web-url")
        check = agent.check(plan)
        answers, silent = plan.contenders
        check.answers(answers)
        assert check.addresses(answers) and check.addresses(silent)
        with pytest.raises(ContenderError):
            check.answers(silent)

    @pytest.mark.parametrize(
        ("changes", "part"),
        [
            ({"load": Clients(1)}, Slice(index=0, of=3)),
            ({"load": Rate(per_s=5.0, arrivals=Constant(), most_connections=2)}, Slice(index=1, of=3)),
            ({"ramp_up_s": 4000.0, "max_operations": None}, WHOLE),
        ],
    )
    def test_a_wrong_specification_is_refused_before_anything_is_sent(
        self, agent: Agent, changes: dict[str, object], part: Slice
    ) -> None:
        spec = SHORT.model_copy(update=changes)
        with pytest.raises(PlanError):
            agent.accept(spec, part)
        with pytest.raises(PlanError):
            ended(agent.start(spec, part).go())
        agent.accept(SHORT, WHOLE)

    def test_it_sends_nothing_before_it_is_told_to(self, agent: Agent) -> None:
        session = armed(agent.start(SHORT))
        phase_of(session, "armed")
        assert session.wait(0.0) is None and session.snapshot().operations == 0
        assert session.armed(0.0), "it stays armed"
        planned_ns = agent.clock() + 100_000_000
        session.go(planned_ns)
        session.go(planned_ns + HOUR_NS)  # the first word counts
        start = ended(session).result.start
        assert start is not None and planned_ns == start.planned_ns <= start.real_ns <= agent.clock()

    @pytest.mark.parametrize("at_ns", [0, 1])
    def test_a_moment_that_has_passed_is_at_once_also_before_it_is_ready(self, agent: Agent, at_ns: int) -> None:
        before_ns = agent.clock()
        start = ended(agent.start(SHORT).go(at_ns)).result.start
        assert start is not None and before_ns <= start.real_ns <= agent.clock()
        assert start.planned_ns == 1 if at_ns else start.planned_ns >= before_ns

    def test_a_trial_is_told_while_it_goes_on_and_when_it_is_over(self, agent: Agent) -> None:
        session = agent.start(ENDLESS).go()
        until = time.monotonic() + PATIENCE_S
        while not (seen := session.snapshot()).operations:
            assert session.wait(0.05) is None and time.monotonic() < until
        assert seen.phase in ("window", "starting") and seen.errors == 0 and seen.elapsed_s >= 0
        session.cancel()
        result = ended(session).result
        assert result.cancelled and result.operations >= seen.operations and result.fatal is None
        assert all(event.at_s >= 0 for event in session.drain_events())
        assert not session.drain_events(), "each is told once"

    def test_an_outcome_has_its_figures_and_its_histograms(self, agent: Agent) -> None:
        outcome = ended(agent.start(SHORT).go())
        assert (outcome.result.operations, outcome.result.errors_total, outcome.result.cancelled) == (1_000, 0, False)
        assert json.loads(_engine.ForTests.summary(outcome.histograms["service"]))["count"] == 1_000
        assert {client.client for client in outcome.result.per_client} == {0, 1, 2, 3}

    @pytest.mark.parametrize("state", ["begun", "armed", "told", "running", "over"])
    def test_cancel_works_in_every_state(self, agent: Agent, state: str) -> None:
        session = agent.start(SHORT if state == "over" else ENDLESS)
        if state != "begun":
            armed(session)
        if state == "told":
            session.go(agent.clock() + HOUR_NS)
        elif state in ("running", "over"):
            session.go()
        if state == "running":
            begun(session)
        outcome = ended(session) if state == "over" else None
        session.cancel()
        session.cancel()
        if outcome is None:
            outcome = ended(session)
            assert outcome.result.cancelled
        assert (outcome.result.start is not None) == (state in ("running", "over"))
        assert (outcome.result.operations > 0) == (state in ("running", "over"))

    def test_a_session_that_nobody_wants_any_more_leaves_its_agent_free(self, agent: Agent) -> None:
        armed(agent.start(ENDLESS)).cancel()
        session = agent.start(ENDLESS).go()
        session.cancel()
        assert ended(session).result.cancelled
        assert ended(agent.start(SHORT).go()).result.operations == 1_000

    def test_trials_follow_each_other_and_know_nothing_of_each_other(self, agent: Agent) -> None:
        results = [ended(agent.start(SHORT).go()).result for _ in range(2)]
        assert [result.operations for result in results] == [1_000, 1_000]
        first, second = (result.start for result in results)
        assert first is not None and second is not None and first.real_ns < second.real_ns

    def test_slices_are_together_the_whole(self, agent: Agent) -> None:
        parts = [ended(agent.start(SHORT, Slice(index=index, of=3)).go()).result for index in range(3)]
        assert sum(part.operations for part in parts) == 1_000
        assert [client.client for part in parts for client in part.per_client] == [0, 1, 2, 3]

    def test_rows_of_a_soak_are_told_once_in_their_order(self, agent: Agent) -> None:
        rate = Rate(per_s=200.0, arrivals=Constant(), most_connections=4)
        spec = TrialSpec(workload=NullWorkload(), load=rate, length_s=6.0, interval_s=2.0)
        session, rows = agent.start(spec).go(), list[SoakInterval]()
        outcome = None
        while outcome is None:
            outcome = session.wait(0.05)
            rows += session.drain_intervals()
        assert [row.figures.number for row in rows] == [0, 1, 2] and session.drain_intervals() == []
        assert sum(row.figures.operations for row in rows) == outcome.result.operations > 0
        for row in rows:
            assert json.loads(_engine.ForTests.summary(row.service))["count"] == row.figures.operations
