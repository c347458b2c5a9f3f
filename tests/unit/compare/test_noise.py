"""The noise floor of a set-up: what an A/A run shows, and what other runs quote of it."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from bakeoff.compare import compare_run
from bakeoff.compare.planning.noise import is_aa, noise_of, read_noise, same_setup, stored_noise
from bakeoff.compare.planning.noise_model import NoiseFloor, NoiseSeries, OtherDay, OtherHere
from bakeoff.core.errors import PlanError
from bakeoff.report.compose import compose
from bakeoff.report.narrate.document import to_dict, to_json
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.stats import ratio_from_logs
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from tests.told import headline_of, kinds_of
from tests.unit.compare.synthetic import Server, change, run
from tests.unit.report.shown import shown

NAMES = ("web", "web-again")


def faster(trial: TrialRecord, factor: float) -> TrialRecord:
    return replace(trial, operations_per_s=trial.operations_per_s * factor)


def aa(blocks: int = 12, spread: float = 0.02, seed: int = 4) -> RunRecord:
    record = run(tuple(Server(name, 30_000.0, 0.1, spread=spread) for name in NAMES), blocks=blocks, seed=seed)
    one = record.contenders[0]
    settings = {**record.plan["settings"], "basic_auth": "me:secret-of-mine", "cookie": ["sid=secret-of-mine"]}
    plan = {**record.plan, "settings": settings}
    return replace(record, plan=plan, contenders=(one, replace(one, name=NAMES[1])))


def measured(record: RunRecord) -> NoiseFloor:
    found = noise_of(record)
    assert found is not None
    return found


def test_one_server_as_two_contenders_is_an_a_a_run_and_nothing_else_is() -> None:
    assert is_aa(aa()) and not is_aa(run()) and noise_of(run()) is None
    assert noise_of(aa(blocks=5)) is None, "fewer than six blocks know no spread"
    reset = aa()
    other = (reset.contenders[0], replace(reset.contenders[1], reset="service restart"))
    assert not is_aa(replace(reset, contenders=other))


def test_equals_have_no_bias_and_are_seldom_told_apart() -> None:
    found = measured(aa())
    primary = found.primary
    assert primary.low < 1.0 < primary.high and primary.blocks == 12
    assert primary.lowest < primary.median < primary.highest
    assert found.first_low < 1.0 < found.first_high
    assert (found.draw_blocks, found.drawn, found.called) == (6, 500, 0) and found.shown <= 0.1 * found.drawn
    assert [each.title for each in found.series[1:]] == ["at 1 client", "at 4 clients", "at 8 clients"]


def test_the_result_of_an_a_a_run_is_its_floor_and_no_verdict() -> None:
    """Seen: "No winner yet between web-again and web, about 40 more blocks needed" of one server."""
    record = aa()
    found, floor = compare_run(record), measured(record).primary.floor(12)
    assert headline_of(found)[0] == (
        f"The noise floor of web under web-static is {100 * floor:.3g} %: in 12 blocks equals differ by no more here "
        "(95 %). A smaller difference between servers is noise."
    )
    assert kinds_of(found)[0] == "noise_floor" and found.winner is None
    assert to_dict(found)["headline"][0] == headline_of(found)[0]
    report = compose(record, found)
    assert report.verdict == "Noise floor" and report.headline == headline_of(found)
    wide = aa(spread=0.2)
    assert sentence(compare_run(wide).pairs[0].primary.verdict) == "inconclusive"
    everywhere = shown(record, width=300) + shown(wide, width=300) + to_json(compare_run(wide))
    assert not any(text in everywhere + to_json(found) for text in ("No winner yet", "more block", "quiet the machine"))


def test_equals_that_are_told_apart_are_no_winner_and_no_floor_alone() -> None:
    record = aa(spread=0.005)
    biased = replace(record, trials=tuple(faster(t, 1.05 if t.contender == "web" else 1.0) for t in record.trials))
    found = compare_run(biased)
    assert headline_of(found)[0].startswith(
        "Something other than the server makes equals differ here: web against itself"
    )
    assert "The noise floor is 5." in headline_of(found)[0] and found.winner is None
    assert compose(biased, found).verdict == "Equals differ"
    assert "is better" not in " ".join(headline_of(found))


def test_an_a_a_run_that_is_too_short_says_how_it_gets_a_floor() -> None:
    record = aa(blocks=4)
    found = compare_run(record)
    assert headline_of(found)[0] == (
        "No noise floor yet: it takes 6 whole blocks, and this run has 4. "
        f"`bakeoff resume {record.path.name} --blocks +2` adds 2 blocks."
    )
    assert compose(record, found).verdict == "No noise floor"


def test_a_set_up_that_favours_who_comes_first_is_found() -> None:
    record = aa(spread=0.005)
    first = {
        block: min((t for t in record.trials if t.block == block), key=lambda t: t.order) for block in range(1, 13)
    }
    trials = (faster(t, 1.05 if t.contender == first[t.block].contender else 1.0) for t in record.trials)
    found = measured(replace(record, trials=tuple(trials)))
    assert found.first == pytest.approx(1.05, abs=0.01) and found.first_low > 1.0
    text = shown(replace(record, trials=tuple(faster(t, 1.05 if t.contender == "web" else 1.0) for t in record.trials)))
    assert "is no chance: something makes equals differ" in text.replace("\n", " ")


def by_load_steps(record: RunRecord) -> RunRecord:
    """The same with both back to back at each load step: web first at odd places of odd blocks and even ones of
    even.
    """
    places = {load_step: place for place, load_step in enumerate(record.load_steps)}

    def moved(trial: TrialRecord) -> TrialRecord:
        first = (places[trial.load_step] + trial.block) % 2 == NAMES.index(trial.contender)
        place = 3 * trial.block + places[trial.load_step]
        return replace(trial, order=2 * place + (not first))

    return replace(record, plan={**record.plan, "order": "load_steps"}, trials=tuple(map(moved, record.trials)))


def test_back_to_back_it_is_who_comes_first_at_a_load_step() -> None:
    record = by_load_steps(aa(spread=0.005))
    pairs = [
        (t, u)
        for t in record.trials
        for u in record.trials
        if (t.load_step, t.block) == (u.load_step, u.block) and t != u
    ]
    ahead = {t.order for t, u in pairs if t.order < u.order}
    assert {t.contender for t in record.trials if t.block == 1 and t.order in ahead} == set(NAMES)
    trials = tuple(faster(t, 1.05 if t.order in ahead else 1.0) for t in record.trials)
    found = measured(replace(record, trials=trials))
    assert found.first == pytest.approx(1.05, abs=0.01) and found.first_low > 1.0
    assert found.primary.low < 1.0 < found.primary.high, "which favours none of the two"
    assert found.setup["order"] == "load_steps"


@pytest.mark.parametrize(("floor_of", "bias", "blocks"), [(12, 0.004, 8), (12, 0.02, 8), (6, 0.02, 30), (6, 0.0, 30)])
def test_equals_differ_by_less_than_the_floor_in_95_percent_of_runs(floor_of: int, bias: float, blocks: int) -> None:
    """Whoever measures a floor by some blocks, and then equals by others, with the bias that the set-up has."""
    random, beyond, runs = np.random.default_rng(65), 0, 2000
    for _ in range(runs):
        found = ratio_from_logs(random.normal(bias, 0.02, floor_of))
        ends = found.ratio, found.low, found.high
        series = NoiseSeries("", "", floor_of, *ends, found.log_sd, 1.0, 1.0, 1.0, 0.0)
        beyond += abs(random.normal(bias, 0.02, blocks).mean()) > math.log1p(series.floor(blocks))
    assert beyond / runs <= 0.05


def other_run(ratio: float) -> RunRecord:
    servers = (Server("web", 30_000.0, 0.1, spread=0.002), Server("new", 30_000.0, 0.1, spread=0.002))
    record = run(servers, blocks=8, seed=9)
    trials = tuple(faster(t, ratio) if t.contender == "new" else t for t in record.trials)
    return replace(record, trials=trials, created_at="2026-11-24T11:00:00.000+00:00")


def test_a_verdict_smaller_than_the_floor_is_called_out_and_a_larger_one_is_not() -> None:
    noise = measured(aa(spread=0.03))
    floor = noise.primary.floor(8)
    assert 0.01 < floor < 0.06
    small, large = (compare_run(other_run(ratio), delta=0.001, noise=noise) for ratio in (1.008, 1.08))
    assert small.pairs[0].primary.verdict.kind in ("better", "near_margin")
    (warning,) = [w for w in warnings_of(small) if "noise floor" in w.text]
    assert warning.first and warning.text.startswith("Smaller than the noise floor of this set-up (synthetic")
    assert large.pairs[0].primary.verdict.kind == "better"
    assert not [w for w in warnings_of(large) if "noise floor" in w.text]
    assert large.noise_quote is not None and large.noise_quote.floor == pytest.approx(floor)
    plain = small.to_dict()
    assert plain["noise_quote"]["within"] and plain["noise"] is None


def test_a_report_quotes_the_floor_with_its_date_and_what_differs() -> None:
    noise, record = measured(aa()), other_run(1.3)
    slower = replace(record, plan={**record.plan, "settings": {**record.plan["settings"], "length_s": 30.0}})
    found = compare_run(slower, noise=noise)
    assert found.noise_quote is not None
    assert found.noise_quote.differs == (OtherDay(4), OtherHere("length_s", "10", "30"))
    text = " ".join(str(block) for s in compose(slower, found).sections if s.id == "noise" for block in s.blocks)
    assert "2026-11-20 10:00:00 UTC, 12 blocks of web against itself" in text
    assert "length_s 10, here 30" in text and "no lead that is called is smaller" in text


def test_only_the_same_machine_suite_and_address_are_quoted_unasked() -> None:
    noise, record = measured(aa()), other_run(1.0)
    assert same_setup(noise, record)
    assert not same_setup(noise, replace(record, suite="web-dynamic"))
    assert not same_setup(noise, replace(record, environment={**record.environment, "hostname": "elsewhere"}))
    moved = tuple(replace(c, address="http://192.0.2.1") for c in record.contenders)
    assert not same_setup(noise, replace(record, contenders=moved))


def test_what_is_embedded_in_a_report_reads_back_and_holds_no_secret() -> None:
    noise = measured(aa())
    text = json.dumps(stored_noise(noise))
    assert "secret-of-mine" not in text
    assert read_noise(json.loads(text)) == noise
    with pytest.raises(PlanError, match="cannot be read"):
        read_noise({"schema": "bakeoff-noise/1"})


def test_what_cannot_be_compared_takes_no_floor_from_the_rest() -> None:
    noise, record = measured(aa()), other_run(1.3)
    dead = run((Server("dead", 30_000.0, 0.1),), blocks=8, seed=3)
    void = tuple(replace(t, state="voided", reason="out of ports") for t in dead.trials)
    three = replace(record, contenders=(*record.contenders, *dead.contenders), trials=(*record.trials, *void))
    quote = compare_run(three, noise=noise).noise_quote
    assert quote is not None and quote.blocks == 8 and quote.floor == pytest.approx(noise.primary.floor(8))
    nothing = change(record, "new", None, None, state="voided", reason="out of ports")
    found = compare_run(nothing, noise=noise)
    text = " ".join(str(block) for s in compose(nothing, found).sections if s.id == "noise" for block in s.blocks)
    assert "here no pair has a block that could be held against it" in text and "Verdicts:" not in text


def test_a_wide_floor_is_told_as_the_ratios_that_it_is() -> None:
    """Seen: "equals differ by 76 % at most" above a lead of 0.44×, of which it said that it is not smaller."""
    noise = measured(aa(blocks=8, spread=0.5))
    floor = noise.primary.floor(noise.primary.blocks)
    assert floor > 0.1
    low, high = (f"{1 / (1 + floor):.2f}×", f"{1 + floor:.2f}×")
    assert f"at most (95 %: ratios from {low} to {high})" in shown(aa(blocks=8, spread=0.5), width=300)
    assert "ratios from" not in shown(aa(spread=0.005), width=300)
