"""Secrets are gone when facts are collected, before anything is written: planted keys in every place that is read."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from bakeoff.disclosure.collect.machines import collect
from bakeoff.disclosure.collect.ways import way_of
from bakeoff.disclosure.paper.collected import collected_to_toml
from tests.unit.collect.fake import machine
from tests.unit.test_redact import PLAIN, PLANTED

LOCAL = way_of("local")


def test_planted_keys_are_in_no_file_that_is_written(tmp_path: Path) -> None:
    """One file has all of them, one nothing else than what is none."""
    planted, plain = "\n\n".join(PLANTED) + "\n", "\n".join(PLAIN) + "\n"
    root = machine(
        tmp_path,
        {
            "/srv/planted.conf": planted,
            "/srv/plain.conf": plain,
            "/proc/cmdline": "root=/dev/sda rd.luks.key=x db_password=planted\n",
            "/sys/class/dmi/id/product_name": "Server password=planted\n",
        },
    )
    result = collect(LOCAL, ["/srv/planted.conf", "/srv/plain.conf"], str(root))
    text = collected_to_toml("a", result)
    assert "planted" not in text.replace("/srv/planted.conf", "") and "AKIA" not in text and "(hidden)" in text
    files = {file.path: file for file in result.files}
    assert files["/srv/plain.conf"].text == plain and not files["/srv/plain.conf"].redacted
    assert files["/srv/plain.conf"].sha256 == hashlib.sha256(plain.encode()).hexdigest()


def test_a_hash_does_not_tell_the_secret_that_is_left_out(tmp_path: Path) -> None:
    """A reader who has the text without the secret could try secrets until the hash is that of the file."""
    hashes = set()
    for secret in ("planted1", "planted2"):
        root = machine(tmp_path / secret, {"/srv/a.conf": f"workers 4\npassword = {secret}\n"})
        (file,) = (one for one in collect(LOCAL, ["/srv/a.conf"], str(root)).files if one.path == "/srv/a.conf")
        assert file.redacted and file.sha256 == hashlib.sha256(file.text.encode()).hexdigest()
        hashes.add(file.sha256)
    assert len(hashes) == 1


@pytest.mark.parametrize("name", ["tls.key", "htpasswd", ".htpasswd", "sasl_passwd", "id_ed25519", "store.p12"])
def test_files_of_secrets_that_are_matched_by_a_pattern_are_left_out(tmp_path: Path, name: str) -> None:
    root = machine(tmp_path, {f"/etc/nginx/sites-enabled/{name}": "planted"})
    result = collect(LOCAL, (), str(root))
    assert name not in collected_to_toml("a", result)


def test_commands_tell_no_secrets_either() -> None:
    way = way_of("command: X_TOKEN=planted printf 'notes = mysql --password planted\\nmemory = 1 GiB\\n'")
    result = collect(way)
    assert result.facts == {"notes": "mysql --password (hidden)", "memory": "1 GiB"}
    assert "planted" not in result.way and result.way.startswith("command: X_TOKEN=(hidden) printf")
    table = way_of("""command: printf '{"sysctls": {"db.password": "planted"}, "packages": {"a": "token=planted"}}'""")
    result = collect(table)
    assert result.sysctls == {"db.password": "(hidden)"} and result.packages == {"a": "token=(hidden)"}
