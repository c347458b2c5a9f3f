"""A generator that polls for replies instead of sleeping measures the same, and tells what it took."""

from collections.abc import Callable

from tests.conftest import Target, run_trial, web_workload


def test_polling_counts_alike_and_is_told_apart_from_work(target: Callable[..., Target]) -> None:
    server = target(delay_s=0.002)
    asleep = run_trial(web_workload(server.address), clients=2, max_operations=200)
    polling = run_trial(web_workload(server.address), clients=2, max_operations=200, poll=True)
    assert server.counts()["requests"] == asleep["operations"] + polling["operations"] == 400
    assert polling["service"]["min_ns"] >= 2e6
    assert asleep["generator"]["polled_s"] == 0.0
    assert asleep["generator"]["busy_share"] == asleep["generator"]["cpu_share"]
    assert polling["generator"]["polled_s"] > 0.0
    assert polling["generator"]["busy_share"] < polling["generator"]["cpu_share"]


def test_who_waits_long_sleeps(target: Callable[..., Target]) -> None:
    """Replies after 50 ms: of the time that passes, only a small part is looked through."""
    result = run_trial(web_workload(target(delay_s=0.05).address), length_s=1.0, poll=True)
    assert 0.0 < result["generator"]["polled_s"] < 0.1
