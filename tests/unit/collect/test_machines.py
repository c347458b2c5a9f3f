"""A machine made of files is collected as it is: by the script itself, run by a shell."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

import pytest

from bakeoff.core.errors import GeneratorError, PlanError
from bakeoff.disclosure.collect.machines import collect, script
from bakeoff.disclosure.collect.sysctls import SYSCTLS
from bakeoff.disclosure.collect.ways import way_of
from bakeoff.disclosure.paper.collected import Collected, collected_to_toml
from bakeoff.disclosure.paper.disclosure import CONTENDER, TESTBED
from tests.unit.collect.fake import CPU, machine, program, programs

LOCAL = way_of("local")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fake machine, whose programs are the only ones."""
    monkeypatch.setenv("PATH", programs(tmp_path / "bin"))
    return machine(tmp_path)


def hermetic(root: Path, *config: str) -> Collected:
    return collect(LOCAL, config, str(root))


def test_a_machine_is_told_as_it_is(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The script looks into /usr/sbin as well, where this machine has programs of its own.
    monkeypatch.setattr("bakeoff.disclosure.collect.machines.script", _without_sbin)
    facts = hermetic(root)
    assert facts.facts == {
        "solution": "Fake Inc. Server 9",
        "firmware": "2.3",
        "operating_system": "Fake Linux 7 (seven), Linux 6.6.6-fake",
        "server_software": "nginx 1.22.1",
        "component_software": "OpenSSL 3.0.19 27 Jan 2026",
        "tuning_hardware": (
            "governor: powersave\nturbo: off\ntransparent huge pages: madvise\n"
            "kernel parameters: mitigations=off nohz_full=2-7"
        ),
        "processors": "2 × Fake Xeon 6338, 4 cores, 8 threads, up to 3.20 GHz, microcode 0xd000; caches L1d 48K",
        "memory": "64.0 GiB, no swap, 2 × 32 GB DDR5 4800 MT/s Fake",
        "storage": "2 × FAKE 960 (1 TB, no moving parts, scheduler none, write back)",
        "controllers": "1 × SATA controller: Fake SATA 6G (rev 05)\n1 × RAID bus controller: Fake MegaRAID",
        "raid": "md0: raid1, 2 members, [UU]",
        "file_systems": "/: ext4 (rw,noatime) on /dev/md0\n/srv/a b: xfs (rw,logbsize=256k) on /dev/sdc",
        "transport": "eth0: Fake X710 (rev 02), driver i40e, 10 Gbit/s, full duplex, MTU 9000, up",
        "switch": "eth0: sw1 (Fake 7050), port Et12",
        "virtualisation": "kvm",
        "security": "spectre_v2: Mitigation: Retpolines",
    }
    assert facts.sysctls == {
        "net.core.somaxconn": "4096",
        "net.ipv4.tcp_syncookies": "1",
        "net.ipv4.tcp_rmem": "4096 131072 6291456",
    }
    assert facts.packages == {"nginx": "1.22.1-9", "libssl3": "3.0.19"}, "installed, and it matters"
    assert facts.missing == () and facts.way == "local" and not facts.edited


def _without_sbin(config: tuple[str, ...], root: str) -> bytes:
    return script(config, root).replace(b"PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin", b":")


def test_what_is_not_there_is_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bakeoff.disclosure.collect.machines.script", _without_sbin)
    bare = programs(tmp_path / "bin")
    for name in ("lspci", "systemd-detect-virt", "dmidecode", "lldpctl", "dpkg-query", "nginx", "openssl"):
        (tmp_path / "bin" / name).unlink()
    (tmp_path / "root").mkdir()
    monkeypatch.setenv("PATH", bare)
    facts = hermetic(tmp_path / "root")
    assert facts.facts == {} and facts.sysctls == {} and facts.packages == {} and facts.files == ()
    assert facts.missing == ("memory modules: dmidecode, as root",)


def test_files_are_hashed_as_they_are_and_shown_when_asked(root: Path) -> None:
    odd = b"no line end, \xff\r\n\x00 and\ttabs"
    path = root / "srv/odd name'; echo x.conf"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(odd)
    facts = hermetic(root, "/srv/odd name'; echo x.conf", "/etc/nginx/nginx.conf", "/etc/none.conf")
    files = {file.path: file for file in facts.files}
    assert files["/srv/odd name'; echo x.conf"].sha256 == hashlib.sha256(odd).hexdigest()
    assert files["/srv/odd name'; echo x.conf"].bytes == len(odd)
    assert files["/etc/nginx/nginx.conf"].text == "worker_processes 4;\n"
    one = files["/etc/nginx/conf.d/site one.conf"]
    assert one.sha256 == hashlib.sha256(b"listen 80;").hexdigest() and one.text == "", "known files are hashed alone"
    assert facts.missing == ("/etc/none.conf: there is no such file",)


def test_large_and_changing_files_have_no_hash(root: Path) -> None:
    (root / "etc/large.conf").write_bytes(b"x" * 131_073)
    (root / "etc/fits.conf").write_bytes(b"\n" * 131_072)
    facts = hermetic(root, "/etc/large.conf", "/etc/fits.conf")
    assert facts.missing == ("/etc/large.conf: is too large, or changed while it was read",)
    files = {file.path: file.sha256 for file in facts.files}
    assert files["/etc/fits.conf"] == hashlib.sha256(b"\n" * 131_072).hexdigest()


def test_what_is_written_is_read_again_and_an_edit_is_found(root: Path) -> None:
    (root / "etc/hard.conf").write_bytes(b'a """" \\ "b" \x1b[0m \xe2\x82\xac\n"')
    facts = hermetic(root, "/etc/hard.conf")
    text = collected_to_toml('na"me', facts)
    again = Collected.model_validate(tomllib.loads(text)["contenders"]['na"me']["collected"])
    assert again == facts and not again.edited
    changed = text.replace("2 × Fake Xeon", "9 × Fake Xeon")
    assert changed != text
    edited = Collected.model_validate(tomllib.loads(changed)["contenders"]['na"me']["collected"])
    assert edited.edited


def test_the_script_reads_and_never_writes() -> None:
    text = script(("/etc/x",)).decode()
    words = {"rm", "mv", "cp", "tee", "dd", "mkdir", "touch", "chmod", "chown", "ln", "kill", "sudo", "curl", "eval"}
    assert not words & set(text.split())
    outputs = [part.split()[0] for line in text.splitlines() for part in line.split(">")[1:] if part.strip()]
    assert {word.rstrip(";)|") for word in outputs} <= {"/dev/null", "&1"}
    assert len(text) < 60_000, "fits the pipe to who does not read it"


@pytest.mark.parametrize("path", ["etc/x", "", "/etc/x\n/etc/shadow", "/" + "x" * 600])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(PlanError, match="begin it with /"):
        collect(LOCAL, [path])


@pytest.mark.parametrize(
    "path", ["/etc/shadow", "/etc/ssl/private/a.pem", "/srv/.htpasswd", "/etc/postfix/sasl_passwd"]
)
def test_files_of_secrets_are_refused(path: str) -> None:
    with pytest.raises(PlanError, match="holds secrets"):
        collect(LOCAL, [path])


def test_commands_tell_fields_in_three_forms() -> None:
    forms = [
        "memory = 64 GiB\nnetwork: x\nprocessors = '2 x Fake'\nnoise\n",
        '{"memory": "64 GiB", "processors": "2 x Fake", "sysctls": {"a.b": 1}}',
        'memory = "64 GiB"\nprocessors = "2 x Fake"\nnetwork = 1\n',
    ]
    for text in forms:
        result = collect(way_of(_echo(text)))
        assert result.facts == {"memory": "64 GiB", "processors": "2 x Fake"}
        assert ("network" in text) == bool(result.missing)
    with pytest.raises(GeneratorError, match=r"wrote no field .* memroy \(did you mean 'memory'\?\)"):
        collect(way_of(_echo("memroy = 1")))


def _echo(text: str) -> str:
    return "command: printf '%b' '" + text.replace("\\", "\\\\").replace("'", "'\\''").replace("\n", "\\n") + "'"


def test_the_reference_has_every_field_and_every_setting_with_its_reason() -> None:
    text = (Path(__file__).parents[3] / "docs/reference/disclosure.md").read_text()
    for key, title in (*CONTENDER.items(), *TESTBED.items()):
        assert f"| `{key}` | {title} |" in text
    for name, why in SYSCTLS.items():
        assert f"| `{name}` | {why} |" in text


def test_a_large_machine_is_told_whole(root: Path) -> None:
    """What it tells has more than some buffers: whoever comes late in a list counts like the first."""
    many = 256
    cpus = (CPU.format(number=n, socket=n // 128, core=n % 64) for n in range(many))
    (root / "proc/cpuinfo").write_text("".join(cpus).replace("hypervisor", "hypervisor" + " avx512_vp2intersect" * 80))
    lines = "".join(f"package-{n:05} 1:2.3.4-5+deb12u6 ii \n" for n in range(5_000))
    program(root.parent / "bin", "dpkg-query", f"cat <<'TOLD'\n{lines}zlib1g 1:1.2.13 ii \nTOLD\n")
    facts = hermetic(root)
    assert facts.facts["processors"].startswith("2 × Fake Xeon 6338, 128 cores, 256 threads")
    assert facts.packages == {"zlib1g": "1:1.2.13"}
