"""Configuration files: their hashes, and their texts where they were asked for, never with a secret in them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable

from bakeoff.core.redact import without_secrets
from bakeoff.disclosure.collect.answer import FileAnswer, clean
from bakeoff.disclosure.paper.collected import LONGEST_FILE, ConfigFile

# Patterns of files that are hashed wherever they are. No path has a blank, as the script takes them apart there.
KNOWN = (
    "/etc/nginx/nginx.conf",
    "/etc/nginx/conf.d/*.conf",
    "/etc/nginx/sites-enabled/*",
    "/etc/apache2/apache2.conf",
    "/etc/apache2/ports.conf",
    "/etc/apache2/conf-enabled/*.conf",
    "/etc/apache2/mods-enabled/*.conf",
    "/etc/apache2/sites-enabled/*",
    "/etc/httpd/conf/httpd.conf",
    "/etc/httpd/conf.d/*.conf",
    "/etc/lighttpd/lighttpd.conf",
    "/etc/lighttpd/conf-enabled/*.conf",
    "/etc/caddy/Caddyfile",
    "/etc/haproxy/haproxy.cfg",
    "/etc/samba/smb.conf",
    "/etc/exports",
    "/etc/exports.d/*.exports",
    "/etc/nfs.conf",
    "/etc/ganesha/ganesha.conf",
    "/etc/postfix/main.cf",
    "/etc/postfix/master.cf",
    "/etc/dovecot/dovecot.conf",
    "/etc/dovecot/conf.d/*.conf",
    "/etc/exim4/exim4.conf",
    "/etc/exim4/exim4.conf.template",
    "/etc/exim4/update-exim4.conf.conf",
    "/etc/exim/exim.conf",
    "/etc/sysctl.conf",
    "/etc/sysctl.d/*.conf",
    "/etc/security/limits.conf",
)
# Files that are a secret as a whole: neither shown nor hashed, as short secrets are found from their hashes.
_SECRET = re.compile(
    r"(?i)(?:^|/)(?:g?shadow-?|[^/]*(?:passwd|password|secret|credential|htpasswd|htdigest|token)[^/]*|id_[a-z0-9]+|"
    r"[^/]*\.(?:key|p12|pfx|jks|keytab|tdb|gpg))$|/private/"
)


def is_secret(path: str) -> bool:
    """Whether a file is nobody else's by its name."""
    return _SECRET.search(path) is not None


def config_files(answers: Iterable[FileAnswer], shown: Collection[str]) -> tuple[tuple[ConfigFile, ...], list[str]]:
    """The files by path, and what is missing of them. `shown` are the paths whose texts were asked for.

    A hash of the whole file beside its text without secrets would let somebody try secrets until the hash is right, so
    where a secret was left out the hash is that of the text without it.
    """
    files: dict[str, ConfigFile] = {}
    missing: list[str] = []
    seen = set()
    for answer in answers:
        seen.add(answer.path)
        if is_secret(answer.path):
            if answer.path in shown:
                missing.append(f"{answer.path}: holds secrets by its name")
        elif answer.content is None:
            missing.append(f"{answer.path}: {_why(answer)}")
        else:
            files[answer.path] = _file(answer.path, answer.content, answer.path in shown)
    missing += [f"{path}: there is no such file" for path in shown if path not in seen]
    return tuple(files[path] for path in sorted(files)), missing


def _why(answer: FileAnswer) -> str:
    if not answer.readable:
        return "may not be read"
    return "is too large, or changed while it was read"


def _file(path: str, content: bytes, shown: bool) -> ConfigFile:
    text = clean(content)
    safe = without_secrets(text)
    hidden = safe != text
    digest = hashlib.sha256(safe.encode() if hidden else content).hexdigest()
    return ConfigFile(
        path=path,
        bytes=len(content),
        sha256=digest,
        redacted=hidden,
        text=safe[:LONGEST_FILE] if shown else "",
    )
