"""Crossovers are in the headline, with the ratio and its interval, in every form of a report."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bakeoff.compare import compare_run
from bakeoff.compare.collections.campaign import Measured, compare_campaign
from bakeoff.compare.model.pair import RatioPoint
from bakeoff.compare.verdict.crossover import crossovers_of
from bakeoff.load.load_step import Clients
from bakeoff.report.compose import compose
from bakeoff.report.layout.brief import brief
from bakeoff.report.narrate.document import to_json
from bakeoff.report.narrate.verdict.crossover import crossover_sentence
from bakeoff.store.records.run_records import RunRecord
from tests.told import headline_of, kinds_of
from tests.unit.compare.synthetic import FAST, SLOW, run
from tests.unit.compare.test_overload import BASE, OTHER, answering, changed, in_ms, of, same_machines
from tests.unit.report.shown import form, shown


def crossing() -> RunRecord:
    """nginx serves the more at once, apache is the quicker with few clients: 0.1 ms against 0.2 ms at one."""
    return run((replace(FAST, base_ms=0.2), replace(SLOW, base_ms=0.1)), load_steps=(1, 2, 8, 16, 32), blocks=8)


def test_the_headline_names_the_loads_at_which_each_is_better() -> None:
    found = compare_run(crossing())
    apache, nginx = crossovers_of(found.pairs[0])
    assert (apache.winner, nginx.winner) == ("apache", "nginx")
    assert apache.load_steps[0] == Clients(1) and nginx.load_steps[-1] == Clients(32)
    assert nginx.to_the_end and not apache.to_the_end
    assert apache.ratio == pytest.approx(2.0, rel=0.05) and 1.0 < apache.low < apache.ratio < apache.high
    (said,) = (text for text, kind in zip(headline_of(found), kinds_of(found), strict=True) if kind == "crossover")
    assert said.startswith("The ranking crosses over: at 1 and 2 clients apache is better (up to ")
    assert "× the requests/s of nginx at 1 client, " in said
    assert (
        f"), from {nginx.load_steps[0].words} on nginx (up to 1." in said and "× the requests/s of apache at " in said
    )


def test_every_form_of_the_report_has_the_sentence() -> None:
    record = crossing()
    found = compare_run(record)
    said = headline_of(found)[kinds_of(found).index("crossover")]
    whole = compose(record, found)
    assert said in whole.headline and said in brief(whole).headline
    for text in (shown(record, width=400), form(whole, "markdown"), form(brief(whole), "markdown"), to_json(found)):
        assert said in text
    assert said in form(whole, "html") and said in form(brief(whole), "html")
    campaign = compare_campaign("lab", "Lab", ("nginx", "apache"), [Measured("web", 1.0, record)])
    assert f"web: {said}" in headline_of(campaign)


def test_crossovers_of_pairs_that_do_not_lead_are_named() -> None:
    """One leads at all loads, and the ranking of the two behind it crosses over."""
    fastest = replace(FAST, name="fastest", capacity=100 * FAST.capacity, base_ms=0.01)
    record = run(
        (replace(FAST, base_ms=0.2), replace(SLOW, base_ms=0.1), fastest), load_steps=(1, 2, 8, 16, 32), blocks=8
    )
    said = headline_of(compare_run(record))
    (one,) = (text for text in said if "crosses over" in text)
    assert one == "The ranking of other pairs crosses over, too: nginx and apache."


def test_no_crossover_where_one_is_better_throughout() -> None:
    found = compare_run(run(blocks=8))
    assert crossovers_of(found.pairs[0]) == () and "crossover" not in kinds_of(found)


def test_a_loss_has_no_ratio_and_of_a_time_less_is_better() -> None:
    found = compare_run(crossing())
    (pair,) = found.pairs
    p99 = "p99 response time"

    def lost(point: RatioPoint) -> RatioPoint:
        counts = {"apache": point.blocks, "nginx": 0}
        return replace(point, forfeited=counts) if point.verdict.winner == "nginx" else point

    curve = next(each for each in pair.curves if each.metric == pair.primary.metric)
    hit = replace(pair, curves=(replace(curve, points=tuple(lost(point) for point in curve.points)),))
    assert "on nginx (apache forfeited every trial at each)." in crossover_sentence(hit, "requests/s")
    assert "1/" not in crossover_sentence(hit, "requests/s")
    times = replace(
        pair,
        curves=(
            replace(
                curve,
                points=tuple(
                    replace(point, ratio=1.0 / point.ratio, low=1.0 / point.high, high=1.0 / point.low)
                    for point in curve.points
                ),
            ),
        ),
    )
    said = crossover_sentence(times, p99)
    assert "apache is better (down to 0.50" in said and f"× the {p99} of nginx at 1 client, 0." in said


def test_at_rates_too_and_where_both_are_overloaded_there_is_no_ratio_of_times() -> None:
    """apache answers in 3 ms where nginx takes 4, but 20 ms at the highest rate."""
    record = changed(same_machines(), of(OTHER, 1, 4), in_ms(3.0))
    found = compare_run(changed(record, of(OTHER, 8), in_ms(20.0)))
    said = headline_of(found)[kinds_of(found).index("crossover")]
    assert said.startswith("The ranking crosses over: at 1,000 and 4,000/s apache is better (down to ")
    assert "× the p99 response time of nginx at " in said and ", at 8,000/s nginx (0.2" in said
    both = changed(changed(record, of(BASE, 8), answering(0.8)), of(OTHER, 8), answering(0.6))
    behind = compare_run(both)
    said = headline_of(behind)[kinds_of(behind).index("crossover")]
    assert said.endswith(", at 8,000/s nginx (both are overloaded, nginx answers more a second).")
    alone = compare_run(changed(record, of(OTHER, 8), answering(0.6)))
    said = headline_of(alone)[kinds_of(alone).index("crossover")]
    assert said.endswith(", at 8,000/s nginx (apache was overloaded, or failed, in every trial).")


def test_a_crossover_is_named_where_the_other_loads_have_no_verdict() -> None:
    """A generator that waited withholds the verdict at the loads of the one that is better over all."""
    (pair,) = compare_run(crossing()).pairs
    curve = next(each for each in pair.curves if each.metric == pair.primary.metric)
    withheld = [
        replace(p, verdict=replace(p.verdict, kind="withheld", winner=None)) if p.verdict.winner == "nginx" else p
        for p in curve.points
    ]
    part = replace(pair, curves=(replace(curve, points=tuple(withheld)),))
    overall = [replace(part.primary, verdict=replace(part.primary.verdict, winner=who)) for who in ("nginx", "apache")]
    (crossover,) = crossovers_of(replace(part, primary=overall[0]))
    assert crossover.winner == "apache"
    said = crossover_sentence(replace(part, primary=overall[0]), "requests/s")
    assert said.startswith("The ranking crosses over: at 1 and 2 clients apache is better (up to ")
    assert crossovers_of(replace(part, primary=overall[1])) == ()


def test_the_ranking_in_p99_crosses_over_by_its_own_loads() -> None:
    found = compare_run(
        run((replace(FAST, base_ms=0.2), replace(SLOW, base_ms=0.1)), load_steps=(1, 64, 256), blocks=8)
    )
    (pair,) = found.pairs
    curve = next(each for each in pair.curves if each.metric == "p99")
    verdict = replace(curve.points[0].verdict, kind="better", winner="apache")
    first = replace(curve.points[0], ratio=0.5, low=0.4, high=0.6, verdict=verdict)
    curves = (*(each for each in pair.curves if each is not curve), replace(curve, points=(first, *curve.points[1:])))
    turned = replace(found, pairs=(replace(pair, curves=curves),))
    before, after = (
        next(text for text in headline_of(each) if text.startswith("The p99 response time")) for each in (found, turned)
    )
    assert "crossover" not in before
    assert after.startswith(
        f"{before[:-1]}; the ranking crosses over: at 1 client apache is better "
        "(0.50× the p99 response time of nginx, 0.40–0.60), from 64 clients on nginx (down to "
    )
