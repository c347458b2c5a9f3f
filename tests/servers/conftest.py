"""Real servers on loopback, each with a configuration and a folder of its own. A missing server is a failure."""

import contextlib
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.control import PATIENCE_S
from tests.ports import free_port

MODULES = Path("/usr/lib/apache2/modules")


@dataclass
class Server:
    """A started server: its address and how to reach its process."""

    url: str
    process: subprocess.Popen[bytes]
    folder: Path


def need(program: str) -> str:
    """The path of a program; failing when it is not installed."""
    for folder in (None, "/usr/sbin:/sbin"):
        if path := shutil.which(program, path=folder):
            return path
    pytest.fail(f"{program} is not installed: run `make test`, which installs it")


def wait_until_open(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Returns when the port takes connections."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if process.poll() is not None:
            pytest.fail(f"the server ended at once: {log.read_text() if log.exists() else ''}")
        time.sleep(0.05)
    pytest.fail(f"port {port} did not open")


@pytest.fixture(scope="session")
def public_folder() -> Iterator[Callable[[str], Path]]:
    """Makes folders that servers of other users can read."""
    base = Path(tempfile.mkdtemp(prefix="bakeoff-servers-"))
    base.chmod(0o755)

    def make(name: str) -> Path:
        folder = base / name
        folder.mkdir()
        return folder

    yield make
    shutil.rmtree(base, ignore_errors=True)


@pytest.fixture(scope="session")
def start_server(public_folder: Callable[[str], Path]) -> Iterator[Callable[..., Server]]:
    """Starts servers by the name of a function below; all end with the session."""
    started: list[subprocess.Popen[bytes]] = []

    def start(kind: str, root: Path, scheme: str = "http") -> Server:
        folder = public_folder(f"{kind}-{len(started)}")
        port = free_port()
        command, helpers = KINDS[kind](folder, root, port, scheme)
        log = folder / "output"
        for line in (*helpers, command):
            with log.open("ab") as out:
                started.append(subprocess.Popen(line, stdout=out, stderr=out, start_new_session=True))
        wait_until_open(port, started[-1], log)
        return Server(f"{scheme}://localhost:{port}", started[-1], folder)

    yield start
    for process in reversed(started):
        # The whole group: fcgiwrap's workers outlive their parent otherwise.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
    for process in started:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE_S)
        if process.poll() is None:
            process.kill()


def certificate(folder: Path) -> tuple[Path, Path]:
    """A self-signed certificate for localhost."""
    key, cert = folder / "key.pem", folder / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    paths = ["-keyout", str(key), "-out", str(cert), "-days", "2"]
    subprocess.run([*command, *names, *paths], check=True, capture_output=True)
    ssl.create_default_context(cafile=cert)
    return key, cert


Commands = tuple[list[str], list[list[str]]]


def nginx(folder: Path, root: Path, port: int, scheme: str) -> Commands:
    """nginx with CGI through fcgiwrap."""
    tls = ""
    if scheme == "https":
        key, cert = certificate(folder)
        tls = f"ssl_certificate {cert}; ssl_certificate_key {key};"
    temporary = " ".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    gateway = folder / "fcgi.sock"
    (folder / "nginx.conf").write_text(
        f"""
daemon off; user root; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
  {temporary} access_log off; keepalive_requests 1000000; types {{ text/html htm html; image/gif gif; }}
  server {{
    listen 127.0.0.1:{port} {"ssl" if tls else ""} backlog=4096; {tls} root {root};
    location /cgi-bin/ {{
      gzip off; fastcgi_pass unix:{gateway};
      fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;
      fastcgi_param QUERY_STRING $query_string; fastcgi_param REQUEST_METHOD $request_method;
    }}
  }}
}}"""
    )
    helper = [need("fcgiwrap"), "-c", "4", "-s", f"unix:{gateway}"]
    return [need("nginx"), "-c", str(folder / "nginx.conf"), "-p", str(folder)], [helper]


def nginx_http2(folder: Path, root: Path, port: int, scheme: str) -> Commands:
    """nginx with HTTP/2, which writes down each request and ends connections after 100."""
    command, helpers = nginx(folder, root, port, scheme)
    path = folder / "nginx.conf"
    text = path.read_text().replace("backlog=4096;", "http2 backlog=4096; keepalive_requests 100;")
    path.write_text(text.replace("access_log off;", f"access_log {folder}/access.log;"))
    return command, helpers


def apache(folder: Path, root: Path, port: int, scheme: str) -> Commands:
    """Apache with the event module and CGI."""
    names = ["mpm_event", "authz_core", "mime", "dir", "cgid", *(["ssl"] if scheme == "https" else [])]
    modules = "\n".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in names)
    tls = ""
    if scheme == "https":
        key, cert = certificate(folder)
        tls = f"SSLEngine on\nSSLCertificateFile {cert}\nSSLCertificateKeyFile {key}"
    folder.chmod(0o777)
    (folder / "apache.conf").write_text(
        f"""
ServerName localhost
ServerRoot {folder}
Listen 127.0.0.1:{port}
PidFile {folder}/pid
ErrorLog {folder}/error.log
{modules}
User www-data
Group www-data
TypesConfig /etc/mime.types
ScriptSock {folder}/cgisock
MaxKeepAliveRequests 0
DocumentRoot {root}
<Directory {root}>
  Require all granted
</Directory>
<Directory {root}/cgi-bin>
  Options +ExecCGI
  SetHandler cgi-script
</Directory>
{tls}
"""
    )
    return [need("apache2"), "-f", str(folder / "apache.conf"), "-DFOREGROUND"], []


def lighttpd(folder: Path, root: Path, port: int, scheme: str) -> Commands:
    """lighttpd with CGI, plain HTTP only."""
    assert scheme == "http"
    (folder / "lighttpd.conf").write_text(
        f"""
server.modules = ("mod_cgi")
server.document-root = "{root}"
server.port = {port}
server.bind = "127.0.0.1"
server.pid-file = "{folder}/pid"
server.errorlog = "{folder}/error.log"
server.max-keep-alive-requests = 65535
mimetype.assign = (".html" => "text/html", ".htm" => "text/html", ".gif" => "image/gif")
$HTTP["url"] =~ "^/cgi-bin/" {{ cgi.assign = ("" => "") }}
"""
    )
    return [need("lighttpd"), "-D", "-f", str(folder / "lighttpd.conf")], []


def apache_http2(folder: Path, root: Path, port: int, scheme: str) -> Commands:
    """Apache with mod_http2, which takes 100 streams at once on a connection."""
    command, helpers = apache(folder, root, port, scheme)
    path = folder / "apache.conf"
    more = f"LoadModule http2_module {MODULES}/mod_http2.so\nProtocols h2 h2c\n"
    path.write_text(more + path.read_text())
    return command, helpers


def nginx_log(folder: Path, root: Path, port: int, scheme: str) -> Commands:
    """nginx with an access log that is written at once."""
    command, helpers = nginx(folder, root, port, scheme)
    path = folder / "nginx.conf"
    path.write_text(path.read_text().replace("access_log off;", f"access_log {folder}/access.log;"))
    return command, helpers


def apache_log(folder: Path, root: Path, port: int, scheme: str) -> Commands:
    """Apache with an access log as Debian has it for virtual hosts."""
    command, helpers = apache(folder, root, port, scheme)
    path = folder / "apache.conf"
    form = r'"%v:%p %h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\""'
    path.write_text(
        f"{path.read_text()}\nLogFormat {form} vhost_combined\nCustomLog {folder}/access.log vhost_combined\n"
    )
    return command, helpers


KINDS: dict[str, Callable[[Path, Path, int, str], Commands]] = {
    "nginx": nginx,
    "apache": apache,
    "lighttpd": lighttpd,
    "nginx-log": nginx_log,
    "apache-log": apache_log,
    "nginx-http2": nginx_http2,
    "apache-http2": apache_http2,
}
