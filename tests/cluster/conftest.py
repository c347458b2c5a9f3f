"""Machines for the tests of clusters (see machines.py). All tests here run in one process, one after the other.

A cluster takes many seconds to start: `lab` and `fleet` serve several files each, in the order of
their names. The last of them ends it.
"""

from collections.abc import Callable, Iterator

import pytest

from tests.cluster.clusters import Cluster, start
from tests.cluster.machines import Bench, Machine, lacking


@pytest.fixture(scope="package")
def bench() -> Iterator[Bench]:
    """An empty bench, which is taken away after the tests of this folder."""
    reason = lacking()
    if reason:
        pytest.fail(reason, pytrace=False)
    made = Bench()
    try:
        yield made
    finally:
        made.remove()


@pytest.fixture(scope="package")
def machines(bench: Bench) -> Callable[[int], list[Machine]]:
    """Makes machines on the bench: `machines(3)`."""
    return bench.add


@pytest.fixture(scope="package")
def lab(machines: Callable[[int], list[Machine]]) -> tuple[Cluster, Machine, Machine]:
    """A cluster of one machine that has joined, that machine, and one that has not."""
    head, agent, other = machines(3)
    return start(head, agent), agent, other


@pytest.fixture(scope="package")
def fleet(machines: Callable[[int], list[Machine]]) -> tuple[Cluster, list[Machine]]:
    """A cluster whose head controls runs, and three agents."""
    head, *agents = machines(4)
    return start(head, *agents), agents
