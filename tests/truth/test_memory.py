"""The generator's memory: small, flat, and bounded with many connections. Measured in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Callable

from tests.conftest import Target
from tests.control import PATIENCE_S

MIB = 1 << 20
CODE = """
import json, sys
from bakeoff import _engine
from tests.conftest import web_workload
address, clients, think_s, classes, counts = json.loads(sys.argv[1])
def rss():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
workload = web_workload(address)
one = workload["classes"][0]
workload["classes"] = [dict(one, name=f"class-{n}") for n in range(classes)]
spec = dict(workload=workload, load=dict(clients=clients), length_s=600, think_s=think_s, delay_s=2, seed=1)
before = rss()
handle = _engine.start(json.dumps(spec)).go()
sizes = []
for count in counts:
    while handle.snapshot()["operations"] < count:
        assert handle.wait(0.05) is None
    sizes.append(rss())
handle.cancel()
result = json.loads(handle.wait(600).json())
used = result["generator"]["rss_bytes"] - before
print(json.dumps([used, sizes[-1] - sizes[0], result["connections"], result["errors"]]))
"""


def measure(address: str, clients: int, think_s: float, classes: int, counts: list[int]) -> tuple[int, int, object]:
    """Bytes used in all, bytes grown between the first and the last of `counts` operations, and the connections."""
    arguments = json.dumps([address, clients, think_s, classes, counts])
    command = [sys.executable, "-c", CODE, arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    used, grown, connections, errors = json.loads(done.stdout)
    assert set(errors) <= {"unfinished"}
    return used, grown, connections


def test_sixty_clients_fit_in_32_mib_and_memory_stays_flat(target: Callable[..., Target]) -> None:
    used, grown, _ = measure(target().address, 60, 0.0, 9, [10_000, 60_000])
    assert used < 32 * MIB
    assert grown < 2 * MIB


def test_ten_thousand_idle_connections_fit_in_256_mib(target: Callable[..., Target]) -> None:
    """Each client asks once and then thinks for longer than the trial: 10,000 kept, idle connections."""
    used, _, connections = measure(target().address, 10_000, 3600.0, 1, [10_000])
    assert {name: count for name, count in connections.items() if count} == {"opened": 10_000}
    assert used < 256 * MIB
