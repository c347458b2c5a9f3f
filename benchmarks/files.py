"""File work beside iozone, fio, a bare loop of pread and dbench: same machine, folder and core, in turn, medians.

    python benchmarks/files.py [FOLDER …] [--repeats 5] [--only records|calls|mix] [--results FILE] [--write]

The folders stand for their file systems. `--results` keeps what was measured in a file, so that parts and folders
can be measured one after the other (`--repeats 0` measures nothing); `--write` puts all of it into
docs/performance.md.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import files_calls
import files_mix
import files_records
from common import ROOT, machine_line, put_table

from bakeoff.core.system.mounts import mount_of

PARTS = {"records": files_records, "calls": files_calls, "mix": files_mix}
FOLDERS = [Path("/dev/shm"), Path("/var/tmp")]


def measure(folders: list[Path], parts: list[str], repeats: int, results: dict[str, Any]) -> None:
    """Adds what is measured to `results`: part → what was measured of each file system."""
    for parent in folders:
        place = mount_of(parent).type
        for part in parts:
            with tempfile.TemporaryDirectory(dir=parent, prefix="bakeoff-bench-") as name:
                found = PARTS[part].measure(Path(name), repeats)
            results.setdefault(part, {})[place] = found
            results["repeats"] = min(repeats, results.get("repeats", repeats))
            print(PARTS[part].table({place: found}), flush=True)


def page(results: dict[str, Any]) -> str:
    """All tables in Markdown."""
    blocks = [f"{machine_line()}; medians of {results['repeats']} interleaved repeats."]
    for part, module in PARTS.items():
        if part in results:
            blocks += [module.table(results[part]), module.summary(results[part])]
    return "\n\n".join(block for block in blocks if block)


def main() -> None:
    """Measures, prints, and writes when asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, default=FOLDERS)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", choices=list(PARTS))
    parser.add_argument("--results", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    kept = given.results
    results = json.loads(kept.read_text()) if kept and kept.exists() else {}
    if given.repeats > 0:
        measure(given.folders, [given.only] if given.only else list(PARTS), given.repeats, results)
    if kept:
        kept.write_text(json.dumps(results, indent=1))
    text = page(results)
    print(text)
    if given.write:
        put_table(ROOT / "docs/performance.md", "files", text)


if __name__ == "__main__":
    main()
