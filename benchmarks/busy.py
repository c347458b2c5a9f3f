"""Equals, a true 5 %, and twice the delay beside busy loops: no call is false, and what cannot be told is withheld.

Two built-in web targets with a programmed delay, each a process of its own; beside them as many loops of normal
priority as the machine has processors. Of equals each "better" is false, and so is each size that is told as certain;
of contenders with delays of 4.0 and 4.2 ms each call of the slower one. One false call fails the benchmark. That calls
are made at all is shown by a quarter as many runs of delays of 4 and 8 ms: it fails when none of them is called.

    python benchmarks/busy.py [--runs 40] [--loops 2] [--write]
"""

import argparse
import contextlib
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from common import machine_line, put_table

from bakeoff.agents.make import make_agent
from bakeoff.cli.measure.demo import built_in
from bakeoff.compare import compare_run
from bakeoff.plan.load import PlanInput, resolve_plan
from bakeoff.run.driver import start_run
from bakeoff.run.observe.observer import PlainObserver
from bakeoff.store.records.marks import GENERATOR_WAITED, OTHER_LOAD
from bakeoff.store.sqlite.read import read_run
from bakeoff.testdata.corpus.write import write_corpus

ROOT = Path(__file__).resolve().parent.parent
DELAY_MS, SLOWER_MS, TWICE_MS = 4.0, 4.2, 8.0
PAIRS = {DELAY_MS: "equals", SLOWER_MS: "a true difference of 5 %", TWICE_MS: "twice the delay"}
# A loop ends by itself, whatever becomes of the benchmark.
LOOP = "import time\nend = time.monotonic() + 3600\nwhile time.monotonic() < end:\n    pass\n"


@contextlib.contextmanager
def busy(loops: int) -> Iterator[None]:
    """So many loops of normal priority."""
    processes = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def one_run(path: Path, first: str, second: str, seed: int, length: str, blocks: int) -> tuple[str, str | None, float]:
    """A short bake-off; returns the verdict, with its winner, and the share of trials that were disturbed."""
    plan = resolve_plan(
        PlanInput(
            origin="busy",
            plan={"name": "busy", "suite": "web-static", "size": "quick", "seed": seed, "blocks": blocks},
            settings={"length": length, "ramp_up": "100ms", "ramp_down": "50ms", "clients": [4]},
            contenders=[{"name": "one", "address": first}, {"name": "two", "address": second}],
        )
    )
    with Path("/dev/null").open("w") as quiet:
        start_run(plan, path, [make_agent()], PlainObserver(quiet))
    run = read_run(path)
    marked = sum(GENERATOR_WAITED in trial.marks or OTHER_LOAD in trial.marks for trial in run.trials)
    verdict = compare_run(run).pairs[0].primary.verdict
    kind = verdict.kind if verdict.sized else f"{verdict.kind}, size withheld"
    return kind, verdict.winner, marked / len(run.trials)


def runs_of(folder: Path, corpus: Path, slower_ms: float, options: argparse.Namespace) -> tuple[str, bool]:
    """All runs of one pair: what came out in words, and whether it is as it has to be."""
    runs = options.runs if slower_ms != TWICE_MS else -(-options.runs // 4)
    kinds, winners, marked = Counter[str](), Counter[str | None](), 0.0
    with built_in(corpus, DELAY_MS) as first, built_in(corpus, slower_ms) as second:
        for run in range(runs):
            path = folder / f"{slower_ms}-{run}.bakeoff"
            kind, winner, share = one_run(path, first, second, 1 + run, options.length, options.blocks)
            kinds[kind] += 1
            winners[winner] += 1
            marked += share
            print(f"run {run + 1}: {kind} {winner or ''}, {share:.0%} of trials marked", flush=True)
    equal = slower_ms == DELAY_MS
    false = sum(winners[name] for name in (("one", "two") if equal else ("two",)))
    texts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    right = false == 0 and (slower_ms != TWICE_MS or winners["one"] > 0)
    words = f"{PAIRS[slower_ms]}: **{false} false calls of {runs}** ({texts}; {marked / runs:.0%} of trials marked)"
    return words, right


def main() -> int:
    """Runs them and judges."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--blocks", type=int, default=12)  # a direction takes 11 beside other load
    parser.add_argument("--loops", type=int, default=2)
    parser.add_argument("--length", default="400ms", help="length of one trial")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/performance.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, busy(options.loops):
        folder = Path(name)
        corpus = folder / "corpus"
        corpus.mkdir()
        write_corpus("web-static", corpus, 1)
        found = [runs_of(folder, corpus, slower_ms, options) for slower_ms in PAIRS]
    text = (
        f"{machine_line()}; {options.loops} busy loops; runs of web-static, {options.blocks} blocks, trials of "
        f"{options.length}; {'; '.join(words for words, _ in found)}."
    )
    print(text)
    if options.write:
        put_table(ROOT / "docs/performance.md", "busy", text)
    return 0 if all(right for _, right in found) else 1


if __name__ == "__main__":
    sys.exit(main())
