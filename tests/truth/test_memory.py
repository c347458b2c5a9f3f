"""The generator's memory: small, flat, and bounded with many connections. Measured in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Callable

from tests.conftest import Target

MIB = 1 << 20
CODE = """
import json, sys
from tests.conftest import run_trial, web_workload
address, clients, length, think, classes, warm_ups = json.loads(sys.argv[1])
def rss():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
workload = web_workload(address)
one = workload["classes"][0]
workload["classes"] = [dict(one, name=f"class-{n}") for n in range(classes)]
before = rss()
spec = dict(clients=clients, think_s=think, delay_s=length / 2)
short = run_trial(workload, length_s=length, **spec)
for _ in range(warm_ups):
    run_trial(workload, length_s=length, **spec)
after_short = rss()
run_trial(workload, length_s=length * 4, **spec)
used = short["generator"]["rss_bytes"] - before
print(json.dumps([used, rss() - after_short, short["connections"], short["errors"]]))
"""


def measure(address: str, clients: int, length_s: float, think_s: float, classes: int, warm_ups: int) -> list[object]:
    arguments = json.dumps([address, clients, length_s, think_s, classes, warm_ups])
    command = [sys.executable, "-c", CODE, arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    result: list[object] = json.loads(done.stdout)
    return result


def test_sixty_clients_fit_in_32_mib_and_memory_stays_flat(target: Callable[..., Target]) -> None:
    used, grown, _, errors = measure(target().address, 60, 1.5, 0.0, 9, 4)
    assert errors == {}
    assert isinstance(used, int)
    assert used < 32 * MIB
    assert isinstance(grown, int)
    assert grown < 4 * MIB


def test_ten_thousand_idle_connections_fit_in_256_mib(target: Callable[..., Target]) -> None:
    """Each client asks once and then thinks for longer than the trial: 10,000 kept, idle connections."""
    used, _, connections, errors = measure(target().address, 10_000, 5.0, 60.0, 1, 0)
    assert errors == {}
    assert connections == {"opened": 10_000, "failed": 0}
    assert isinstance(used, int)
    assert used < 256 * MIB
