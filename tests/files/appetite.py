"""How much memory a trial takes, in a process of its own: what other tests left in this one does not count."""

import json
import subprocess
import sys
from typing import Any

from tests.control import PATIENCE_S

SCRIPT = """
import ctypes, json, sys
from pathlib import Path
from bakeoff.agents.local import LocalAgent
from bakeoff.agents.spec import TrialSpec

def high_water():
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024

assert ctypes.CDLL(None).prctl(41, 1, 0, 0, 0) == 0  # PR_SET_THP_DISABLE: pages are small, whatever the kernel prefers
agent = LocalAgent()
before = high_water()
spec = TrialSpec.model_validate(json.loads(sys.argv[1]))
result = agent.start(spec).go().wait(900).result
told = {"fatal": result.fatal, "errors": result.errors, "operations": result.operations}
print(json.dumps({**told, "clients": sum(c.operations > 0 for c in result.per_client), "grown": high_water() - before}))
"""


def appetite(spec: dict[str, Any]) -> dict[str, Any]:
    """`fatal`, `errors`, `operations`, the `clients` that did something, and by how many bytes the process has
    `grown` at its largest.
    """
    command = [sys.executable, "-c", SCRIPT, json.dumps(spec)]
    out = subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE_S).stdout
    found: dict[str, Any] = json.loads(out)
    return found
