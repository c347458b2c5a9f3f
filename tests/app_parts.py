"""What an application server says of its time, held against the time that the client measured."""

from typing import Any

PARTS = ("network", "queue", "service")


def means_of(result: dict[str, Any]) -> dict[str, float]:
    """The mean time of each step of a trial, ns."""
    return {step["name"]: step["summary"]["mean_ns"] for step in result["steps"]}


def assert_parts_fill_the_whole(result: dict[str, Any]) -> None:
    """Network, queue and service are all of the service time but for the operations that have no parts: the first on
    each connection, which has to be made. Those took no longer than the longest. Histograms have three digits.
    """
    whole = result["service"]
    (counted,) = {step["summary"]["count"] for step in result["steps"] if step["name"] in PARTS}
    parts_ns = counted * sum(means_of(result)[name] for name in PARTS)
    without = whole["count"] - counted
    assert without == next(step["summary"]["count"] for step in result["steps"] if step["name"] == "connect")
    rest_ns = whole["count"] * whole["mean_ns"] - parts_ns
    assert -0.002 * parts_ns <= rest_ns <= without * whole["max_ns"] + 0.002 * parts_ns
