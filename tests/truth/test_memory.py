"""The generator's memory: small, flat, and bounded with many connections. Measured in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Callable

from tests.conftest import Target

MIB = 1 << 20
CODE = """
import json, sys
from bakeoff import _engine
from tests.conftest import web_workload
address, clients, length, think, classes = json.loads(sys.argv[1])
def rss():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
workload = web_workload(address)
one = workload["classes"][0]
workload["classes"] = [dict(one, name=f"class-{n}") for n in range(classes)]
spec = dict(workload=workload, clients=clients, length_s=length, think_s=think, delay_s=length / 4, seed=1)
before = rss()
handle = _engine.start(json.dumps(spec))
assert handle.wait(length / 2) is None
early = rss()
assert handle.wait(length / 2 - 0.3) is None
late = rss()
result = json.loads(handle.wait(30).json())
used = result["generator"]["rss_bytes"] - before
print(json.dumps([used, late - early, result["connections"], result["errors"]]))
"""


def measure(address: str, clients: int, length_s: float, think_s: float, classes: int) -> list[object]:
    arguments = json.dumps([address, clients, length_s, think_s, classes])
    command = [sys.executable, "-c", CODE, arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    result: list[object] = json.loads(done.stdout)
    return result


def test_sixty_clients_fit_in_32_mib_and_memory_stays_flat(target: Callable[..., Target]) -> None:
    used, grown, _, errors = measure(target().address, 60, 6.0, 0.0, 9)
    assert errors == {}
    assert isinstance(used, int)
    assert used < 32 * MIB
    assert isinstance(grown, int)
    assert grown < 2 * MIB


def test_ten_thousand_idle_connections_fit_in_256_mib(target: Callable[..., Target]) -> None:
    """Each client asks once and then thinks for longer than the trial: 10,000 kept, idle connections."""
    used, _, connections, errors = measure(target().address, 10_000, 8.0, 60.0, 1)
    assert errors == {}
    assert connections == {"opened": 10_000, "failed": 0}
    assert isinstance(used, int)
    assert used < 256 * MIB
