"""What Ray is told: its environment, its command line and its ports. Nobody writes a setting of it by hand.

Left to itself it runs what it starts at nice 15, ends what takes much memory, takes a minute to notice that a cable was
pulled, lets everybody run programs who reaches its port, and tells its makers that it was used.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HEAD_PORT = 6379
JOIN_PORTS = 6420  # the first of a machine that joined; the head's own follow its port
SPAN = 30  # ports from the first to the last of a machine
WORKERS = 20
RESOURCE = "bakeoff"  # a machine that joined has one of it, the head none
OBJECT_STORE_BYTES = 100_000_000  # 78.6 MB are the least; results are smaller by far
CORES_VARIABLE = "BAKEOFF_AGENT_CORES"

# The same for everything of a cluster, the process that controls a run included.
COMMON = {
    "RAY_AUTH_MODE": "token",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",
    "RAY_memory_monitor_refresh_ms": "0",
    "RAY_enable_metrics_collection": "0",
    # A machine is given up after 4 × (1 s + 2 s): load on all cores may hold it up for a second or two. Whether a trial
    # still stands is decided sooner, by what its agents tell.
    "RAY_health_check_initial_delay_ms": "5000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "4",
    "RAY_gcs_rpc_server_reconnect_timeout_s": "12",  # as long does a machine wait for its head
    "PYTHONUNBUFFERED": "1",
}


@dataclass(frozen=True)
class Ports:
    """The ports of one machine, from `first` on. All are TCP, and Ray listens on each with every address of the machine
    unless it was given 127.0.0.1.
    """

    first: int

    @property
    def named(self) -> Mapping[str, int]:
        """Ray's flag for each port that is not a worker's."""
        names = (
            "node-manager",
            "object-manager",
            "runtime-env-agent",
            "dashboard-agent-grpc",
            "dashboard-agent-listen",
            "metrics-export",
        )
        return {f"--{name}-port": self.first + i for i, name in enumerate(names)}

    @property
    def workers(self) -> tuple[int, int]:
        """The first and the last port of processes that send load or control a run."""
        return self.first + SPAN - WORKERS, self.first + SPAN - 1

    @property
    def all(self) -> range:
        """Every port."""
        return range(self.first, self.first + SPAN)


def environment(token_file: Path) -> dict[str, str]:
    """What each process of a cluster has in its environment before it loads Ray: settings, and where the token is."""
    return {**COMMON, "RAY_AUTH_TOKEN_PATH": str(token_file)}


def head_command(bind: str, port: int, folder: Path, labels: Mapping[str, str]) -> list[str]:
    """The command line of the head: it knows who has joined, and sends no load."""
    head = ["--head", "--port", str(port), "--include-dashboard", "false", "--num-cpus", "0"]
    return _command(bind, Ports(port + 1), folder, labels, head)


def join_command(head: str, bind: str, ports: Ports, folder: Path, labels: Mapping[str, str]) -> list[str]:
    """The command line of a machine that sends load for the head at `head`."""
    joined = ["--address", head, "--num-cpus", "1", "--resources", json.dumps({RESOURCE: 1})]
    return _command(bind, ports, folder, labels, joined)


def _command(bind: str, ports: Ports, folder: Path, labels: Mapping[str, str], more: Sequence[str]) -> list[str]:
    first, last = ports.workers
    named = [word for flag, port in ports.named.items() for word in (flag, str(port))]
    return [
        *(sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats"),
        *("--include-log-monitor", "false", "--log-style", "record", "--log-color", "false"),
        *("--node-ip-address", bind, "--temp-dir", str(folder), "--object-store-memory", str(OBJECT_STORE_BYTES)),
        *("--labels", ",".join(f"{name}={value}" for name, value in labels.items())),
        *("--min-worker-port", str(first), "--max-worker-port", str(last)),
        *named,
        *more,
    ]
