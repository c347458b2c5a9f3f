"""Files below /proc with known contents, and with any."""

import random
from pathlib import Path

import pytest

from bakeoff.telemetry.names import counter_doc
from bakeoff.telemetry.readers import exporter, proc_text, this_machine
from bakeoff.telemetry.readers.exposition import samples
from bakeoff.telemetry.readers.processes import parsed
from bakeoff.telemetry.reading import SampleError

TEXTS = {
    "stat": "cpu  100 20 30 4000 50 6 7 8 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\ncpu1 1 1 1 1 1 1 1 1 0 0\nctxt 5\n"
    "processes 17\nprocs_running 3\nprocs_blocked 2\n",
    "meminfo": "MemTotal:       1000 kB\nMemFree: 1 kB\nMemAvailable:    400 kB\nHugePages_Total: 0\n",
    "diskstats": "   8       0 sda 10 0 16 0 20 0 32 0 0 1500 0 0 0 0 0\n   8       1 sda1 9 0 9 0 9 0 9 0 0 9 0\n"
    " 253       0 dm-0 9 0 9 0 9 0 9 0 0 9 0\n 259 0 nvme0n1 1 0 2 0 3 0 4 0 0 500 0 0 0 0\n",
    "dev": "Inter-|   Receive |  Transmit\n face |bytes packets\n  eth0: 1000 10 0 0 0 0 0 0 2000 20 0 0 0 0 0 0\n",
    "vmstat": "nr_free_pages 5\npgmajfault 11\npswpin 3\npswpout 4\npgfault x\n",
    "snmp": "Ip: Forwarding\nIp: 1\nTcp: RtoAlgorithm RetransSegs InErrs\nTcp: 1 42 0\n",
    "netstat": "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 0 7 9\nIpExt: A\nIpExt: 1\n",
    "psi_cpu": "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.00 total=9\n",
    "psi_io": "some avg10=0.00 avg60=0.00 avg300=0.00 total=500000\n",
    "boot_id": "1935d7ed-ff22-4222-b5ff-5a827d237342\n",
}
NODE = """# HELP node_cpu_seconds_total Seconds the CPUs spent in each mode.
# TYPE node_cpu_seconds_total counter
node_cpu_seconds_total{cpu="0",mode="idle"} 30.5
node_cpu_seconds_total{cpu="1",mode="idle"} 9.5
node_cpu_seconds_total{cpu="0",mode="user"} 1
node_cpu_seconds_total{cpu="0",mode="nice"} 0.2
node_cpu_seconds_total{cpu="0",mode="system"} 0.3 1700000000000
node_disk_io_time_seconds_total{device="sda"} 1.5
node_disk_io_time_seconds_total{device="sda1"} 9
node_network_receive_bytes_total{device="eth0"} 1e+03
node_netstat_TcpExt_ListenOverflows 7
node_vmstat_pswpout 4
node_pressure_io_waiting_seconds_total 0.5
node_memory_MemTotal_bytes 1.024e+06
node_memory_MemAvailable_bytes 409600
node_procs_running 2
node_uname_info{nodename="far",release="6.1 \\"x\\" }",sysname="Linux"} 1
node_something NaN
broken{ 5
"""


def test_every_file_is_read_as_it_is_laid_out() -> None:
    found = proc_text.machine(TEXTS)
    assert found.counters == {
        "cpu_user_s": 1.2, "cpu_system_s": 0.3, "cpu_idle_s": 40.0, "cpu_iowait_s": 0.5, "cpu_irq_s": 0.06,
        "cpu_softirq_s": 0.07, "cpu_steal_s": 0.08, "disk/sda/reads": 10, "disk/sda/writes": 20,
        "disk/sda/read_bytes": 16 * 512, "disk/sda/written_bytes": 32 * 512, "disk/sda/busy_s": 1.5,
        "disk/nvme0n1/reads": 1, "disk/nvme0n1/writes": 3, "disk/nvme0n1/read_bytes": 1024,
        "disk/nvme0n1/written_bytes": 2048, "disk/nvme0n1/busy_s": 0.5, "net/eth0/in_bytes": 1000,
        "net/eth0/out_bytes": 2000, "net/eth0/in_packets": 10, "net/eth0/out_packets": 20, "tcp_retransmits": 42,
        "major_faults": 11, "swapped_in_pages": 3, "swapped_out_pages": 4,
        "listen_overflows": 7, "listen_drops": 9, "psi_cpu_s": 2.5, "psi_io_s": 0.5,
    }  # fmt: skip
    assert found.gauges == {"run_queue": 2, "blocked": 2, "memory_used_bytes": 600 * 1024}
    assert found.facts == {
        "processors": 2, "memory_bytes": 1000 * 1024, "boot_id": "1935d7ed-ff22-4222-b5ff-5a827d237342"
    }  # fmt: skip
    assert all(counter_doc(name) is not None for name in (*found.counters, *found.gauges))


def test_a_kernel_without_pressure_tells_the_rest() -> None:
    found = proc_text.machine({name: text for name, text in TEXTS.items() if not name.startswith("psi")})
    assert "psi_cpu_s" not in found.counters and found.counters["cpu_user_s"] == 1.2


def test_a_node_exporter_tells_the_same() -> None:
    found = exporter.machine(samples(NODE))
    assert found.counters == {
        "cpu_idle_s": 40.0, "cpu_user_s": 1.2, "cpu_system_s": 0.3, "disk/sda/busy_s": 1.5, "net/eth0/in_bytes": 1000,
        "listen_overflows": 7, "psi_io_s": 0.5, "swapped_out_pages": 4,
    }  # fmt: skip
    assert found.gauges == {"run_queue": 2, "memory_used_bytes": 614_400}
    assert found.facts == {"processors": 2, "memory_bytes": 1_024_000, "host": "far"}


def test_a_page_without_processor_times_is_of_something_else() -> None:
    with pytest.raises(SampleError, match="node_exporter"):
        exporter.machine(samples("<html>hello</html>"))


def test_a_process_may_have_any_name() -> None:
    text = "7 (a) R 9 (b) S 3 1 1 0 -1 0 0 0 0 0 11 12 13 14 20 0 1 0 99 4096 5 0 0"
    found = parsed(text)
    assert found is not None
    assert (found.pid, found.parent, found.user, found.system, found.started, found.pages) == (7, 3, 11, 12, 99, 5)
    assert parsed("") is None and parsed("7 (a) R x") is None


def test_counts_that_no_machine_has_are_passed_over() -> None:
    """Their sums and differences would be no numbers, which no trial can be stored with."""
    huge = "node_memory_MemTotal_bytes 1e308\nnode_memory_MemAvailable_bytes -1e308\nnode_procs_running 1e200\n"
    huge += 'node_cpu_seconds_total{cpu="0",mode="user"} 1e308\n' * 2
    assert exporter.machine(samples(NODE + huge)) == exporter.machine(samples(NODE))
    assert parsed("7 (a) R 3 1 1 0 -1 0 0 0 0 0 11 " + "9" * 300 + " 13 14 20 0 1 0 99 4096 5 0 0") is None


def test_no_bytes_break_a_parser_or_grow_without_end() -> None:
    rng = random.Random(14)
    seeds = [*TEXTS.values(), NODE]
    for _ in range(1_500):
        text = list(rng.choice(seeds))
        for _ in range(rng.randrange(1, 30)):
            at = rng.randrange(len(text))
            text[at : at + rng.randrange(3)] = [chr(rng.choice((0, 9, 10, 32, 34, 48, 57, 92, 123, 125, 0x0661, 255)))]
        damaged = "".join(text)
        found = proc_text.machine(dict.fromkeys(proc_text.FILES, damaged))
        for value in (*found.counters.values(), *found.gauges.values()):
            assert 0 <= value < 2**65
        try:
            found = exporter.machine(samples(damaged))
        except SampleError:
            continue
        assert all(counter_doc(name) is not None for name in found.counters)


def test_what_is_long_is_cut() -> None:
    many = "\n".join(f"  eth{n}: " + "1 " * 16 for n in range(9_000))
    assert len(proc_text.machine({"dev": many}).counters) == 4 * proc_text.MOST_PARTS
    line = 'node_cpu_seconds_total{mode="user",cpu="' + "0" * 10_000 + '"} 1'
    assert list(samples(line)) == []
    disks = "\n".join(f'node_disk_io_time_seconds_total{{device="d{n}"}} 1' for n in range(500))
    found = exporter.machine(samples(f"{NODE}\n{disks}"))
    assert sum(name.startswith("disk/") for name in found.counters) == proc_text.MOST_PARTS


def test_this_machine_is_read(tmp_path: Path) -> None:
    from bakeoff.telemetry.readers.this_machine import here

    assert here().counters["cpu_user_s"] > 0
    with pytest.raises(SampleError, match="cannot be read"):
        here(system=tmp_path)


def card(name: str) -> str:
    return f"/sys/class/net/{name}/device/net/{name}/speed"


def test_links_tell_how_fast_they_state_to_be() -> None:
    speeds = {"eth0": "10000\n", "wlan0": "-1\n", "eth1": "", "br/x": "10", "a b": "10", "zero": "0"}
    found = proc_text.machine(TEXTS | {card(name): text for name, text in speeds.items()})
    assert found.facts["link_bytes_per_s"] == {"eth0": 1_250_000_000}
    many = {card(f"e{number}"): "1" for number in range(1_000)}
    assert len(proc_text.link_speeds(many)) == proc_text.MOST_PARTS
    # A node_exporter tells the speed of cards and what virtual links make up in one series.
    observed = NODE + 'node_network_speed_bytes{device="veth0"} 1.25e+08\n'
    assert "link_bytes_per_s" not in exporter.machine(samples(observed)).facts


def test_speeds_are_those_of_the_links_that_the_server_sees(tmp_path: Path) -> None:
    """/sys has the links of this name space: what another calls eth0 is another link."""
    for of in ("self", "7", "8"):
        place = tmp_path / "proc" / of
        (place / "ns").mkdir(parents=True)
        (place / "net").mkdir()
        (place / "net/dev").write_text(TEXTS["dev"])
    (tmp_path / "proc/net").symlink_to("self/net")
    (tmp_path / "proc/self/ns/net").write_text("ours")
    (tmp_path / "proc/7/ns/net").hardlink_to(tmp_path / "proc/self/ns/net")
    (tmp_path / "proc/8/ns/net").write_text("another")
    for place in ("eth0/device/net/eth0", "eth0", "veth0"):  # a virtual link has no device, and makes its speed up
        (tmp_path / "sys/class/net" / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / "sys/class/net" / place / "speed").write_text("1000\n")
    known = {"eth0": 125_000_000}
    assert [proc_text.link_speeds(this_machine.texts(tmp_path, of)) for of in (None, 7, 8, 9)] == [known, known, {}, {}]
