"""Machines for the tests of clusters (see machines.py). All tests here run in one process, one after the other."""

from collections.abc import Callable, Iterator

import pytest

from tests.cluster.machines import Bench, Machine, lacking


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    """An empty bench, which is taken away after the tests of a file."""
    reason = lacking()
    if reason:
        pytest.fail(reason, pytrace=False)
    made = Bench()
    try:
        yield made
    finally:
        made.remove()


@pytest.fixture(scope="module")
def machines(bench: Bench) -> Callable[[int], list[Machine]]:
    """Makes machines on the bench of this file: `machines(3)`."""
    return bench.add
