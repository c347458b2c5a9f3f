"""Figures that were printed and could not be: each with the rule that mended it."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from bakeoff.compare import compare_run
from bakeoff.compare.advice.advice import late_ms
from bakeoff.compare.limits.capacity_model import ContenderCapacity, ShareMet
from bakeoff.compare.metrics.curves import _point
from bakeoff.kinds.mail.compare.summary import Saturation
from bakeoff.kinds.mail.foreign_mail import ForeignMail
from bakeoff.kinds.mail.report.words import mail_cells, unsaturated_words
from bakeoff.load.arrivals import Constant
from bakeoff.load.load_step import Clients, Rate
from bakeoff.report.narrate.figures.capacity import capacity_text
from bakeoff.report.narrate.validity.run_advice import outages_words
from bakeoff.store.records.run_records import LEFT_OUT
from bakeoff.store.records.trial_parts import EMPTY_SUMMARY, AgentResultRecord
from tests.unit.compare.synthetic import change, run


@pytest.mark.parametrize(
    ("per_s", "expected"), [(99.33333333, "99.333"), (5000.0, "5,000"), (0.5, "0.5"), (1_234_567.0, "1,234,567")]
)
def test_rates_are_told_in_five_figures(per_s: float, expected: str) -> None:
    load_step = Rate(per_s, Constant(), 10)
    assert load_step.words == f"{expected}/s"
    assert float(str(load_step)) == pytest.approx(per_s, rel=1e-9), "and kept as they are"


def test_who_was_never_asked_is_not_called_dead() -> None:
    record = run(blocks=6, load_steps=(1, 4))
    nothing = {"state": "failed", "operations": 0, "operations_per_s": 0.0, "service": EMPTY_SUMMARY}
    record = change(record, "apache", None, (1, 2), reason="refused", **nothing)
    record = change(record, "apache", None, (3, 4, 5, 6), reason="it was dead", code=LEFT_OUT, **nothing)
    (comparison,) = (one for one in compare_run(record).contenders if one.name == "apache")
    assert outages_words(comparison) == "dead in 4 and not asked in 8 of 12 trials"


def test_a_machine_that_was_late_is_told_where_the_percentile_of_all_has_nothing_of_it() -> None:
    trial = run().trials[0]
    share = AgentResultRecord(
        agent="cat", clients=1, lost="", window_s=8.0, operations=1, errors={}, bytes_in=0, bytes_out=0,
        service=EMPTY_SUMMARY, cpu_share=0.0, cpu_us_per_operation=0.0, run_delay_share=0.0, rss_bytes=0,
        late_start_p99_ns=7_000_000, lag_p99_ns=None, disturbances={},
    )  # fmt: skip
    assert math.isnan(late_ms([trial]))
    assert late_ms([replace(trial, per_agent=(share,))]) == 7.0


def test_rates_of_the_same_trials_have_one_kind_of_mean() -> None:
    """Seen: "unweighted harmonic 1,571, plain 980.9": one client had nothing in one of two trials."""
    harmonic, plain = np.array([3142.0, 0.0]), np.array([3142.0, 306.0])
    of_harmonic = _point(Clients(4), harmonic, "log", 0.95)
    assert of_harmonic.centre == pytest.approx(1571.0)
    assert _point(Clients(4), plain, "log", 0.95).centre == pytest.approx(980.5, abs=0.1), "geometric: below it"
    assert _point(Clients(4), plain, "log", 0.95, plain=True).centre == pytest.approx(1724.0)


def test_a_capacity_that_its_shares_do_not_bear_out_is_never_told_without_that() -> None:
    def capacity_of(*shares: ShareMet) -> str:
        found = ContenderCapacity("a", 6, 1000.0, 990.0, 1010.0, 0, 0, 0, 0, (), None, shares)
        return capacity_text(found, "requests/s")

    held = ShareMet(0.5, 6, 6)
    assert capacity_of(held, ShareMet(0.95, 6, 6)) == "1,000 requests/s (95 % 990 – 1,010)"
    assert capacity_of() == "1,000 requests/s (95 % 990 – 1,010; not confirmed: no trial at a share of it followed)"
    assert capacity_of(held, ShareMet(0.85, 4, 6), ShareMet(0.95, 5, 6)) == (
        "1,000 requests/s (95 % 990 – 1,010; not confirmed: at 85 % it failed in 2 of 6)"
    )


def test_who_failed_every_trial_is_not_called_unsaturated() -> None:
    """Seen: "not saturated" of a server that answered nothing at any load step: nobody knows."""
    nothing = {"state": "failed", "operations": 0, "operations_per_s": 0.0, "service": EMPTY_SUMMARY}
    record = change(run(blocks=6, load_steps=(1, 4, 8)), "apache", None, None, reason="refused", **nothing)
    by_name = {one.name: one for one in compare_run(record).contenders}
    assert by_name["apache"].saturation() == "–" and by_name["apache"].load_steps_measured == 0
    assert by_name["nginx"].saturation() != "–"


def test_a_mail_server_that_failed_every_trial_is_in_no_sentence_on_saturation() -> None:
    unknown = Saturation("dead", Clients(4), math.nan, math.nan, math.nan)
    known = Saturation("fine", Clients(4), 0.02, 0.01, 0.015)
    summary = SimpleNamespace(saturation=(unknown, known), saturated=(), saturated_at_s=5.0)
    (text,) = unsaturated_words(summary, ("dead", "fine"))  # type: ignore[arg-type]
    assert text.startswith("fine is not saturated by response time at any load step")


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1200.0, 1432.0, "1,316 ± 116"),
        (-319.0, 2951.0, "1,316 (0 – 2,951)"),
        (900.0, 2400.0, "1,316 (900 – 2,400)"),
    ],
)
def test_an_interval_of_what_is_counted_ends_at_nothing(low: float, high: float, expected: str) -> None:
    """Seen: "1,316 ± 1,635" messages/s."""
    point = SimpleNamespace(centre=1316.0, low=low, high=high, blocks=6)
    curve = SimpleNamespace(metric="accepted", points=(point,))
    found = SimpleNamespace(curves=(curve,), curve=lambda metric, name: curve)
    assert mail_cells(found, "a", 0) == [expected]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("foreign", "expected"),
    [
        ({"u1@x": 1}, "1 message in 1 mailbox that is not Bakeoff's (u1@x 1)"),
        ({"u1@x": 2, "u2@x": 1}, "3 messages in 2 mailboxes that are not Bakeoff's (u1@x 2, u2@x 1)"),
    ],
)
def test_one_is_told_as_one(foreign: dict[str, int], expected: str) -> None:
    """Seen: "there are 1 message"."""
    assert ForeignMail(foreign).text == expected
