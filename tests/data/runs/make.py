"""Make the run files of earlier versions, each by the store of the commit that wrote it.

    .venv/bin/python tests/data/runs/make.py

Needs the history of the repository. What is in the files is the same in all: two contenders, two blocks, a trial that
was interrupted and repeated, one that failed, events and histograms.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
# Version 1 grew twice without another number; 1-to-2 is a file of version 1 in which a run went on under version 2.
COMMITS = {
    "version-1a": "7ee1d6d",
    "version-1b": "e6470a4",
    "version-1": "fae9506",
    "version-2": "c7099e5",
    "version-3": "ff494e5",
    "version-4": "d1a2e47",
    "version-5": "28e3c60",
    "version-6": "7bdc9da",
    "version-7": "a75fa25",
}
WRITE = '''
import inspect, json, hashlib, sys
from pathlib import Path
from bakeoff.store import write
from bakeoff.store.records import *

path, half = Path(sys.argv[1]), sys.argv[2]
write.utc_now = lambda: "2026-11-20T10:00:09.000+00:00"
try:
    from bakeoff.mix import Clients
    load = Clients(4)
except ImportError:
    load = 4
SUMMARY = Summary(100, 1500.5, 1400, 2000, 2500, 2600, 3000, 900)
EMPTY = Summary(0, None, None, None, None, None, None, None)
PLAN = {"suite": "web-static", "seed": 1}
HDR = bytes.fromhex("1c84931300000005000000000000000300000000000000010000034630b8a0003ff0000000000000cf0f02cd0f")


def made(kind, /, **fields):
    """A record with the fields that its version knows."""
    return kind(**{name: value for name, value in fields.items() if name in inspect.signature(kind).parameters})


def trial(order, state="ok", reason="", operations=100):
    return made(
        TrialRecord, id=0, contender="ab"[order % 2], mix_clients=4, mix=load, block=order // 2 + 1, order=order,
        seed=42,
        state=state, reason=reason, marks=("few-operations",), started_at="2026-11-20T10:00:0%d.000+00:00" % order,
        window_s=2.0, operations=operations, operations_per_s=operations / 2.0, bytes_in=5000, bytes_out=700,
        bytes_per_s=2500.0, errors={"refused": 2}, statuses={"2xx": 98, "4xx": 2}, service=SUMMARY,
        per_operation=(OperationRecord("static/223", 90, {"refused": 2}, 4000, 600, SUMMARY),
                       OperationRecord("dynamic", 10, {}, 1000, 100, EMPTY)),
        steps=(StepRecord("connect", SUMMARY), StepRecord("first_byte", EMPTY)),
        per_second=tuple(made(SecondRecord, second=second, phase=phase, operations=50, errors=1, bytes_in=2500,
                              service=SUMMARY, width_s=0.5) for second, phase in enumerate(["ramp_up", "window"])),
        per_client=(ClientRecord(0, 60, 1, 3000, 1.9), ClientRecord(1, 40, 1, 2000, 1.8)),
        per_agent=(ShareRecord("local", 4, "", 2.0, operations, {"refused": 2}, 5000, 700, SUMMARY, 0.5, 20.25, 0.125,
                               1 << 20, None, 2500, {}),) if "AgentRecord" in globals() else (),
        connections_opened=102, connections={"opened": 102, "failed": 1}, generator_cpu_share=0.5,
        generator_cpu_us_per_operation=20.25, generator_late_start=EMPTY, generator_lag=SUMMARY,
        generator_rss_bytes=1 << 20, fairness_jain=0.96, workload={"extra": [1, 2]}, generator_run_delay_share=0.125,
    )


EVENT = EventRecord("2026-11-20T10:00:01.000+00:00", "warning", "something", None)
if half == "second":
    with write.RunWriter.reopen(path) as writer:
        writer.add_trial(trial(3), {"service": HDR})
        writer.finish()
    sys.exit()
text = json.dumps(PLAN, sort_keys=True, separators=(",", ":"))
facts = {"cpu": {"model": "test"}, "kernel": "6.1"}
found = {"content": {"corpus": {"files": 3}}}
divided = "AgentRecord" in globals()
header = made(
    write.RunHeader, name="demo", suite="web-static", kind="web", plan=PLAN,
    plan_hash=hashlib.sha256(text.encode()).hexdigest(),
    tool={"version": "0.1.0"},
    environment=found if divided else facts | found, agents=[AgentRecord("local", facts)] if divided else [],
    contenders=[ContenderRecord("a", "http://127.0.0.1:1", None), ContenderRecord("b", "http://127.0.0.1:2", "true")],
    mixes=[load], blocks_planned=2, delta=0.05,
)
planned = [PlannedTrial(i, "ab"[i % 2], load, i // 2 + 1, 42) for i in range(4)]
with write.RunWriter.create(path, header, planned) as writer:
    writer.set_null_rate(1_000_000.0)
    writer.add_events([EVENT])
    writer.add_trial(trial(0, "interrupted", "stopped by the user", 7), {"service": HDR}, [EVENT])
    writer.add_trial(trial(0), {"service": HDR, "op/static/223": HDR}, [EVENT])
    writer.add_trial(trial(1), {"service": HDR})
    writer.add_trial(trial(2, "failed", "no operation succeeded", 0), {})
    if half != "first":
        writer.add_trial(trial(3), {"service": HDR})
        if "SoakRowRecord" in globals():
            row = dict(order=3, contender="b", mix=load, block=2, stretch=1, started_at="2026-11-20T10:00:03.000+00:00",
                       length_s=2.0, operations=100, errors={"refused": 2}, bytes_in=5000, bytes_out=700, cpu_share=0.5,
                       run_delay_share=0.125, stolen_s=0.25, rss_bytes=1 << 20, service=SUMMARY)
            writer.add_soak_row(SoakRowRecord(number=0, response=SUMMARY, **row), HDR, HDR)
            writer.add_soak_row(SoakRowRecord(number=1, response=None, **row), HDR, None)
        writer.finish()
'''


def write_by(commit: str, path: Path, half: str) -> None:
    """Run the writing script on the package as it was."""
    with tempfile.TemporaryDirectory() as folder:
        package = subprocess.run(
            ["git", "archive", commit, "python/bakeoff"], cwd=ROOT, capture_output=True, check=True
        )
        subprocess.run(["tar", "-x", "-C", folder], input=package.stdout, check=True)
        environment = {**os.environ, "PYTHONPATH": f"{folder}/python"}
        subprocess.run([sys.executable, "-c", WRITE, str(path), half], env=environment, check=True)


def main() -> None:
    """All of them, anew."""
    for name, commit in COMMITS.items():
        path = HERE / f"{name}.bakeoff"
        path.unlink(missing_ok=True)
        write_by(commit, path, "whole")
    path = HERE / "version-1-to-2.bakeoff"
    path.unlink(missing_ok=True)
    write_by(COMMITS["version-1"], path, "first")
    write_by(COMMITS["version-2"], path, "second")


if __name__ == "__main__":
    main()
