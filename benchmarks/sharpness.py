"""How long a run takes until it calls a true difference, and how often it calls equals different: the table before and
after trials that are compared follow each other.

Three nginx: two of one configuration, and one that is some 5 % slower by construction, which is measured by a bare
client in turns before anything else. A repetition is one run of each arm, in random order: `contenders` (before: each
contender has all its load steps in one piece) and `load_steps` (after: all contenders back to back at each load step),
otherwise alike, with the same analyses fixed in advance. Everything that was measured is in a JSON file as soon as it
is there; the benchmark goes on from it.

    python benchmarks/sharpness.py [--minutes 60] [--repetitions 20] [--patterns 220] [--output FILE] [--write]
"""

import argparse
import io
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from common import machine_line, put_table
from sharpness_servers import CLIENTS, NAMES, Server, bare_blocks, build_floor, difference, three_servers
from sharpness_table import is_called, table

from bakeoff.agents.make import make_agent
from bakeoff.compare import compare_run
from bakeoff.core.system.atomic_write import write_whole
from bakeoff.plan.load import PlanInput, resolve_plan
from bakeoff.plan.model import Plan
from bakeoff.run.driver import RunInterruptedError, start_run
from bakeoff.run.observe.observer import PlainObserver
from bakeoff.run.prompts import Prompts, Standing
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.sqlite.read import read_run

ROOT = Path(__file__).resolve().parent.parent
ARMS = ("contenders", "load_steps")
TRUTH = 0.05
# Patterns with which the slower server is tried first, and blocks of bare trials: to find how many it takes, to know.
PROBE, PROBE_BLOCKS, KNOWN_BLOCKS, BARE_S = 60, 6, 14, 0.35
# What a run takes beside the length of its trials, s: before the first one, and for each.
SETUP_TEARDOWN_S, BETWEEN_S = 4.0, 0.07
SERVER_CORE, CLIENT_CORE = 0, 1
SURE_TIMES = 4.0  # the difference, in halves of its interval


class Stopwatch(PlainObserver):
    """Knows how long ago the first trial was about to begin, less what the analyses took."""

    def __init__(self) -> None:
        super().__init__(io.StringIO())
        self.began = 0.0

    def on_run_start(self, plan: Plan, trials: int) -> None:
        self.began = time.monotonic()
        super().on_run_start(plan, trials)


def one_run(
    path: Path, servers: Mapping[str, Server], arm: str, seed: int, options: argparse.Namespace, length_s: float
) -> dict[str, Any]:
    """A run of one arm: its verdicts at each analysis and when that was, and the rate of each trial."""
    analyses = [int(analysis) for analysis in options.analyses.split(",")]
    settings = {"length": f"{length_s * 1e3:.0f}ms", "ramp_up": "40ms", "ramp_down": "10ms", "keep_alive": False}
    settings |= {"clients": ",".join(map(str, CLIENTS))} | ({"pin": [CLIENT_CORE]} if options.pinned else {})
    head = {"name": "sharpness", "suite": "web-url", "seed": seed, "order": arm, "delta": "2%"}
    plan = resolve_plan(
        PlanInput(
            origin="sharpness",
            plan={**head, "analyses": analyses, "until": "clear"},
            settings=settings,
            contenders=[{"name": name, "address": server.url} for name, server in servers.items()],
        )
    )
    watch, taken, calls = Stopwatch(), 0.0, list[dict[str, Any]]()

    def analyse(file: Path) -> Standing:
        nonlocal taken
        at = time.monotonic()
        calls.append(_calls(read_run(file), analyses[len(calls)], at - watch.began - taken))
        taken += time.monotonic() - at
        return Standing(is_called(calls[-1]), "the slower one is called that, or not yet")

    began = time.time()
    start_run(plan, path, [make_agent()], watch, Prompts(analyse=analyse))
    if not is_called(calls[-1]):
        analyse(path)
    run = read_run(path)
    trials = [
        (
            t.block,
            t.load_step.clients,
            t.contender,
            t.operations_per_s if t.state == "ok" else None,
            t.order,
            t.started_at,
        )
        for t in run.trials
    ]
    return {"arm": arm, "seed": seed, "at": began, "wall_s": calls[-1]["s"], "analyses": calls, "trials": trials}


def _calls(run: RunRecord, blocks: int, elapsed_s: float) -> dict[str, Any]:
    """The verdicts at a analysis: who is called the better of the pairs, None where nobody is."""
    pairs = {f"{pair.baseline}/{pair.contender}": pair.primary for pair in compare_run(run).pairs}
    found = {name: [end.verdict.kind, end.verdict.winner, end.ratio, end.low, end.high] for name, end in pairs.items()}
    withheld = {name: end.verdict.text for name, end in pairs.items() if end.verdict.kind == "withheld"}
    return {"blocks": blocks, "s": round(elapsed_s, 3), "pairs": found, "withheld": withheld}


def know(folder: Path, data: dict[str, Any], options: argparse.Namespace) -> None:
    """Find by bare trials how many patterns make the third server slower by 5 %, and measure how much it then is."""
    if "known" in data:
        return
    floor = build_floor(folder)
    cores = (SERVER_CORE, CLIENT_CORE) if options.pinned else (None, None)
    patterns = options.patterns or _patterns(folder, floor, cores)
    with three_servers(folder / "known", patterns, cores[0]) as servers:
        logs, used_us = bare_blocks(floor, servers, KNOWN_BLOCKS, BARE_S, cores[1], 2)
    data["known"] = {"patterns": patterns, "logs": logs, "worker_us": used_us}
    mean, half, _ = difference(logs, NAMES[0], NAMES[2])
    print(f"{patterns} patterns: slower by {mean:.1%} ± {half:.1%} for a bare client; worker {used_us} µs a request")


def _patterns(folder: Path, floor: Path, cores: tuple[int | None, int | None]) -> int:
    """How many of them make the third server slower by 5 %, as far as a bare client sees it."""
    with three_servers(folder / "probe", PROBE, cores[0]) as servers:
        logs, used_us = bare_blocks(floor, servers, PROBE_BLOCKS, BARE_S, cores[1], 1)
    slower, half, _ = difference(logs, NAMES[0], NAMES[2])
    if slower < SURE_TIMES * half:  # a busy machine: what the worker uses is known all the same
        slower = used_us[NAMES[2]] / used_us[NAMES[0]] - 1.0
    return max(1, min(1000, round(PROBE * TRUTH / max(slower, TRUTH / 10))))


def main() -> int:
    """Measures what is not in the file yet, and prints the table of what is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="all of it, of this call")
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument(
        "--interim-analyses",
        default="6,12,18,24",
        help="blocks at which is judged; a run ends when the slower one is called, or at the last",
    )
    parser.add_argument("--length", type=float, help="of a trial, seconds; by default what the minutes allow")
    parser.add_argument("--patterns", type=int, help="of the slower server, where they are known; else they are sought")
    parser.add_argument("--pinned", action="store_true", help="servers on core 0, the generator on core 1")
    parser.add_argument("--output", type=Path, default=ROOT / "target/sharpness.json")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    options = parser.parse_args()
    data = _read(options)
    until = time.monotonic() + 60.0 * options.minutes
    with tempfile.TemporaryDirectory(prefix="bakeoff-sharpness-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        know(folder, data, options)
        data.setdefault("length_s", options.length or _length_s(until - time.monotonic(), options))
        _write(options.output, data)
        core = SERVER_CORE if options.pinned else None
        with three_servers(folder / "runs", data["known"]["patterns"], core) as servers:
            _repeat(folder, data, servers, options, until)
    text = table(data)
    print(text)
    if options.write:
        put_table(ROOT / "docs/performance.md", "sharpness", text)
    return 0


def _repeat(
    folder: Path, data: dict[str, Any], servers: Mapping[str, Server], options: argparse.Namespace, until: float
) -> None:
    """Repetition after repetition, as far as the time goes; those that are there are not done again."""
    done = {(run["repetition"], run["arm"]) for run in data["runs"]}
    longest_s = 0.0
    for repetition in range(1, options.repetitions + 1):
        arms = [arm for arm in ARMS if (repetition, arm) not in done]
        random.Random(repetition).shuffle(arms)
        for arm in arms:
            began = time.monotonic()
            if began + longest_s > until:
                print(f"the minutes are over at repetition {repetition}: call it again to go on", flush=True)
                return
            path = folder / f"{repetition}-{arm}.bakeoff"
            load = os.getloadavg()[0]
            run = one_run(path, servers, arm, 1000 + repetition, options, data["length_s"])
            path.unlink()
            data["runs"].append({"repetition": repetition, "load_before": load, **run})
            _write(options.output, data)
            longest_s = max(longest_s, time.monotonic() - began)
            texts = ", ".join(f"{name} {end[0]} {end[2]:.3f}" for name, end in run["analyses"][-1]["pairs"].items())
            print(f"repetition {repetition}, {arm}: {run['wall_s']:.1f} s; {texts}", flush=True)


def _length_s(left_s: float, options: argparse.Namespace) -> float:
    trials = int(options.analyses.split(",")[-1]) * len(CLIENTS) * len(NAMES)
    run_s = left_s / (len(ARMS) * options.repetitions)
    length_s = (run_s - SETUP_TEARDOWN_S) / trials - BETWEEN_S
    if length_s < 0.1:
        raise SystemExit(
            f"{left_s / 60:.0f} minutes leave {length_s:.2f} s for a trial: give more, or fewer repetitions"
        )
    return round(length_s, 2)


def _read(options: argparse.Namespace) -> dict[str, Any]:
    if not options.output.exists():
        options.output.parent.mkdir(parents=True, exist_ok=True)
        how = {"analyses": options.analyses, "pinned": options.pinned, "machine": machine_line()}
        return {**how, "runs": []}
    data: dict[str, Any] = json.loads(options.output.read_text())
    if (data["analyses"], data["pinned"]) != (options.analyses, options.pinned):
        raise SystemExit(f"{options.output} was measured with other analyses or cores: choose another --output")
    return data


def _write(path: Path, data: Mapping[str, Any]) -> None:
    write_whole(path, json.dumps(data), advice="choose another with --output")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (KeyboardInterrupt, RunInterruptedError):
        sys.exit("stopped: what was measured is in the file, call it again to go on")
