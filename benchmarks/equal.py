"""A/A: two equal contenders must not be told apart. Runs N quick bake-offs and counts false winners.

Both contenders are built-in web targets, each a process of its own on core 0, with the same corpus and settings,
the generator on core 1, so any "better" verdict is false. At a true level of 5 % one in 20 runs may err; more than
one in 20 fails the benchmark.

    python benchmarks/equal.py [--runs 20] [--write]
"""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from common import machine_line, put_table

from bakeoff.agents.make import make_agent
from bakeoff.cli.measure.demo import built_in
from bakeoff.compare import compare_run
from bakeoff.plan.load import PlanInput, resolve_plan
from bakeoff.run.driver import start_run
from bakeoff.run.observe.observer import PlainObserver
from bakeoff.store.sqlite.read import read_run
from bakeoff.testdata.corpus.write import write_corpus

ROOT = Path(__file__).resolve().parent.parent


def one_run(path: Path, first: str, second: str, seed: int, length: str) -> tuple[str, float]:
    """A quick bake-off; returns the primary verdict and ratio."""
    plan = resolve_plan(
        PlanInput(
            origin="equal",
            plan={"name": "A/A", "suite": "web-static", "size": "quick", "seed": seed},
            settings={"length": length, "ramp_up": "100ms", "ramp_down": "50ms", "pin": [1]},
            contenders=[{"name": "one", "address": first}, {"name": "two", "address": second}],
        )
    )
    with Path("/dev/null").open("w") as quiet:
        start_run(plan, path, [make_agent()], PlainObserver(quiet))
    primary = compare_run(read_run(path)).pairs[0].primary
    return primary.verdict.kind, primary.ratio


def main() -> int:
    """Runs them and judges."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--length", default="800ms", help="length of one trial")
    parser.add_argument("--write", action="store_true", help="put the figure into docs/performance.md")
    options = parser.parse_args()
    kinds: Counter[str] = Counter()
    ratios = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = folder / "corpus"
        corpus.mkdir()
        write_corpus("web-static", corpus, 1)
        with built_in(corpus, 0.0, core=0) as first, built_in(corpus, 0.0, core=0) as second:
            for run in range(options.runs):
                kind, ratio = one_run(folder / f"{run}.bakeoff", first, second, 1 + run, options.length)
                kinds[kind] += 1
                ratios.append(ratio)
                print(f"run {run + 1}: {kind}, ratio {ratio:.3f}", flush=True)
    false_winners = sum(count for kind, count in kinds.items() if kind == "better")
    text = (
        f"{machine_line()}; {options.runs} quick runs of web-static, 6 blocks, trials of {options.length}: "
        f"**{false_winners} false winners** ({', '.join(f'{count} {kind}' for kind, count in kinds.most_common())}); "
        f"ratios from {min(ratios):.3f} to {max(ratios):.3f}."
    )
    print(text)
    if options.write:
        put_table(ROOT / "docs/performance.md", "equal", text)
    return 0 if false_winners <= options.runs / 20 else 1


if __name__ == "__main__":
    sys.exit(main())
