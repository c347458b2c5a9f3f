"""`bakeoff`, for which the machine of the tests may be as busy as it likes: run as a program, it takes the words of the
command.

A trial during which the generator did not run, or did not begin what was due, is voided: it says nothing about the
contender. One during which it waited, or others took the processors, is marked, and verdicts may be withheld for it.
Tests of other things run this, so that a machine that stood still or is busy decides none of them; what voids and marks
a trial has tests of its own (`tests/unit/run/test_judge.py`, `tests/truth/test_stopped_generator.py`).
"""

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

# `-P`: what lies beside this file is no module of the command.
COMMAND = [sys.executable, "-P", str(Path(__file__).resolve())]
MEASURING = {"capacity", "challenge", "demo", "resume", "run", "soak"}


def be_patient(put: Callable[[Any, str, float], None] = setattr) -> None:
    """In this process no trial, and no row of one, is voided or marked because of the machine."""
    from bakeoff.agents.machine import other_load
    from bakeoff.run.modes import search_probe, soak
    from bakeoff.run.outcome import disturbances, judge, void_intervals

    for module in (disturbances, soak, void_intervals):
        put(module, "STOP_S", math.inf)
    put(disturbances, "LOST_SHARE", math.inf)
    put(disturbances, "STOLEN_SHARE", math.inf)
    put(judge, "UNDONE_SHARE", 1.0)
    put(judge, "LATE_START_P99_NS", math.inf)
    put(judge, "SCHEDULE_LEAST_NS", math.inf)
    put(search_probe, "LATE_SHARE", math.inf)
    put(search_probe, "LATE_NS", math.inf)
    put(judge, "WAIT_SHARE", math.inf)
    put(judge, "MOST_WAITED", math.inf)
    put(judge, "OTHER_LOAD_SHARE", math.inf)
    put(other_load, "OTHER_LOAD_SHARE", math.inf)


if __name__ == "__main__":
    from bakeoff.cli import main

    sys.argv[0] = "bakeoff"
    if MEASURING & set(sys.argv[1:2]):
        be_patient()
    main()
