"""Searches as runs do them: planned one by one, stored, interrupted, resumed, and lost contenders told."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bakeoff.agents.spec import TrialSpec
from bakeoff.compare import compare_run
from bakeoff.load.load_step import Clients, Rate
from bakeoff.plan.design.durations import between_s, expected_duration
from bakeoff.plan.model import Plan
from bakeoff.report.narrate.sentences import sentence
from bakeoff.run.driver import RunInterruptedError, resume_run, start_run
from bakeoff.store.records.run_records import (
    AT_LEAST,
    DIED,
    FOUND,
    NONE,
    SEARCH,
    SHARE,
    UNSETTLED,
    RunRecord,
    TrialRecord,
)
from bakeoff.store.sqlite.read import pending, read_run
from tests.told import headline_of, texts_of
from tests.unit.run.fake import EMPTY, Notebook, WebServer, serving
from tests.unit.run.virtual_agent import Served, VirtualAgent, books, limited, search_plan

__all__ = ["books"]
pytestmark = pytest.mark.usefixtures("books")
PAGES = {"": b"page"}


@pytest.fixture
def site() -> Iterator[WebServer]:
    with serving(PAGES) as server:
        yield server


@pytest.fixture
def other() -> Iterator[WebServer]:
    with serving(PAGES) as server:
        yield server


def port(server: WebServer) -> str:
    return server.address.rpartition(":")[2]


def agent_of(
    servers: dict[str, Callable[[float], Served]], act: Callable[[TrialSpec, int], None] | None = None, **more: object
) -> VirtualAgent:
    return VirtualAgent(servers, act, **more)  # type: ignore[arg-type]


def searched(plan: Plan, path: Path, agent: VirtualAgent) -> RunRecord:
    start_run(plan, path, [agent], Notebook())
    return read_run(path)


def outcome_of(trial: TrialRecord) -> tuple[object, ...]:
    return (
        trial.order,
        trial.contender,
        trial.block,
        trial.load_step,
        trial.purpose,
        trial.share,
        trial.state,
        trial.judged,
    )


def test_every_probe_is_a_trial_and_shares_follow(site: WebServer, tmp_path: Path) -> None:
    agent = agent_of({port(site): limited(1000.0)})
    run = searched(search_plan(site.address, blocks=2), tmp_path / "x.bakeoff", agent)
    assert run.finished_at is not None and run.load_steps == () and pending(run.path) == ()
    assert [search.outcome for search in run.searches] == [FOUND, FOUND]
    for search in run.searches:
        met, missed = run.trials[search.met or 0], run.trials[search.missed or 0]
        assert met.judged and met.judged.met and missed.judged and not missed.judged.met
        assert (
            980.0 <= met.load_step.x <= 1000.0 * (1 + 0.02 / 2.1)
            and (missed.load_step.x - met.load_step.x) / missed.load_step.x <= 0.0101
        )
        mine = [t for t in run.trials if t.block == search.block]
        loads = [(t.share, t.load_step.x) for t in mine if t.purpose == SHARE]
        rising = [0.5, 0.95, 1.05] if search.block == 1 else [1.05, 0.95, 0.5]
        assert loads == [(share, pytest.approx(met.load_step.x * share, rel=1e-4)) for share in rising]
        assert {t.seed for t in mine} == {mine[0].seed}
    assert len(agent.specs) == len(run.trials) == run.trials_planned
    assert all(isinstance(t.load_step, Rate) and t.judged is not None for t in run.trials)


def test_what_was_judged_is_response_time_and_what_was_lost(site: WebServer, tmp_path: Path) -> None:
    """A server that answers at once whoever gets through and lets half of the starts wait for ever is no fast one."""

    def half(load: float) -> Served:
        offered, times, _ = limited(1e9)(load)
        return (offered, times, 0) if load <= 500 else (offered, times[: offered // 2], offered - offered // 2)

    run = searched(search_plan(site.address), tmp_path / "x.bakeoff", agent_of({port(site): half}))
    (search,) = run.searches
    assert search.outcome == FOUND and 490.0 <= run.trials[search.met or 0].load_step.x <= 500.0
    missed = run.trials[search.missed or 0].judged
    assert missed is not None and missed.lost == pytest.approx(0.5, abs=0.01)
    assert [(term.term, term.met) for term in missed.terms] == [
        ("p99<=20ms", False),
        ("errors<=0.1%", False),
        ("growth<=0.5%", False),
    ]


@pytest.mark.parametrize("at", [2, 9, -1])
def test_ctrl_c_at_any_probe_changes_nothing_of_what_is_found(
    site: WebServer, other: WebServer, tmp_path: Path, at: int
) -> None:
    """The search is done again from what is stored, and goes on where that ends."""
    plan = search_plan(site.address, other.address)
    servers = {port(site): limited(1000.0), port(other): limited(1050.0)}
    whole = searched(plan, tmp_path / "whole.bakeoff", agent_of(servers))
    number = at if at > 0 else len(whole.trials) + at

    def stop(spec: TrialSpec, trial: int) -> None:
        if trial == number:
            raise KeyboardInterrupt

    path = tmp_path / "x.bakeoff"
    with pytest.raises(RunInterruptedError):
        start_run(plan, path, [agent_of(servers, stop)], Notebook())
    halted = read_run(path)
    assert halted.finished_at is None and len(halted.trials) == number and halted.trials[-1].state == "interrupted"
    compare_run(halted)
    again = agent_of(servers)
    assert resume_run(path, [again], Notebook()) > 0
    resumed = read_run(path)
    assert list(map(outcome_of, resumed.trials)) == list(map(outcome_of, whole.trials))
    assert resumed.searches == whole.searches and resumed.finished_at is not None
    assert len(again.specs) == len(whole.trials) - number + 1
    assert resume_run(path, [agent_of(servers)], Notebook()) == 0


def test_no_load_meets_it(site: WebServer, tmp_path: Path) -> None:
    plan = search_plan(site.address, objective="p99<=500us,errors<=1%")
    run = searched(plan, tmp_path / "x.bakeoff", agent_of({port(site): limited(1000.0)}))
    (search,) = run.searches
    assert (search.outcome, search.met) == (NONE, None) and [t.load_step.x for t in run.trials] == [100.0, 100.0]
    sentences = headline_of(compare_run(run))
    assert any(
        "No load met p99<=500us,errors<=1% on a in 1 of 1 search; at 100/s, the least, p99 was 1.000 ms, "
        "errors was 0 %." in sentence
        for sentence in sentences
    ), sentences


def test_a_contender_that_dies_is_lost_and_the_others_go_on(site: WebServer, other: WebServer, tmp_path: Path) -> None:
    def kill(spec: TrialSpec, number: int) -> None:
        if spec.workload.addresses[0].endswith(port(site)) and spec.load.x > 1000:  # type: ignore[attr-defined]
            site.fault = lambda path, count: (_ for _ in ()).throw(ConnectionError)

    plan = search_plan(site.address, other.address, blocks=2)
    plan = plan.model_copy(
        update={"contenders": tuple(c.model_copy(update={"ready_timeout_s": 0.3}) for c in plan.contenders)}
    )
    agent = agent_of({port(site): limited(2000.0), port(other): limited(1000.0)}, kill)
    run = searched(plan, tmp_path / "x.bakeoff", agent)
    outcomes = {(s.contender, s.block): s for s in run.searches}
    assert {key: s.outcome for key, s in outcomes.items()} == {
        ("a", 1): DIED, ("a", 2): DIED, ("b", 1): FOUND, ("b", 2): FOUND,
    }  # fmt: skip
    assert "it died after 1,600/s" in outcomes["a", 1].reason and outcomes["a", 1].met is not None
    assert not any(t.purpose == SHARE and t.contender == "a" for t in run.trials)
    comparison = compare_run(run)
    assert comparison.pairs[0].primary.forfeited == {"a": 2, "b": 0}
    assert any(
        "a was lost in 2 of 2 searches, which count as forfeited: it died after" in s for s in headline_of(comparison)
    )
    assert any("does not answer after 1,600/s" in event.text for event in run.events)


def test_a_contender_that_a_reset_brings_back_goes_on(site: WebServer, tmp_path: Path) -> None:
    flag = tmp_path / "dead"

    def dead(path: str, count: int) -> None:
        if flag.exists():
            raise ConnectionError

    site.fault = dead

    def kill(spec: TrialSpec, number: int) -> None:
        if spec.load.x > 1000:
            flag.touch()

    plan = search_plan(site.address)
    contender = replace_contender(plan, f"rm -f {flag}")
    run = searched(contender, tmp_path / "x.bakeoff", agent_of({port(site): limited(1000.0)}, kill))
    assert [s.outcome for s in run.searches] == [FOUND]
    assert sum("answers again" in event.text for event in run.events) >= 2


def replace_contender(plan: Plan, reset: str) -> Plan:
    (one,) = plan.contenders
    return plan.model_copy(update={"contenders": (one.model_copy(update={"reset": reset}),)})


def test_a_generator_that_is_the_limit_is_told(site: WebServer, tmp_path: Path) -> None:
    def busy(load: float) -> dict[str, object]:
        return {"generator": {"cpu_share": 0.97 if load > 700 else 0.3}}

    agent = agent_of({port(site): limited(1000.0)}, change=busy)
    run = searched(search_plan(site.address), tmp_path / "x.bakeoff", agent)
    (search,) = run.searches
    assert search.outcome == AT_LEAST and search.reason == (
        "the generator was the limit: it was busy for 97% of the time"
    )
    assert any("a at least 1,0" in s or "a at least 99" in s for s in headline_of(compare_run(run)))


def test_a_generator_that_is_always_the_limit_costs_a_contender_nothing(
    site: WebServer, other: WebServer, tmp_path: Path
) -> None:
    """Its search ends without a result; that is no loss, and no verdict."""

    def slow(load: float) -> Served:
        offered, times, never = limited(1e9)(load)
        return offered, times + 1e9, never

    servers = {port(site): slow, port(other): limited(1000.0)}
    agent = agent_of(servers, change=lambda load: {"generator": {"cpu_share": 0.97}})
    run = searched(search_plan(site.address, other.address), tmp_path / "x.bakeoff", agent)
    assert {s.contender: s.outcome for s in run.searches} == {"a": UNSETTLED, "b": AT_LEAST}
    comparison = compare_run(run)
    assert comparison.pairs[0].primary.blocks == 0 and comparison.pairs[0].primary.forfeited == {"a": 0, "b": 0}
    assert any(
        "The bounds of a did not close in 1 of 1 search: the generator was" in s for s in headline_of(comparison)
    )


def test_a_generator_that_begins_late_or_has_too_few_connections_is_told(site: WebServer, tmp_path: Path) -> None:
    late = {
        "count": 9,
        "mean_ns": 1.0,
        "p50_ns": 1,
        "p95_ns": 1,
        "p99_ns": 9_000_000,
        "p999_ns": 1,
        "max_ns": 1,
        "min_ns": 1,
    }
    agent = agent_of({port(site): limited(1000.0)}, change=lambda load: {"generator": {"late_start": late}})
    run = searched(search_plan(site.address), tmp_path / "late.bakeoff", agent)
    assert run.searches[0].reason == "the generator was the limit: it began late itself, by 9ms at p99"


def test_a_void_probe_is_done_again_and_at_last_the_limit(site: WebServer, tmp_path: Path) -> None:
    times = {"void": 0}

    def void(load: float) -> dict[str, object]:
        times["void"] += 1
        return {"errors": {"ports_exhausted": 3}, "errors_total": 3} if times["void"] == 2 or load > 800 else {}

    agent = agent_of({port(site): limited(1000.0)}, change=void)
    run = searched(search_plan(site.address), tmp_path / "x.bakeoff", agent)
    (search,) = run.searches
    assert search.outcome == AT_LEAST and "ran out of local ports" in search.reason
    assert 790.0 <= run.trials[search.met or 0].load_step.x <= 800.0
    assert [t.state for t in run.trials[:3]] == ["ok", "voided", "ok"] and run.trials[1].load_step == run.trials[
        2
    ].load_step


def test_clients_that_wait_are_searched_by_service_times(site: WebServer, tmp_path: Path) -> None:
    def serve(clients: float) -> Served:
        """Ten at a time, 10 ms each: more clients wait in a queue."""
        offered, times, _ = limited(1e9)(1000.0)
        return offered, times * 0 + max(1.0, clients / 10.0) * 10e6, 0

    plan = search_plan(site.address, by="clients", least="1", most="500", objective="p95<=45ms,errors<=1%")
    run = searched(plan, tmp_path / "x.bakeoff", agent_of({port(site): serve}))
    (search,) = run.searches
    assert search.outcome == FOUND
    assert (run.trials[search.met or 0].load_step, run.trials[search.missed or 0].load_step) == (
        Clients(45),
        Clients(46),
    )
    assert [t.load_step for t in run.trials if t.purpose == SHARE] == [Clients(23), Clients(43), Clients(47)]
    comparison = compare_run(run)
    assert comparison.capacity is not None and comparison.capacity.unit == "clients"
    assert any("a 45.00 clients" in sentence for sentence in headline_of(comparison))


def test_the_right_one_of_two_wins_and_none_of_equals(site: WebServer, other: WebServer, tmp_path: Path) -> None:
    """1,000 against 1,050 a second, each give or take half a percent in every probe, as the plan is by default."""
    for name, rates, kind, winner in (
        ("different", (1000.0, 1050.0), "better", "b"),
        ("turned", (1050.0, 1000.0), "better", "a"),
        ("equal", (1000.0, 1000.0), "equivalent", None),
    ):
        servers = {
            port(server): limited(rate, seed, noise=0.005)
            for seed, (server, rate) in enumerate(zip((site, other), rates, strict=True))
        }
        spec = search_plan(site.address, other.address, blocks=6, objective="p99<=50ms,errors<=0.1%", shares="none")
        assert spec.delta == 0.02
        run = searched(spec, tmp_path / f"{name}.bakeoff", agent_of(servers))
        comparison = compare_run(run)
        verdict = comparison.pairs[0].primary.verdict
        assert (verdict.kind, verdict.winner) == (kind, winner), headline_of(comparison)
        assert comparison.pairs[0].primary.ratio == pytest.approx(rates[1] / rates[0], rel=0.01)
        for search in run.searches:
            met = run.trials[search.met or 0].load_step.x
            assert met == pytest.approx(rates["ab".index(search.contender)], rel=0.015)


def test_a_search_begins_near_what_the_block_before_found(site: WebServer, tmp_path: Path) -> None:
    run = searched(search_plan(site.address, blocks=2), tmp_path / "x.bakeoff", agent_of({port(site): limited(1000.0)}))
    first, second = (
        [t.load_step.x for t in run.trials if t.block == block and t.purpose == SEARCH] for block in (1, 2)
    )
    assert first[0] == 100.0 and second[0] == pytest.approx(
        run.trials[run.searches[0].met or 0].load_step.x / 1.1, rel=1e-4
    )
    assert len(second) < len(first)


def test_a_probe_that_a_late_generator_missed_is_done_again(site: WebServer, tmp_path: Path) -> None:
    """What it missed for good is told; what it missed once costs a probe and no capacity."""
    late = {**EMPTY, "count": 9, "p99_ns": 30_000_000}
    seen: list[float] = []

    def hit(load: float) -> Served:
        seen.append(load)
        offered, times, never = limited(1000.0)(load)
        return (offered, times + 100e6, never) if seen.count(load) == 1 and load < 1000 else (offered, times, never)

    def change(load: float) -> dict[str, object]:
        return {"generator": {"late_start": late}} if seen.count(load) == 1 else {}

    run = searched(search_plan(site.address), tmp_path / "x.bakeoff", agent_of({port(site): hit}, change=change))
    (search,) = run.searches
    assert search.outcome == FOUND and run.trials[search.met or 0].load_step.x == pytest.approx(1000.0, rel=0.015)
    assert [t.judged.met for t in run.trials[:2] if t.judged] == [False, True]


def test_a_run_says_how_many_trials_it_expects(site: WebServer, tmp_path: Path) -> None:
    notebook, plan = Notebook(), search_plan(site.address, blocks=2)
    start_run(plan, tmp_path / "x.bakeoff", [agent_of({port(site): limited(1000.0)})], notebook)
    forecasts = [int(said.split()[1]) for said in notebook.said if said.startswith("forecast")]
    assert notebook.said[0] == f"run {plan.trials}" and forecasts[-1] == len(notebook.trials)


def test_a_file_of_a_search_by_other_rules_is_not_gone_on_with(site: WebServer, tmp_path: Path) -> None:
    from bakeoff.core.errors import GeneratorError
    from bakeoff.store.sqlite.write import RunWriter

    def stop(spec: TrialSpec, number: int) -> None:
        if number == 5:
            raise KeyboardInterrupt

    path, servers = tmp_path / "x.bakeoff", {port(site): limited(1000.0)}
    with pytest.raises(RunInterruptedError):
        start_run(search_plan(site.address), path, [agent_of(servers, stop)], Notebook())
    with RunWriter.reopen(path) as writer:
        last = read_run(path).trials[-1]
        foreign = replace(
            pending(path)[0], order=last.order + 1, load_step=Rate(77.0, last.load_step.arrivals, 1), purpose=SEARCH
        )  # type: ignore[union-attr]
        writer.plan_trial(foreign)
    with pytest.raises(GeneratorError, match="was searched by other rules"):
        resume_run(path, [agent_of(servers)], Notebook())


@pytest.mark.parametrize("noise", [0.005, 0.01, 0.02])
@pytest.mark.parametrize(("repeats", "width"), [(1, "1%"), (3, "1%"), (3, "0.5%"), (5, "1%")])
def test_a_run_lasts_as_long_as_its_plan_says(
    site: WebServer, other: WebServer, tmp_path: Path, noise: float, repeats: int, width: str
) -> None:
    """Seen: a forecast that counted the climb of the first block in all of them, and no repeats beyond three."""
    plan = search_plan(
        site.address, other.address, blocks=6, repeats=str(repeats), width=width, least="10", shares="none"
    )
    agent = agent_of({port(site): limited(900.0, 3, noise), port(other): limited(700.0, 4, noise)})
    run = searched(plan, tmp_path / "x.bakeoff", agent)
    took_s = sum(spec.length_s for spec in agent.specs) + len(agent.specs) * between_s(plan.settings)
    assert took_s == pytest.approx(expected_duration(plan).measuring_s, rel=0.3), (len(run.trials), plan.trials)


def lowered(per_s: float, cheap: float, shares: tuple[float, ...], carries: float) -> Callable[[float], Served]:
    """A server that has found out when its search is over: at these shares of what was found it carries less."""
    fast, slow = limited(per_s), limited(carries)

    def serve(load: float) -> Served:
        is_share = any(abs(load / (share * per_s) - 1.0) < cheap for share in shares)
        return (slow if is_share else fast)(load)

    return serve


@pytest.mark.parametrize(("cheats", "kind"), [(True, "withheld"), (False, "better")])
def test_who_is_good_in_the_probes_of_a_search_alone_has_no_capacity(
    site: WebServer, other: WebServer, tmp_path: Path, cheats: bool, kind: str
) -> None:
    shares = (0.5, 0.85)
    plan = search_plan(site.address, other.address, blocks=6, shares="50%,85%")
    faster = lowered(2000.0, 0.012, shares, 300.0) if cheats else limited(2000.0)
    run = searched(plan, tmp_path / "x.bakeoff", agent_of({port(site): limited(1000.0), port(other): faster}))
    found = compare_run(run)
    verdict = found.pairs[0].primary.verdict
    assert verdict.kind == kind, verdict
    if cheats:
        assert sentence(verdict) == (
            "withheld: the capacity of b is not confirmed: at 50 % of it b missed the objective in 6 of 6 trials"
        )
        assert "not confirmed" in headline_of(found)[0]


def test_a_capacity_without_trials_at_its_shares_is_told_as_not_confirmed(
    site: WebServer, other: WebServer, tmp_path: Path
) -> None:
    plan = search_plan(site.address, other.address, blocks=6, shares="none")
    agent = agent_of({port(site): limited(1000.0), port(other): limited(2000.0)})
    found = compare_run(searched(plan, tmp_path / "x.bakeoff", agent))
    verdict = found.pairs[0].primary.verdict
    assert verdict.kind == "better" and any(
        "the capacity of b is not confirmed" in why for why in texts_of(verdict.reasons)
    )
    assert any("not confirmed: no trial at a share of it followed" in text for text in headline_of(found))


def test_who_carries_less_than_was_found_of_it_leaves_the_other_its_lead(
    site: WebServer, other: WebServer, tmp_path: Path
) -> None:
    """The one behind may be worse than it looks: the lead is at least the one that is shown."""
    plan = search_plan(site.address, other.address, blocks=6, shares="50%,85%")
    behind = lowered(1000.0, 0.012, (0.5, 0.85), 300.0)
    run = searched(plan, tmp_path / "x.bakeoff", agent_of({port(site): behind, port(other): limited(2000.0)}))
    verdict = compare_run(run).pairs[0].primary.verdict
    assert (verdict.kind, verdict.winner) == ("better", "b")
    assert any("the capacity of a is not confirmed" in reason for reason in texts_of(verdict.reasons))
