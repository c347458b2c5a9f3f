"""Levels of interim analyses, against the tables that statisticians use."""

import pytest
from scipy import special

from bakeoff import stats


@pytest.mark.parametrize(
    ("shares", "known"),
    [
        # Lan and DeMets, as ldbounds and East print them for two sides and 5 %.
        ((1 / 3, 2 / 3, 1), (3.7103, 2.5114, 1.9930)),
        ((0.2, 0.4, 0.6, 0.8, 1.0), (4.8769, 3.3569, 2.6803, 2.2898, 2.0310)),
    ],
)
def test_levels_are_those_of_the_tables(shares: tuple[float, ...], known: tuple[float, ...]) -> None:
    most = 30
    levels = stats.nominal_levels(
        [round(share * most) for share in shares], [stats.spent(share, 0.05) for share in shares]
    )
    found = [-float(special.ndtri(level / 2.0)) for level in levels]
    assert found == pytest.approx(known, abs=0.004)


def test_one_analysis_spends_all_and_an_analysis_that_may_spend_nothing_has_nothing() -> None:
    assert stats.nominal_levels([8], [0.045]) == pytest.approx((0.045,), rel=1e-12)
    assert stats.nominal_levels([], []) == ()
    first, second = stats.nominal_levels([6, 12], [0.0, 0.05])
    assert first < 1e-12 and second == pytest.approx(0.05, rel=2e-3)


def test_at_the_end_all_is_spent() -> None:
    assert stats.spent(1.0, 0.05) == pytest.approx(0.05)
    shares = [stats.spent(n / 20, 0.05) for n in range(21)]
    assert shares[0] == 0.0 and shares == sorted(shares)


def test_interim_analyses_that_do_not_rise_are_refused() -> None:
    for blocks, cumulative in (([6, 6], [0.01, 0.05]), ([12, 6], [0.01, 0.05]), ([6], [0.01, 0.05])):
        with pytest.raises(ValueError, match="rising"):
            stats.nominal_levels(blocks, cumulative)
