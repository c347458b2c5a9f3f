"""No figure depends on the wall clock: it can be set in the middle of a trial, on one machine of several."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTHON = re.compile(r"\b(time\.time(_ns)?\(|datetime\.(now|utcnow|today)\(|date\.today\(|CLOCK_REALTIME)")
RUST = re.compile(r"\b(SystemTime|CLOCK_REALTIME)\b")
# Who may read it, and what for.
MAY = {
    "run/trials.py": "when a trial began, as people tell it",
    "run/modes/soak.py": "when a stretch began, which a reboot may have parted from the last one",
    "agents/remote/host.py": "when a result was put aside",
    "compat/httperf/run.py": "when a trial began",
    "store/sqlite/write.py": "when a run was written",
    "compat/iozone/run.py": "the line that IOzone begins with",
    "cli/measure/demo.py": "the name of a folder",
    "cli/measure/run.py": "the name of a run file",
    "cli/measure/aa.py": "the name of a run file",
    "disclosure/collect/machines.py": "when a machine told its facts",
    "cli/measure/campaign.py": "the name of the folder of a campaign",
}
RUST_MAY = {
    "platform/src/clock.rs": "to notice that it was set",
    "platform/src/file/folder.rs": "a name that no other process gives",
}


def readers(folder: Path, ending: str, pattern: re.Pattern[str], comment: str) -> set[str]:
    """Files whose code reads the wall clock."""
    found = set()
    for path in folder.rglob(f"*.{ending}"):
        text = "\n".join(line.split(comment)[0] for line in path.read_text(encoding="utf-8").splitlines())
        if pattern.search(text):
            found.add(str(path.relative_to(folder)))
    return found


def test_python_reads_the_wall_clock_only_to_say_when_something_was() -> None:
    assert readers(ROOT / "python/bakeoff", "py", PYTHON, "#") == set(MAY)


def test_the_engine_reads_it_only_to_notice_that_it_was_set() -> None:
    crates = ROOT / "crates"
    found = {name for name in readers(crates, "rs", RUST, "//") if not name.startswith("targets/") and "/src/" in name}
    assert found == set(RUST_MAY)
