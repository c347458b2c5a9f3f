"""Several command lines of bakeoff, from a JSON file, one after the other: `python -m tests.files.several FILE`.

Each runs in a process of its own, forked from this one, which has imported everything: in the emulated guest the
imports take longer than a run. Ends at the first that fails, with its status.
"""

import json
import os
import sys
from pathlib import Path

from bakeoff.cli.app import main


def run(words: list[str]) -> int:
    """Exit status of one command line."""
    child = os.fork()
    if child == 0:
        sys.argv = ["bakeoff", *words]
        main()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


for command in json.loads(Path(sys.argv[1]).read_text()):
    if status := run(command):
        sys.exit(status)
