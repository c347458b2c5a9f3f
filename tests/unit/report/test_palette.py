"""Colours of contenders: told apart by everybody, on light and on dark paper, and by their marks without any colour."""

from __future__ import annotations

import itertools
import re
from importlib import resources

import numpy as np
import pytest
from numpy.typing import NDArray

from bakeoff.report.charts.palette import (
    DARK_PAPER,
    DASHES,
    LIGHT_PAPER,
    ON_DARK,
    PALETTE,
    PARTS,
    SHAPES,
    short_hex,
    stylesheet,
)

Vector = NDArray[np.float64]
# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
SIGHTS = {
    "usual": np.eye(3),
    "without long cones": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "without middle cones": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "without short cones": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def linear(colour: str) -> Vector:
    parts = np.array([int(colour[at : at + 2], 16) / 255.0 for at in (1, 3, 5)])
    made: Vector = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return made


def seen(colour: str, sight: str) -> Vector:
    """Its place in OKLab, in which equal distances look equal."""
    lab: Vector = TO_LAB @ np.cbrt(TO_CONES @ np.clip(SIGHTS[sight] @ linear(colour), 0.0, 1.0))
    return lab


def luminance(colour: str) -> float:
    return float(linear(colour) @ np.array([0.2126, 0.7152, 0.0722]))


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_the_measure_knows_what_is_alike() -> None:
    black, white = seen("#000000", "usual"), seen("#ffffff", "usual")
    assert np.linalg.norm(black - white) == pytest.approx(1.0, abs=0.001) and contrast("#000000", "#ffffff") == 21.0
    red, green = (seen(colour, "without middle cones") for colour in ("#b83000", "#6b7000"))
    assert np.linalg.norm(red - green) < 0.06 < np.linalg.norm(seen("#b83000", "usual") - seen("#6b7000", "usual"))


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("palette", [PALETTE, ON_DARK])
def test_any_two_of_eight_contenders_are_told_apart(palette: tuple[str, ...], sight: str) -> None:
    assert len(palette) == 8
    for one, other in itertools.combinations(palette, 2):
        assert np.linalg.norm(seen(one, sight) - seen(other, sight)) > 0.085, (one, other)


def test_each_stands_out_from_its_paper() -> None:
    assert all(contrast(colour, LIGHT_PAPER) >= 3.0 for colour in PALETTE)
    assert all(contrast(colour, DARK_PAPER) >= 3.0 for colour in ON_DARK)


def test_marks_and_dashes_all_differ_for_prints_without_colour() -> None:
    assert len(set(SHAPES)) == len(PALETTE) == len({tuple(dash) for dash in DASHES})


def test_parts_are_greys_and_no_contender_s_colour() -> None:
    for severity in PARTS:
        assert (
            np.hypot(*seen(severity, "usual")[1:])
            < 0.03
            < min(np.hypot(*seen(colour, "usual")[1:]) for colour in PALETTE[:-1])
        )
        assert severity not in PALETTE
    for one, other in itertools.pairwise(PARTS):  # neighbours in a bar
        assert abs(luminance(one) - luminance(other)) > 0.05


def test_the_page_has_both_papers_and_draws_in_their_colours() -> None:
    css = stylesheet()
    page = resources.files("bakeoff.report").joinpath("templates", "report.css").read_text(encoding="utf-8")
    assert re.findall(r"--paper: (#\w+)", page) == [short_hex(LIGHT_PAPER), DARK_PAPER]
    for place, (light, dark) in enumerate(zip(PALETTE, ON_DARK, strict=True)):
        assert f"--s{place}:{light};" in css and f'figure svg [stroke="{light}"]{{stroke:{dark}}}' in css
