"""Packages and versions of servers, and what they depend on, of an answer."""

from __future__ import annotations

import re

from bakeoff.disclosure.collect.answer import Answer

# Beginnings of packages whose version changes what a server can do.
_SERVERS = re.compile(
    r"(?:nginx|apache2|httpd|mod_|libapache2-mod|lighttpd|caddy|haproxy|varnish|h2o|tomcat|jetty|squid|envoy|"
    r"samba|ksmbd|nfs-kernel-server|nfs-utils|nfs-common|nfs-ganesha|vsftpd|proftpd|minio|"
    r"postfix|exim4?|sendmail|opensmtpd|dovecot|cyrus|courier|"
    r"php|postgresql|mysql-server|mariadb-server|redis|memcached|"
    r"openssl|libssl|libgnutls|glibc|libc6|musl|zlib|brotli|liburing|jemalloc)"
    r"[\w.+:-]{0,80}\Z"
)
_PARTS = re.compile(r"-(?:cross|doc|docs|dev|devel|dbg|dbgsym|debuginfo|manual|common-doc|help)$")
_VERSION = re.compile(r"\d+(?:\.\d+){1,4}[\w.+~-]{0,40}")
MOST = 200


def packages(answer: Answer) -> dict[str, str]:
    """Name to version of those that are installed and matter."""
    found: dict[str, str] = {}
    for line in (answer.text("dpkg") or answer.text("rpm")).splitlines():
        words = line.split()
        if len(words) == 3 and words[2].startswith("ii") and _SERVERS.match(words[0]) and not _PARTS.search(words[0]):
            found[words[0][:100]] = words[1][:100]
    return dict(sorted(found.items())[:MOST])


def servers(answer: Answer) -> str:
    """What servers say of themselves: also those that came from no package."""
    servers_found = []
    for name, text in sorted(answer.parts.items()):
        program = name.removeprefix("version ")
        if program != name and program not in ("openssl", "php") and (found := _VERSION.search(text)):
            servers_found.append(f"{program} {found[0]}")
    return "\n".join(servers_found)


def libraries(answer: Answer) -> str:
    """TLS library and script engine, by their own word."""
    lines = [answer.line(f"version {program}") for program in ("openssl", "php")]
    return "\n".join(line for line in lines if _VERSION.search(line))
