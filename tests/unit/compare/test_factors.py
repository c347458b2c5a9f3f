"""Effects of factors: programmed ones come out, what cannot be estimated is named, what is not there is not called."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bakeoff.compare import compare_run
from bakeoff.compare.collections.campaign import Measured, compare_campaign
from bakeoff.compare.estimate.factors import design_of
from bakeoff.report.blocks.tree import Table
from bakeoff.report.collections.campaign import compose_campaign
from bakeoff.report.compose import compose
from bakeoff.report.narrate.document import to_json
from bakeoff.report.narrate.figures.factors import effect_words, not_estimated, title_words
from bakeoff.report.renderers import renderer
from bakeoff.store.collections.campaign import FORMAT, CampaignFolder, StoredCampaign, StoredSuiteRun
from bakeoff.store.records.run_records import RunRecord
from tests.control import most_by_chance
from tests.told import headline_of, texts_of
from tests.unit.compare.designs import (
    SHAPE,
    Levels,
    combinations,
    design,
    effect,
    effects_of,
    planned,
    redrawn,
    said_of,
)
from tests.unit.compare.synthetic import Server, change, run

RAID = 1.9


def plain(levels: Levels) -> float:
    """RAID 0 is 1.9 times as fast on either server, and apache 0.8 times as fast as nginx."""
    return (RAID if levels["raid"] == "0" else 1.0) * (0.8 if levels["server"] == "apache" else 1.0)


def joined(levels: Levels) -> float:
    """On apache RAID 0 gives 1.5 times less."""
    return plain(levels) / (1.5 if levels == {"server": "apache", "raid": "0"} else 1.0)


def test_the_same_on_both_servers() -> None:
    found = compare_run(design(plain))
    observed = found.factors
    assert observed is not None and not not_estimated(observed)
    raid, both = effect(observed, "raid"), effect(observed, "server", "raid")
    assert raid.low < RAID < raid.high and raid.high / raid.low < 1.06
    assert (raid.below, raid.above, raid.contexts, raid.verdict.kind) == (("5",), ("0",), 2, "shown")
    assert both.low < 1.0 < both.high and both.verdict.kind == "equivalent"
    sentence = next(text for text in headline_of(found) if text.startswith("raid 0 gives"))
    assert "1.9" in sentence and "× the requests/s of raid 5" in sentence and "the same on both servers" in sentence
    assert headline_of(found)[0].startswith("Ranking of 4")


def test_the_effect_depends_on_the_server() -> None:
    found = compare_run(design(joined))
    observed = found.factors
    assert observed is not None
    both = effect(observed, "server", "raid")
    assert both.verdict.kind == "shown" and both.low < 1.0 / 1.5 < both.high
    at = {(one.factor, one.level): one for one in effect(observed, "raid").at}
    assert at["server", "nginx"].low < RAID < at["server", "nginx"].high
    assert at["server", "apache"].low < RAID / 1.5 < at["server", "apache"].high
    sentence = next(text for text in headline_of(found) if text.startswith("raid 0 gives on average"))
    assert "it depends on the server: on nginx 1.9" in sentence and "on apache 1.2" in sentence
    cells = {cell.levels: cell.ratio for cell in observed.planes[0].cells}
    assert cells["nginx", "5"] == 1.0 and cells["apache", "0"] == pytest.approx(0.8 * RAID / 1.5, rel=0.03)


def test_what_is_not_shown_is_not_the_same() -> None:
    wide = effects_of(design(plain, spread=0.12, blocks=6))
    both = effect(wide, "server", "raid")
    assert both.low < 1.0 < both.high and (both.low < 1 / 1.05 or both.high > 1.05), "the interval reaches beyond δ"
    assert both.verdict.kind == "inconclusive"
    sentence = next(text for text in said_of(wide) if text.startswith("raid 0"))
    assert "not shown to differ between the servers" in sentence and "the same" not in sentence


def test_the_baseline_is_what_levels_are_divided_by() -> None:
    record = design(plain)
    there, back = (compare_run(record, baseline).factors for baseline in ("nginx-5", "apache-0"))
    assert there is not None and back is not None
    assert back.factors[1].levels == ("0", "5")
    assert effect(back, "raid").ratio == pytest.approx(1.0 / effect(there, "raid").ratio)
    assert effect(back, "server", "raid").ratio == pytest.approx(effect(there, "server", "raid").ratio)


def test_three_levels_and_three_factors() -> None:
    shape = {"server": ("nginx", "apache"), "raid": ("5", "0", "10"), "cache": ("on", "off")}
    speeds = {"5": 1.0, "0": 1.9, "10": 1.5}
    record = design(lambda at: speeds[at["raid"]] * (0.5 if at["cache"] == "off" else 1.0), shape, (1,))
    found = effects_of(record)
    raid = {(one.below[0], one.above[0]): one for one in found.effects if one.factors == ("raid",)}
    assert set(raid) == {("5", "0"), ("5", "10"), ("0", "10")}, "every pair of levels"
    for (below, above), one in raid.items():
        assert one.ratio == pytest.approx(speeds[above] / speeds[below], rel=0.02) and one.contexts == 4
    assert effect(found, "cache").ratio == pytest.approx(0.5, rel=0.02)
    assert sum(len(one.factors) == 3 for one in found.effects) == 3
    assert all(one.verdict.kind in ("equivalent", "inconclusive") for one in found.effects if not one.is_main)
    assert found.family == len(found.effects) == 3 + 1 + 1 + (3 + 1 + 3) + 3
    assert "raid 5: raid 0 1." in said_of(found)[1] and "; raid 10 1." in said_of(found)[1]


def test_three_factors_that_act_together() -> None:
    shape = {"server": ("nginx", "apache"), "raid": ("5", "0"), "cache": ("on", "off")}

    def speed(at: Levels) -> float:
        return 2.0 if (at["server"], at["raid"], at["cache"]) == ("apache", "0", "off") else 1.0

    found = effects_of(design(speed, shape, (1,)))
    assert effect(found, "server", "raid", "cache").ratio == pytest.approx(2.0, rel=0.04)
    assert effect(found, "raid").ratio == pytest.approx(2.0**0.25, rel=0.02), "a mean over four combinations"
    assert any("act together" in text for text in said_of(found))


def dead(record: RunRecord, contender: str, blocks: tuple[int, ...] | None = None) -> RunRecord:
    fields: dict[str, Any] = {"state": "failed", "reason": "connection refused", "operations": 0}
    return change(record, contender, None, blocks, **fields)


def test_a_dead_contender_leaves_what_the_others_tell() -> None:
    found = compare_run(dead(design(plain), "apache-0"))
    observed = found.factors
    assert observed is not None
    raid = effect(observed, "raid")
    assert (raid.contexts, raid.contexts_wanted) == (1, 2) and raid.low < RAID < raid.high
    assert raid.verdict.kind == "shown", "on nginx it is as certain as ever"
    assert not effect(observed, "server", "raid").estimated
    assert math.isnan(effect(observed, "server", "raid").ratio)
    assert any(
        text.startswith("apache-0 forfeited 16 of 16 trials (connection refused)") for text in not_estimated(observed)
    )
    assert "Cannot be estimated: the interaction of server and raid." in not_estimated(observed)
    sentence = next(text for text in headline_of(found) if text.startswith("raid 0 gives"))
    assert "over 1 of 2 combinations" in sentence and "whether it is the same on both servers cannot be" in sentence


def test_one_that_fails_now_and_then_gets_no_effect() -> None:
    effects = effects_of(dead(design(plain), "apache-0", (2, 5)))
    raid = effect(effects, "raid")
    assert raid.blocks == 6 and raid.blocks_left_out == (2, 5), "the blocks that it failed in tell nothing of its speed"
    assert raid.verdict.kind == "withheld" and "apache-0 failed 4 of 16 trials" in texts_of(raid.verdict.decisive)
    assert any("Verdict on raid withheld, apache-0 failed 4 of 16 trials" in text for text in said_of(effects))


def test_voided_trials_leave_blocks_out() -> None:
    effects = effects_of(change(design(plain), "nginx-5", 1, (3,), state="voided", reason="stopped"))
    assert effect(effects, "raid").blocks_left_out == (3,) and effect(effects, "raid").verdict.kind == "shown"


def test_few_blocks_give_numbers_alone() -> None:
    effects = effects_of(design(plain, blocks=3))
    raid = effect(effects, "raid")
    assert raid.verdict.kind == "too_few" and raid.ratio == pytest.approx(RAID, rel=0.1) and math.isnan(raid.low)
    assert "no verdict: 3 usable blocks" in said_of(effects)[1]


def test_combinations_that_are_not_there() -> None:
    shape = {"server": ("nginx", "apache"), "raid": ("5", "0")}
    record = design(plain)
    levels = {name: own for name, own in combinations(shape).items() if name != "apache-0"}
    kept = tuple(c for c in record.contenders if c.name in levels)
    trials = tuple(trial for trial in record.trials if trial.contender in levels)
    effects = effects_of(planned(replace(record, contenders=kept, trials=trials), levels, shape))
    assert "Not among the contenders: server apache with raid 0." in not_estimated(effects)
    assert effect(effects, "raid").contexts == 1 and not effect(effects, "server", "raid").estimated


def test_one_factor_alone() -> None:
    shape = {"cache": ("on", "off", "auto")}
    record = design(lambda at: {"on": 1.0, "off": 0.5, "auto": 0.97}[at["cache"]], shape)
    found = compare_run(record)
    assert found.factors is not None and found.factors.planes == () and len(found.factors.effects) == 3
    assert not any("cache on:" in text for text in headline_of(found)), "the pairs say it already"


def test_each_load_step_has_its_effect() -> None:
    effects = effects_of(design(plain, load_steps=(1, 4, 8)))
    points = effect(effects, "raid").points
    assert [point.load_step.clients for point in points] == [1, 4, 8]
    assert all(point.low < RAID < point.high and point.blocks == 8 for point in points)


def test_json_and_runs_of_others() -> None:
    record = design(plain)
    plain_json = json.loads(to_json(compare_run(record)))
    assert plain_json["factors"]["effects"][1]["factors"] == ["raid"]
    assert plain_json["factors"]["effects"][1]["points"][0]["clients"] == 1
    assert json.loads(to_json(compare_run(replace(record, plan={**record.plan, "contenders": []}))))["factors"] is None


@pytest.mark.parametrize("levels", [{}, None, 5, {"raid": 5}, {"server": "nginx", "raid": ["0"]}, [["raid", "0"]]])
def test_a_contender_without_levels_that_can_be_read_takes_no_part(levels: Any) -> None:
    record = design(plain, blocks=2)
    contenders = [dict(one) for one in record.plan["contenders"]]
    contenders[2]["levels"] = levels
    found = design_of(replace(record, plan={**record.plan, "contenders": contenders}), "nginx-5")
    assert found is not None and "apache-5" not in found.cells.values() and len(found.cells) == 3


DMA = {"qube-on": {"dma": "on"}, "qube-off": {"dma": "off"}}


def dma_of_one(speeds: Mapping[str, float], levels: Mapping[str, Levels], **given: int) -> RunRecord:
    """Four servers, one of them with DMA on and off."""
    servers = tuple(Server(name, 1e6 * speed, 1.0 / speed, 0.02) for name, speed in speeds.items())
    whole = {name: levels.get(name, {}) for name in speeds}
    shape: dict[str, list[str]] = {}
    for own in whole.values():
        for factor, level in own.items():
            shape.setdefault(factor, [])
            shape[factor] += [level] * (level not in shape[factor])
    return planned(run(servers, (1, 4), 8, seed=3), whole, {name: tuple(known) for name, known in shape.items()})


@pytest.mark.parametrize("baseline", ["qube-on", "birch"])
def test_a_factor_of_one_of_four_servers(baseline: str) -> None:
    """It is the ratio of that one's two contenders; the rest has no part in it, and no level is invented for them."""
    record = dma_of_one({"qube-on": 1.0, "qube-off": 0.58, "alder": 1.4, "birch": 0.9, "cedar": 2.0}, DMA)
    found = compare_run(record, baseline)
    assert found.factors is not None and [one.contender for one in found.factors.combinations] == list(DMA)
    dma = effect(found.factors, "dma")
    assert (dma.below, dma.above, dma.contexts_wanted) == (("on",), ("off",), 1) and dma.low < 0.58 < dma.high
    (pair,) = (one for one in found.pairs if {one.baseline, one.contender} == set(DMA))
    assert dma.ratio == pytest.approx(pair.primary.ratio ** (1 if pair.contender == "qube-off" else -1), rel=1e-9)
    assert found.factors.family == 1 and not not_estimated(found.factors)
    (said,) = (text for text in headline_of(found) if text.startswith("dma off gives"))
    assert "× the requests/s of dma on (" in said and "of qube-off and qube-on alone" in said
    tables = {t.title: t for s in compose(record, found).sections for t in s.blocks if isinstance(t, Table)}
    rows = dict(tables["Levels of the contenders"].rows)
    assert rows == {"qube-on": "on", "qube-off": "off", "alder": "–", "birch": "–", "cedar": "–"}


def test_a_factor_of_one_beside_one_of_all() -> None:
    """RAID is a mean over every context that has both levels, DMA one over those of its server; neither meets `–`."""
    speeds, levels = {}, {}
    for server, base in (("qube", 1.0), ("alder", 1.4)):
        for dma in ("on", "off") if server == "qube" else (None,):
            for raid, gain in (("5", 1.0), ("0", RAID)):
                name = "-".join(filter(None, (server, dma, raid)))
                speeds[name] = base * gain * (0.58 if dma == "off" else 1.0)
                levels[name] = {"server": server, **({"dma": dma} if dma else {}), "raid": raid}
    record = dma_of_one(speeds, levels)
    found = compare_run(record)
    assert found.factors is not None and found.factors.is_partial
    raid, dma = effect(found.factors, "raid"), effect(found.factors, "dma")
    assert raid.contexts == raid.contexts_wanted == 3 and raid.low < RAID < raid.high
    assert dma.contexts == dma.contexts_wanted == 2 and dma.low < 0.58 < dma.high
    assert {(at.factor, at.level) for at in dma.at} == {("server", "qube"), ("raid", "5"), ("raid", "0")}
    named = {one.factors for one in found.factors.effects}
    assert ("server",) not in named, "no two servers have a context in common"
    assert effect(found.factors, "dma", "raid").verdict.kind == "equivalent" and not not_estimated(found.factors)
    assert compose(record, found).sections


def test_an_effect_is_never_named_as_a_pair() -> None:
    """Contenders may be called as levels are, of which the ratio is another: 1.07 of a mean, 0.58 of a pair."""
    levels = {name.removesuffix("-5"): own for name, own in combinations().items()}
    found = compare_run(dma_of_one({name: joined(own) for name, own in levels.items()}, levels))
    assert found.factors is not None
    pairs = {f"{one.contender} ÷ {one.baseline}" for one in found.pairs}
    pairs |= {f"{one.baseline} ÷ {one.contender}" for one in found.pairs}
    effects = {title_words(one) for one in found.factors.effects} | {effect_words(one) for one in found.factors.effects}
    assert "apache ÷ nginx" in pairs and not pairs & effects
    starts = [text.split(" gives ")[0] for text in headline_of(found) if " gives " in text]
    assert "server apache" in starts and not set(starts) & set(levels)


@pytest.mark.parametrize(
    "levels",
    [
        {"raid": "x" * 300},
        {"other": "5"},
        {"raid": "7"},
    ],
)
def test_plans_that_somebody_wrote(levels: Any) -> None:
    record = design(plain, blocks=2)
    contenders = [dict(one) for one in record.plan["contenders"]]
    contenders[2]["levels"] = levels
    spoiled = replace(record, plan={**record.plan, "contenders": contenders})
    assert design_of(spoiled, "nginx-5") is None
    assert compare_run(spoiled).factors is None
    for factors in (None, 3, [3], [{"name": 3}], [{"name": "raid", "levels": 3}]):
        assert design_of(replace(record, plan={**record.plan, "factors": factors}), "nginx-5") is None


@pytest.mark.parametrize(("speed", "true"), [(plain, 1.0), (joined, 1.0 / 1.5)], ids=["none", "1.5"])
def test_intervals_cover_and_interactions_are_not_invented(speed: Any, true: float) -> None:
    """Through cube, gates and Holm; many more draws of the intervals alone are in the tests of `stats`."""
    runs, record = 60, design(speed, load_steps=(4,), blocks=8)
    covered = called = 0
    for seed in range(5000, 5000 + runs):
        effects = effects_of(redrawn(record, speed, 0.05, seed))
        both = effect(effects, "server", "raid")
        covered += both.low <= true <= both.high
        called += both.verdict.kind in ("shown", "near_margin")
    assert 52 <= covered <= runs
    assert called <= most_by_chance(runs, 0.05) if true == 1.0 else called == runs


def test_suites_of_a_campaign_are_one_family() -> None:
    names = tuple(combinations())
    one, two = design(plain, blocks=6), design(joined, blocks=6, seed=2)
    found = compare_campaign("lab", "Lab", names, [Measured("web", 1.0, one), Measured("files", 1.0, two)])
    assert len(found.effects) == 6
    raw = [e.p_t for r in (one, two) for e in (compare_run(r).factors or effects_of(r)).effects]
    assert min(effect.p_family for effect in found.effects) == pytest.approx(6 * min(raw))
    raid = next(text for text in headline_of(found) if text.startswith("Effect of raid (0 ÷ 5): web "))
    assert "; files " in raid and "raid 0 better" in raid
    both = {effect.suite: effect.kind for effect in found.effects if effect.factors == ("server", "raid")}
    assert both["files"] == "shown" and both["web"] != "shown"
    suite_runs = tuple(
        StoredSuiteRun(name=name, file=f"{name}.bakeoff", weight=1.0, plan={}) for name in ("web", "files")
    )
    stored = StoredCampaign(format=FORMAT, name="lab", title="Lab", seed=1, contenders=names, suite_runs=suite_runs)
    folder = CampaignFolder(Path("lab.bakeoff"), stored, {"web": one, "files": two}, {})
    report = compose_campaign(found, folder, (("Campaign", "lab"), ("Folder", "lab")))
    page = renderer("html").render(report, "r").decode()
    assert "Factors over the suites" in page and page.count(">Factors</h") == 2, "one in the chapter of each suite"


def test_a_challenger_takes_no_part_in_the_factors_of_a_report() -> None:
    """It has no level of any of them: what they do is what the others tell, as if it were not there."""
    whole = design(plain, blocks=6)
    names = [contender.name for contender in whole.contenders]
    one = names[-1]
    levels = {name: own for name, own in combinations().items() if name != one}
    record = planned(whole, levels, SHAPE)
    record.plan["contenders"].append({"name": one})
    data = {"comparison": {"run": {}}}
    record = replace(record, environment={"challenges": {"challenger": one, "contenders": names[:-1], "data": data}})
    found = compare_run(record)
    assert found.factors is not None and found.challenge is not None
    assert effect(found.factors, "raid").low < RAID < effect(found.factors, "raid").high
    text = str(compose(record, found).sections)
    assert f"{one} has no level of server and raid: effects of factors are those of the others." in text
