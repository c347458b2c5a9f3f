"""What the benchmarks share: the machine in one line, and tables in docs/performance.md."""

import os
import platform
import re
from datetime import date
from pathlib import Path


def machine_line() -> str:
    """CPU, cores, kernel and date, for the line above a table."""
    model = "unknown CPU"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return f"{model}, {os.cpu_count()} cores, Linux {platform.release()}, {date.today().isoformat()}"


def put_table(path: Path, name: str, text: str) -> None:
    """Replaces what stands between `<!-- name -->` and `<!-- /name -->` in a Markdown file."""
    page = path.read_text()
    block = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)", re.DOTALL)
    if not block.search(page):
        raise SystemExit(f"{path} has no place for the table `{name}`")
    path.write_text(block.sub(lambda found: found[1] + text + found[2], page))
