"""What the benchmarks share: the machine in one line, tables in docs/performance.md, and a trial of Bakeoff's own."""

import os
import platform
import re
from datetime import date
from pathlib import Path
from typing import Any

from bakeoff.agents.make import make_agent
from bakeoff.agents.spec import TrialSpec

ROOT = Path(__file__).resolve().parent.parent


def machine_line() -> str:
    """CPU, cores, kernel and date, for the line above a table."""
    model = "unknown CPU"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    version = ".".join(platform.release().split(".")[:2])
    return f"{model}, {os.cpu_count()} cores, Linux {version}, {date.today().isoformat()}"


def put_table(path: Path, name: str, text: str) -> None:
    """Replaces what stands between `<!-- name -->` and `<!-- /name -->` in a Markdown file."""
    page = path.read_text()
    block = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)", re.DOTALL)
    if not block.search(page):
        raise SystemExit(f"{path} has no place for the table `{name}`")
    path.write_text(block.sub(lambda found: found[1] + text + found[2], page))


def run_trial(workload: dict[str, Any], clients: int = 1, **settings: Any) -> dict[str, Any]:
    """The workload's own figures of a trial; `settings` are those of a TrialSpec."""
    settings = {"load": {"clients": clients}, "length_s": 600, "seed": 1, **settings}
    spec = TrialSpec.model_validate({"workload": workload, **settings})
    outcome = make_agent().start(spec).go().wait(spec.length_s + 60)
    if outcome is None or outcome.result.fatal:
        raise SystemExit(f"the trial failed: {outcome and outcome.result.fatal}")
    return outcome.result.workload or {}
