"""The page in Chromium: axe-core finds no serious fault, nothing is asked of any network, it is as wide as its window,
follows the theme, and prints what is folded.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from bakeoff.compare import compare_run
from bakeoff.report.charts.palette import ON_DARK, PALETTE
from bakeoff.report.compose import compose
from bakeoff.report.renderers.html import render_html
from bakeoff.store.records.run_records import RunRecord
from tests.unit.compare.designs import design
from tests.unit.compare.synthetic import Server, change, run
from tests.unit.compare.synthetic_cells import KIB, matrix_run

CHROMIUM = "/usr/bin/chromium"
PATIENCE_MS = 300_000
NAMES = ("nginx", "flaky: accepts, then errs", "caddy", "d", "e", "f", "g", "h")
GRAVE = {"serious", "critical"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"], timeout=PATIENCE_MS
        )
        yield made
        made.close()


def servers(number: int) -> tuple[Server, ...]:
    return tuple(Server(name, 40_000.0 / (1 + 0.4 * i), 0.1 + 0.03 * i) for i, name in enumerate(NAMES[:number]))


def broken() -> RunRecord:
    """Five contenders; at single load steps one is void in a block and one broke altogether."""
    record = run(servers(5), load_steps=(1, 4, 8))
    record = change(record, "nginx", 4, (2,), state="voided", reason="ran out of local ports")
    record = change(record, "caddy", 8, None, state="failed", reason="7 % of operations failed")
    return replace(record, plan={**record.plan, "title": "x" * 70})


def cells() -> RunRecord:
    sizes = [(file * KIB, record * KIB) for file in (64, 128, 256) for record in (4, 8, 16)]
    return matrix_run(lambda *_: 1.5, tests=("read", "write"), sizes=sizes)


def factors() -> RunRecord:
    shape = {"write-cache": ("enabled", "disabled"), "raid": ("5", "0")}
    return design(lambda at: 2.0 if at["raid"] == "0" else 1.0, shape, (1,), blocks=2)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    made = {}
    records = {"eight": run(servers(8), load_steps=(1, 4)), "broken": broken(), "cells": cells(), "factors": factors()}
    for name, record in records.items():
        made[name] = folder / f"{name}.html"
        text = render_html(compose(record, compare_run(record), surfaces=name == "cells"))
        made[name].write_text(text, encoding="utf-8")
    return made


def opened(
    browser: Browser, path: Path, width: int, theme: Any = "light", whole: bool = True
) -> tuple[Page, list[str]]:
    """The page, and what it said on the console or asked for besides itself; `whole`: what is far below, too."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
    page.set_default_timeout(PATIENCE_MS)
    found: list[str] = []
    page.on("console", lambda message: found.append(message.text))
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on("request", lambda request: found.append(request.url))
    page.goto(path.as_uri())
    assert found.pop(0) == path.as_uri()
    if whole:
        page.add_style_tag(content="main > section { content-visibility: visible !important }")
    return page, found


def grave(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found if one["impact"] in GRAVE]


@pytest.mark.parametrize(
    ("name", "width", "theme"),
    [
        ("eight", 400, "dark"),
        ("broken", 1280, "dark"),
        ("broken", 360, "light"),
        ("cells", 400, "light"),
    ],
)
def test_nothing_is_grave_nor_wider_than_its_window(
    browser: Browser, pages: dict[str, Path], name: str, width: int, theme: str
) -> None:
    page, observed = opened(browser, pages[name], width, theme)
    assert grave(page) == [] and observed == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.close()


def test_axe_sees_what_would_be_grave(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "bad.html"
    path.write_text('<!DOCTYPE html><html lang="en"><title>x</title><svg><g role="graphics-symbol"></g></svg>')
    page, _ = opened(browser, path, 400)
    assert any(fault.startswith("svg-img-alt") for fault in grave(page))
    page.close()


def test_folded_tables_are_open_on_paper_and_closed_on_the_screen(browser: Browser, pages: dict[str, Path]) -> None:
    page, _ = opened(browser, pages["eight"], 1280)
    tables = page.locator("details table")
    assert tables.count() > 10
    shown = "all => all.map(one => one.checkVisibility({contentVisibilityAuto: true}) && one.offsetHeight > 0)"
    assert not any(tables.evaluate_all(shown))
    page.emulate_media(media="print")
    # The sheet for paper holds from the next layout on.
    page.wait_for_function(
        f"({shown})([...document.querySelectorAll('details table')]).every(Boolean)", timeout=600_000
    )
    assert all(tables.evaluate_all(shown))
    page.close()


def test_the_keyboard_reaches_the_result_and_shows_where_it_is(browser: Browser, pages: dict[str, Path]) -> None:
    page, _ = opened(browser, pages["eight"], 360)
    page.keyboard.press("Tab")
    link = page.locator(":focus")
    assert link.inner_text() == "Skip to the result" and link.is_visible()
    outline = "one => getComputedStyle(one).outlineStyle"
    assert link.evaluate(outline) == "solid"
    page.keyboard.press("Enter")
    assert page.url.endswith("#result")
    page.keyboard.press("Tab")
    inside = page.locator("#result :focus")
    assert inside.count() == 1 and inside.evaluate(outline) == "solid"
    page.close()


def test_verdicts_are_read_without_scrolling_on_a_telephone(browser: Browser, pages: dict[str, Path]) -> None:
    page, _ = opened(browser, pages["broken"], 400)
    table = page.locator("table", has=page.locator("caption", has_text="Verdicts")).first
    assert table.bounding_box() is not None
    inside = "one => [...one.querySelectorAll('td')].every(td => td.getBoundingClientRect().right <= innerWidth)"
    assert table.evaluate(inside)
    label = "one => getComputedStyle(one, '::before').content"
    assert table.locator("td").first.evaluate(label) == '"Ratio"'
    page.close()


def test_texts_of_drawings_can_be_read_on_a_telephone(browser: Browser, pages: dict[str, Path]) -> None:
    page, _ = opened(browser, pages["eight"], 400)
    heights = page.locator("figure > svg text, .panels svg text").evaluate_all(
        "all => all.filter(t => t.textContent.trim() && t.closest('svg').checkVisibility())"
        ".map(t => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().d)"
    )
    assert len(heights) > 50 and min(heights) >= 9.0
    page.close()


def ink_of_columns(picture: bytes) -> NDArray[np.int64]:
    """How dark each column of pixels is, in all."""
    grey = np.asarray(Image.open(io.BytesIO(picture)).convert("L"), dtype=np.int64)
    return np.asarray((255 - grey).sum(axis=0))


@pytest.mark.parametrize(
    ("name", "figure", "wider_px", "is_beside"),
    [("eight", "chart-rate", 2, True), ("factors", "chart-factors", 0.2, False)],
)
def test_no_text_of_a_drawing_is_cut(
    browser: Browser, pages: dict[str, Path], name: str, figure: str, wider_px: float, is_beside: bool
) -> None:
    """A typeface may be wider than the one by which it was drawn: long labels have room for that, and what stands
    beside the drawing is seen.
    """
    page, _ = opened(browser, pages[name], 1280, whole=False)
    page.add_style_tag(content=f"svg text {{ letter-spacing: {wider_px}px }}")
    drawing = page.locator(f"#{figure} > svg")
    drawing.scroll_into_view_if_needed()
    left = "all => Math.min(...all.map(one => one.getBoundingClientRect().left))"
    assert (drawing.locator("text").evaluate_all(left) < drawing.evaluate_all(left) - 1) == is_beside
    box = drawing.bounding_box()
    assert box is not None
    around: Any = {**box, "x": box["x"] - 24}
    seen = page.screenshot(clip=around)
    drawing.evaluate("one => { one.closest('section').style.contentVisibility = 'visible' }")
    # What is cut is cut at a side. The layer of a section may lie a pixel higher, so the ink of columns is compared.
    assert np.array_equal(ink_of_columns(page.screenshot(clip=around)), ink_of_columns(seen))
    page.close()


def test_texts_take_the_width_of_the_page(browser: Browser, pages: dict[str, Path]) -> None:
    page, _ = opened(browser, pages["eight"], 1280)
    wide, text = (page.locator(where).first.bounding_box() for where in ("main", ".text"))
    assert wide and text and text["width"] == pytest.approx(wide["width"], abs=1.0)
    page.close()


def test_drawings_follow_the_theme(browser: Browser, pages: dict[str, Path]) -> None:
    stroke = "one => getComputedStyle(one).stroke"
    for theme, colours in (("light", PALETTE), ("dark", ON_DARK)):
        page, _ = opened(browser, pages["eight"], 1280, theme)
        line = page.locator(f'#chart-rate > svg [stroke="{PALETTE[0]}"]').first
        red, green, blue = (int(colours[0][at : at + 2], 16) for at in (1, 3, 5))
        assert line.evaluate(stroke) == f"rgb({red}, {green}, {blue})"
        page.close()


def test_figures_far_below_are_drawn_when_they_are_near(browser: Browser, pages: dict[str, Path]) -> None:
    page, _ = opened(browser, pages["eight"], 1280, whole=False)
    drawing = page.locator("main > section figure svg:not(.mark)").last
    drawn = "one => one.checkVisibility({contentVisibilityAuto: true})"
    assert not drawing.evaluate(drawn)
    drawing.scroll_into_view_if_needed()
    page.wait_for_function(drawn, arg=drawing.element_handle())
    page.close()
