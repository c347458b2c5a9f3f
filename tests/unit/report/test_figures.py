"""What figures may not do: hide, cut off, stand on each other, or show what was not measured."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from bakeoff.compare import compare_run
from bakeoff.load.load_step import Clients
from bakeoff.report.blocks.narrow import stacks, wide
from bakeoff.report.blocks.tree import Chart
from bakeoff.report.charts.axes import Amounts, Loads, Logs, Ratios, by_load_step, far_apart, log_ticks, round_top
from bakeoff.report.charts.bars import bars
from bakeoff.report.charts.lines import lines
from bakeoff.report.charts.palette import PALETTE
from bakeoff.report.charts.panels import shares
from bakeoff.report.charts.surface import Relief, reliefs
from bakeoff.report.charts.svg import draw, figure_of
from bakeoff.report.charts.theme import legend_of
from bakeoff.report.compose import compose
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.records.trial_parts import SecondRecord
from tests.unit.compare.synthetic import Server, change, run, summary

NAMES = ("nginx", "flaky: accepting-but-erring, with a long name", "caddy")
LOAD_STEPS = tuple(map(Clients, (1, 4, 8)))


def charts(record: RunRecord) -> dict[str, Chart]:
    return {chart.id: chart for chart in compose(record, compare_run(record)).charts()}


def curve(
    value: float, spread: float = 0.1, names: tuple[str, ...] = NAMES, load_steps: Any = LOAD_STEPS
) -> list[dict[str, Any]]:
    return [
        {
            "contender": name,
            "load_step": load_step.x,
            "value": value,
            "low": value - spread,
            "high": value + spread,
            "whole": True,
        }
        for name in NAMES
        for load_step in load_steps
    ]


def drawn(rows: list[dict[str, Any]], load_steps: Any = LOAD_STEPS) -> Chart:
    drawing = lines(rows, NAMES, Loads(load_steps), Amounts("requests/s", far=True), ("Rate", "mean"))
    return Chart("chart-x", "Rate", "words", drawing, table=None)  # type: ignore[arg-type]


def axis_labels(svg: str) -> list[str]:
    return re.findall(r">([\d.,/]+(?: M)?)</text>", svg)


def test_legends_are_text_of_the_page_and_never_cut_off() -> None:
    figure = figure_of(drawn(curve(3.0)))
    assert [entry.label for entry in figure.legend] == list(NAMES)
    assert all("…" not in panel.svg and NAMES[1] not in panel.svg for panel in figure.panels)
    for entry, key in zip(figure.legend, legend_of(drawn(curve(3.0)).spec), strict=True):
        line, mark = re.findall(r"<path[^>]*>", entry.mark)
        assert key.colour in mark and "dasharray" not in mark  # the dash is the line's alone
        assert ("dasharray" in line) == (key.dash != (1, 0))


def test_a_drawing_by_itself_has_its_legend_under_it_whole() -> None:
    alone, in_page = draw(drawn(curve(100.0))), figure_of(drawn(curve(100.0))).panels[0].svg
    for name in NAMES:
        assert alone.count(f">{name}</text>") == 1 and name not in in_page
    width, height, axis = (
        float(re.findall(pattern, svg)[0])
        for pattern, svg in (
            (r'<svg [^>]*? width="([\d.]+)"', alone),
            (r'<svg [^>]*? height="([\d.]+)"', alone),
            (r'<svg [^>]*? height="([\d.]+)"', in_page),
        )
    )
    foot = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="start"[^>]*>([^<]*)<', alone)
    entries = [(float(x), float(y), label) for x, y, label in foot if label in NAMES]
    assert all(axis < y < height and x + 6 * len(label) <= width for x, y, label in entries), (
        "under the axis, and whole"
    )
    assert len({y for _, y, _ in entries}) == 2, "the long name begins a second row"
    assert "stroke-dasharray" in alone[alone.index(NAMES[0]) :]


def test_one_contender_needs_no_legend() -> None:
    only = lines(curve(1.0)[:3], NAMES[:1], Loads(LOAD_STEPS), Amounts("requests/s"), ("Rate", "mean"))
    assert NAMES[0] not in draw(Chart("chart-x", "Rate", "words", only, table=None))  # type: ignore[arg-type]


def test_intervals_at_one_load_step_stand_beside_each_other_and_in_the_order_of_the_legend() -> None:
    rows = drawn(curve(3.0)).spec["datasets"]["rows"]
    for load_step in LOAD_STEPS:
        places = [row["at"] for row in rows if row["load_step"] == load_step.x]
        assert len(set(places)) == 3 and places == sorted(places) and places[1] == load_step.x
        assert all(abs(place - load_step.x) < 1.5 for place in places)
    alone = drawn([{**row, "low": None, "high": None} for row in curve(3.0)]).spec["datasets"]["rows"]
    assert all(row["at"] == row["load_step"] for row in alone)


def test_amounts_are_never_below_zero_and_zero_is_zero() -> None:
    figure = figure_of(drawn(curve(20_000.0, 40_000.0)))
    assert all(row["low"] >= 0.0 for row in drawn(curve(20_000.0, 40_000.0)).spec["datasets"]["rows"])
    labels = axis_labels(figure.panels[0].svg)
    assert "0" in labels and "20,000" in labels and not re.search(r">(0k|[-−]\d[^<]*)<", figure.panels[0].svg)


def test_every_axis_has_its_unit() -> None:
    (panel,) = figure_of(drawn(curve(3.0))).panels
    assert ">requests/s</text>" in panel.svg and ">Simulated clients</text>" in panel.svg
    for chart in charts(run((Server("a", 9e3, 0.3), Server("b", 7e3, 0.4)), load_steps=(1, 4))).values():
        for spec in chart.spec.get("concat", [chart.spec]):
            for layer in spec.get("layer", [spec]):
                for channel in ("x", "y"):
                    observed = layer["encoding"].get(channel, {})
                    if "axis" in observed and "title" in observed["axis"]:
                        assert observed["axis"]["title"], (chart.id, channel)


def test_a_single_load_step_is_marks_in_rows_and_no_curve() -> None:
    spec = drawn(curve(3.0, load_steps=LOAD_STEPS[:1]), LOAD_STEPS[:1]).spec
    assert all(layer["mark"]["type"] != "line" for layer in spec["layer"])
    assert {layer["encoding"]["y"]["field"] for layer in spec["layer"]} == {"contender"}


def test_contenders_far_apart_are_drawn_on_logarithms_that_say_so() -> None:
    rows = [
        {**row, "value": 1.0 if row["contender"] == "caddy" else 50.0, "low": None, "high": None} for row in curve(1.0)
    ]
    assert far_apart(rows) and not far_apart(curve(1.0))
    assert not far_apart([{**row, "value": 0.0} for row in rows])  # no logarithm of nothing
    assert "requests/s, log scale" in figure_of(drawn(rows)).panels[0].svg


def test_points_of_which_trials_are_left_out_are_hollow_and_explained() -> None:
    chart = charts(change(run(), "nginx", 4, (2,), state="voided", reason="ran out of local ports"))["chart-rate"]
    hollow = {(row["contender"], row["load_step"]) for row in chart.spec["datasets"]["rows"] if not row["whole"]}
    assert hollow == {("nginx", 4)}
    figure = figure_of(chart)
    assert "hollow: some trials are left out" in figure.subtitle
    assert len(re.findall(r'<path [^>]*fill="#fff"[^>]*stroke="#0072b2"', figure.panels[0].svg)) == 1
    assert "hollow" not in figure_of(charts(run())["chart-rate"]).subtitle


def test_who_broke_stands_at_the_ground_of_times_as_well_and_what_is_thin_says_nothing_of_it() -> None:
    rows = [
        {
            "contender": name,
            "load_step": load_step.x,
            "time": time,
            "value": None if (name, load_step.x) == ("caddy", 8) else value,
        }
        for name in NAMES
        for load_step in LOAD_STEPS
        for time, value in (("response", 40.0), ("service", 5.0))
    ]
    drawing = lines(rows, NAMES, Loads(LOAD_STEPS), Logs("ms"), ("Times", "mean"), bold="response")
    (cross,) = drawing.spec["datasets"]["missing"]
    assert (cross["contender"], cross["load_step"]) == ("caddy", 8) and 0.0 < cross["value"] < 5.0
    assert "✕: no usable trial" in drawing.spec["title"]["subtitle"]


def test_ratios_have_a_tick_at_1_wherever_they_lie() -> None:
    for low, high in ((0.002, 1.05), (0.9, 1.2), (0.97, 640.0), (1 / 490, 490.0), (0.999, 1.001)):
        ticks = log_ticks(low, high)
        assert 1.0 in ticks and 1 <= len(ticks) <= 12 and all(low <= tick <= high for tick in ticks)
    for middle in (1 / 490, 1 / 40, 0.3, 1.3, 8.0, 640.0):
        place = {"contender": "caddy", "ratio": middle, "low": middle / 1.4, "high": middle * 1.4, "shown": True}
        rows = [{**place, "load_step": str(load_step)} for load_step in LOAD_STEPS]
        drawing = bars(
            rows, NAMES, by_load_step(LOAD_STEPS), Ratios("above 1 is better", 0.05), ("Ratio", "bands"), 0.05
        )
        (panel,) = figure_of(Chart("chart-r", "Ratio", "words", drawing, table=None)).panels  # type: ignore[arg-type]
        across, down = (axis_labels(part) for part in panel.svg.split(">Simulated clients<"))
        assert across == ["1", "4", "8"] and "1" in down and len(down) >= 3, (middle, down)
        assert not any("/" in label for label in down), "in the notation of all ratios"


def seconds(*widths: float) -> tuple[SecondRecord, ...]:
    return tuple(
        SecondRecord(at, "window", round(900 * width), 0, 9, summary(round(900 * width), 1.0), width)
        for at, width in enumerate(widths)
    )


def over_time(record: RunRecord, length_s: float, *widths: float) -> dict[str, Chart]:
    plan = {**record.plan, "settings": {**record.plan["settings"], "length_s": length_s}}
    return charts(
        replace(record, plan=plan, trials=tuple(replace(t, per_second=seconds(*widths)) for t in record.trials))
    )


def test_the_rest_of_a_second_is_no_collapse_and_waiting_after_the_load_is_not_drawn() -> None:
    record = run(blocks=2)
    data = over_time(record, 5.6, 1, 1, 1, 1, 1, 0.6, 1, 1, 1)["chart-seconds-rate"].spec["datasets"]
    points = [row for name in ("rows0", "rows1") for row in data[name]]
    assert {row["second"] for row in points} == {0.5, 1.5, 2.5, 3.5, 4.5}
    assert {row["value"] for row in points} == {900.0}


def test_trials_too_short_for_a_course_have_no_empty_chart() -> None:
    assert "chart-seconds-rate" not in over_time(run(blocks=2), 2.5, 1, 1, 0.5)
    assert "chart-seconds-rate" in over_time(run(blocks=2), 3.5, 1, 1, 1, 0.5)


def test_panels_are_level_and_parts_have_no_contender_s_colour() -> None:
    rows = [
        {"contender": name, "load_step": str(load_step), "step": step, "share": 0.5, "order": place}
        for name in NAMES
        for load_step in LOAD_STEPS
        for place, step in enumerate(("connect", "transfer"))
    ]
    drawing = shares(rows, NAMES, ("connect", "transfer"), LOAD_STEPS, "share", ("Where", "mean"))
    figure = figure_of(Chart("chart-steps", "Where", "words", drawing, table=None))  # type: ignore[arg-type]
    assert [panel.name and panel.name.label for panel in figure.panels] == list(NAMES)
    frames = {re.search(r'<svg [^>]*viewBox="([^"]*)"', panel.svg)[1] for panel in figure.panels}  # type: ignore[index]
    grounds = {tuple(re.findall(r'transform="translate\(([^)]*)\)"', panel.svg)[:3]) for panel in figure.panels}
    assert len(frames) == 1 and len(grounds) == 1
    assert not any(colour in panel.svg for panel in figure.panels for colour in PALETTE)


def test_one_scale_of_panels_is_round_and_holds_all() -> None:
    assert [round_top(top) for top in (0.0, 10.9, 0.3, 41_000.0, 1.0)] == [1.0, 12.0, pytest.approx(0.3), 50_000.0, 1.0]


def test_surfaces_far_apart_are_drawn_on_logarithms() -> None:
    def tops(fast: float) -> list[float]:
        grids = [[[rate, rate], [rate, rate]] for rate in (10.0, fast)]
        surfaces = [Relief(name, colour, grid) for name, colour, grid in zip("ab", PALETTE, grids, strict=False)]
        spec = reliefs(surfaces, ["4K", "8K"], ["1M", "2M"], "{:g}".format, ("Read", "MB/s")).spec
        assert ("log scale" in str(spec["title"])) == (fast >= 200.0)
        quads = spec["datasets"]["quads"]
        return [max(row["y"] for row in quads if row["q"] == q) for q in sorted({row["q"] for row in quads})]

    slow, fast = tops(15.0)
    assert fast - slow > 50.0
    slow, fast = tops(500.0)
    floor = 30.0 + 2.0 * 82.0
    assert fast > slow > floor - 1.0 and tops(600.0)[0] > floor - 1.0 and fast - slow > 80.0


def test_tables_of_verdicts_become_cards_and_tables_of_numbers_scroll() -> None:
    record = run()
    report = compose(record, compare_run(record))
    tables = {block.title: block for section in report.sections for block in section.blocks if hasattr(block, "rows")}
    assert stacks(tables["Verdicts"]) and not stacks(tables["All load steps"])  # type: ignore[arg-type]
    assert wide(tables["All load steps"])  # type: ignore[arg-type]
