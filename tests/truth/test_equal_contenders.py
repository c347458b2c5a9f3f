"""A/A, the short form: two equal contenders get no winner. `benchmarks/equal.py` does it 20 times."""

from pathlib import Path

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.cli.demo import built_in
from bakeoff.compare import compare_run
from bakeoff.corpus.write import write_corpus
from bakeoff.plan.load import PlanInput, resolve_plan
from bakeoff.run.driver import start_run
from bakeoff.run.observer import PlainObserver
from bakeoff.store.read import read_run

SETTINGS = {"length": "400ms", "ramp_up": "50ms", "ramp_down": "50ms", "mixes": [1, 4]}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    write_corpus("web-static", folder, 1)
    return folder


def bake_off(folder: Path, first: str, second: str, seed: int) -> tuple[str, str | None]:
    """Kind and winner of the primary verdict of a quick run of six blocks."""
    contenders = [{"name": "one", "address": first}, {"name": "two", "address": second}]
    settings = {"suite": "web-static", "size": "quick", "seed": seed}
    plan = resolve_plan(PlanInput("test", settings, dict(SETTINGS), contenders))
    path = folder / f"{seed}.bakeoff"
    with Path("/dev/null").open("w") as quiet:
        start_run(plan, path, LocalAgent(), PlainObserver(quiet))
    verdict = compare_run(read_run(path)).pairs[0].primary.verdict
    return verdict.kind, verdict.winner


def test_equal_contenders_get_no_winner(corpus: Path, tmp_path: Path) -> None:
    """At a true level of 5 % both of two runs err once in 400 tries."""
    with built_in(corpus, 0.0) as first, built_in(corpus, 0.0) as second:
        kinds = [bake_off(tmp_path, first, second, seed)[0] for seed in (1, 2)]
    assert kinds.count("better") < 2


def test_a_known_difference_gets_its_winner(corpus: Path, tmp_path: Path) -> None:
    """2 ms against 4 ms: whatever the machine does meanwhile, this must be seen."""
    with built_in(corpus, 4.0) as slow, built_in(corpus, 2.0) as fast:
        assert bake_off(tmp_path, slow, fast, 1) == ("better", "two")
