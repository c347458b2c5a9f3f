"""Several command lines of `bakeoff run`, from a JSON file, one after the other: `python -m tests.files.several FILE`.

Each runs in a process of its own, forked from this one, which has imported what they use: in the emulated guest the
imports take as long as all runs together. Ends at the first that fails, with its status.
"""

import importlib
import json
import os
import pkgutil
import sys
from pathlib import Path

from bakeoff.cli.app import main
from bakeoff.cli.verbs import load
from bakeoff.kinds import load as load_part
from tests.patient import be_patient

USED = (
    "bakeoff._engine",
    "bakeoff.compare",
    "bakeoff.report.compose",
    "bakeoff.report.renderers.terminal",
    "scipy.optimize",
)
# Packages whose modules are loaded one by one, when a run tells its result.
OF_RESULTS = ("bakeoff.audit", "bakeoff.compare.shapes", "bakeoff.report.audit", "bakeoff.report.narrate")


def run(words: list[str]) -> int:
    """Exit status of one command line."""
    child = os.fork()
    if child == 0:
        sys.argv = ["bakeoff", *words]
        main()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# An emulated processor stands still whenever the host is busy, which is no news of the folders.
be_patient()
load("run")
for module in USED:
    importlib.import_module(module)
for package in map(importlib.import_module, OF_RESULTS):
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(found.name)
for kind in ("file-matrix", "file-blocks", "file-mix"):
    for layer in ("plan", "run", "compare", "report", "figures"):
        load_part(kind, layer, default=())
for command in json.loads(Path(sys.argv[1]).read_text()):
    if status := run(command):
        sys.exit(status)
