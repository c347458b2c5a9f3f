"""Contrasts of factorial designs: orthogonal where complete, right where not, and with intervals that cover."""

from itertools import combinations, product

import numpy as np
import pytest

from bakeoff.stats import at_level, between, block_logs, contrasts, holm, ratio_from_logs
from bakeoff.stats.design.factorial import Contrast, Logs


def weights(contrast: Contrast, levels: tuple[int, ...]) -> Logs:
    """What the logarithm of each combination counts."""
    found = np.zeros(levels)
    for term in contrast.terms:
        found[term.upper] += term.weight
        found[term.lower] -= term.weight
    return found


def value(contrast: Contrast, logs: Logs) -> float:
    """The contrast of known logarithms."""
    pairs = {(t.lower, t.upper): np.array([[logs[t.upper] - logs[t.lower]]]) for t in contrast.terms}
    return float(block_logs(contrast, pairs, (1, 1))[0, 0])


@pytest.mark.parametrize("factors", [1, 2, 3, 4])
def test_two_levels_are_orthogonal_contrasts(factors: int) -> None:
    levels = (2,) * factors
    found = contrasts(levels, np.ones(levels, dtype=bool))
    assert len(found) == 2**factors - 1
    rows = np.array([weights(one, levels).ravel() for one in found])
    assert np.allclose(rows.sum(axis=1), 0.0)
    products = rows @ rows.T
    assert np.allclose(products, np.diag(np.diag(products)))
    for one in found:
        # A ratio of ratios, at each context: 2^(order - 1) log-ratios.
        assert sum(abs(term.weight) for term in one.terms) == pytest.approx(2 ** (len(one.factors) - 1))


def test_programmed_effects_come_out() -> None:
    levels = (2, 3, 2)
    a, b, c = np.array([0.0, 0.3]), np.array([0.0, 0.5, -0.2]), np.array([0.0, 0.1])
    logs = a[:, None, None] + b[None, :, None] + c[None, None, :]
    logs[1, 2, :] += 0.4  # of a and b
    for one in contrasts(levels, np.ones(levels, dtype=bool)):
        observed = value(one, logs)
        if one.factors == (2,):
            assert observed == pytest.approx(0.1)
        if one.factors == (1,):
            assert observed == pytest.approx((b[one.above[0]] - b[one.below[0]]) + 0.2 * ((one.above[0] == 2) - 0.0))
        if one.factors == (0, 1):
            assert observed == pytest.approx(0.4 if one.above[1] == 2 else 0.0)
        if one.factors in ((0, 2), (1, 2), (0, 1, 2)):
            assert observed == pytest.approx(0.0, abs=1e-12)


def test_missing_combinations_are_left_out_of_the_mean() -> None:
    levels, logs = (2, 3), np.array([[0.0, 0.5, 0.9], [0.1, 0.7, 1.5]])
    for gone in product(range(2), range(3)):
        present = np.ones(levels, dtype=bool)
        present[gone] = False
        for one in contrasts(levels, present):
            assert not any(gone in (term.lower, term.upper) for term in one.terms)
            if one.factors == (1,):
                rows = [row for row in range(2) if gone not in ((row, one.below[0]), (row, one.above[0]))]
                wanted = np.mean([logs[row, one.above[0]] - logs[row, one.below[0]] for row in rows])
                assert value(one, logs) == pytest.approx(wanted) and one.contexts == len(rows)
            if one.factors == (0, 1) and gone[1] in (one.below[1], one.above[1]):
                assert one.terms == () and one.contexts == 0 and one.wanted == 1


def test_an_effect_at_one_level_and_two_combinations() -> None:
    levels, logs = (2, 2, 2), np.random.default_rng(3).normal(size=(2, 2, 2))
    whole = np.ones(levels, dtype=bool)
    main = next(one for one in contrasts(levels, whole) if one.factors == (1,))
    half = at_level(main, 0, 1)
    assert half.contexts == 2
    assert value(half, logs) == pytest.approx(np.mean(logs[1, 1] - logs[1, 0]))
    assert value(between((0, 0), (1, 1), (0, 1), whole), logs) == pytest.approx(np.mean(logs[1, 1] - logs[0, 0]))
    assert np.isnan(block_logs(at_level(main, 0, 7), {}, (1, 2))).all()


def test_intervals_cover_and_false_calls_stay_below_the_level() -> None:
    """A 2×2×2 design, 8 blocks, 3,000 times: one main effect of 1.9 and an interaction of 1.5, all others 1."""
    levels, blocks, runs = (2, 2, 2), 8, 3000
    random = np.random.default_rng(11)
    true = np.zeros(levels)
    true[:, 1] += np.log(1.9)
    true[1, 1] += np.log(1.5)
    found = contrasts(levels, np.ones(levels, dtype=bool))
    truth = [value(one, true) for one in found]
    null = [place for place, log in enumerate(truth) if abs(log) < 1e-12]
    cells = list(product(range(2), repeat=3))
    covered, false_calls = np.zeros(len(found)), 0
    for _ in range(runs):
        noise = random.normal(0.0, 0.1, (blocks, 1)) + random.normal(0.0, 0.05, (blocks, 8))
        logs = {cell: true[cell] + noise[:, place] for place, cell in enumerate(cells)}
        pairs = {(a, b): (logs[b] - logs[a])[None, :] for a, b in combinations(cells, 2)}
        ratios = [ratio_from_logs(block_logs(one, pairs, (1, blocks))) for one in found]
        covered += [ratio.low <= np.exp(log) <= ratio.high for ratio, log in zip(ratios, truth, strict=True)]
        p = holm([ratio.p_t for ratio in ratios])
        false_calls += bool((p[null] <= 0.05).any())
    assert np.all(abs(covered / runs - 0.95) < 0.016)
    assert false_calls / runs <= 0.05
