"""Real mail servers on loopback, each with a configuration of its own and the accounts of one CSV file.

The configurations raise the limits that would otherwise be measured instead of the servers.
"""

import contextlib
import os
import poplib
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bakeoff.testdata.mail.accounts import Account, convert
from tests.control import PATIENCE_S
from tests.ports import free_port
from tests.servers.conftest import need, wait_until_open

SERVERS = Path(__file__).resolve().parents[2] / ".servers"
OWNER = "mail"


@dataclass
class Part:
    """One program of a server: its folder, its first process, and the command that ends it if a signal does not."""

    folder: Path
    process: subprocess.Popen[bytes]
    stop_command: tuple[str, ...] = ()

    def stop(self) -> None:
        """End the program. Fails when a process of it stays behind."""
        if self.stop_command:
            subprocess.run(self.stop_command, capture_output=True, timeout=PATIENCE_S, check=False)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE_S / 3)
        left = self._left()
        for _ in range(3_000):
            if not left:
                return
            time.sleep(0.1)
            left = self._left()
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(PATIENCE_S)
        pytest.fail(f"processes of {self.folder} did not end: {left}")

    def _left(self) -> dict[int, str]:
        """Processes that stand in the folder, were started from it or have it in their words, and the first one."""
        found = {pid: words for pid, words in _processes() if f"{self.folder}/" in words}
        if self.process.poll() is None:
            found[self.process.pid] = "the first process"
        return found


def _processes() -> Iterator[tuple[int, str]]:
    """All processes: number, and working folder, root and words in one text."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):  # it has just ended
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            places = [f"{(entry / name).readlink()}/" for name in ("cwd", "root")]
            yield int(entry.name), " ".join([*places, words])


@dataclass
class MailServer:
    """A started server: `address` is what a plan names."""

    address: str
    parts: list[Part] = field(default_factory=list)

    def stop(self) -> None:
        """End it all, the last part first."""
        with contextlib.ExitStack() as stack:
            for part in self.parts:
                stack.callback(part.stop)


def need_root() -> None:
    """Postfix, and mailboxes of another user, need it."""
    if os.getuid() != 0:
        pytest.fail("the mail servers need root: run the tests as root, or in a container")


def _owned(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    entry = pwd.getpwnam(OWNER)
    os.chown(folder, entry.pw_uid, entry.pw_gid)
    return folder


def _start(
    command: Sequence[str], folder: Path, ports: Sequence[int], log: str, stop_command: tuple[str, ...] = ()
) -> Part:
    """Starts a program and waits until its ports are open; when they do not open, it is ended."""
    with (folder / "output.log").open("ab") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, start_new_session=True)
    part = Part(folder, process, stop_command)
    try:
        for port in ports:
            wait_until_open(port, process, folder / log)
    except BaseException:
        part.stop()
        raise
    return part


def start_dovecot(folder: Path, accounts: Sequence[Account]) -> tuple[MailServer, int]:
    """POP3 and LMTP over Maildir folders; returns the server and its LMTP port. Its address is incomplete."""
    need_root()
    folder.mkdir()
    pop3, lmtp, entry = free_port(), free_port(), pwd.getpwnam(OWNER)
    _owned(folder / "mail")
    (folder / "users").write_text(convert(accounts, "dovecot"))
    (folder / "users").chmod(0o644)
    config = folder / "dovecot.conf"
    config.write_text(
        f"""
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/dovecot.log
protocols = pop3 lmtp
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_mechanisms = plain login
first_valid_uid = 1
mail_location = maildir:~/Maildir
mail_max_userip_connections = 0
auth_cache_size = 10M
passdb {{
  driver = passwd-file
  args = scheme=PLAIN username_format=%u {folder}/users
}}
userdb {{
  driver = static
  args = uid={entry.pw_uid} gid={entry.pw_gid} home={folder}/mail/%u
}}
service pop3-login {{
  service_count = 0
  process_min_avail = 2
  inet_listener pop3 {{
    port = {pop3}
  }}
  inet_listener pop3s {{
    port = 0
  }}
}}
service pop3 {{
  process_limit = 1024
}}
service lmtp {{
  inet_listener lmtp {{
    address = 127.0.0.1
    port = {lmtp}
  }}
}}
"""
    )
    part = _start([need("dovecot"), "-F", "-c", str(config)], folder, (pop3, lmtp), "dovecot.log")
    return MailServer(f"pop3=127.0.0.1:{pop3}", [part]), lmtp


@contextlib.contextmanager
def _ended_on_failure(server: MailServer) -> Iterator[None]:
    try:
        yield
    except BaseException:
        server.stop()
        raise


STOCK = """
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
lmtp unix - - n - - lmtp
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
"""


def start_postfix(
    folder: Path,
    accounts: Sequence[Account],
    smtpd_processes: int = 200,
    think_s: int = 0,
    discarded: str | None = None,
) -> MailServer:
    """Postfix, which hands all mail to Dovecot by LMTP; it thinks so long about each message, and throws what is
    `discarded`, the mail for an address, away.
    """
    dovecot, lmtp = start_dovecot(folder.with_name(folder.name + "-dovecot"), accounts)
    with _ended_on_failure(dovecot):
        part, smtp = _postfix(folder, accounts, lmtp, smtpd_processes, think_s, discarded)
    return MailServer(f"smtp=127.0.0.1:{smtp},{dovecot.address}", [*dovecot.parts, part])


def _postfix(
    folder: Path, accounts: Sequence[Account], lmtp: int, smtpd_processes: int, think_s: int, discarded: str | None
) -> tuple[Part, int]:
    smtp, etc = free_port(), folder / "etc"
    for part in ("etc", "queue", "data"):
        (folder / part).mkdir(parents=True)
    shutil.chown(folder / "data", "postfix", "postfix")
    (etc / "vmailbox").write_text(convert(accounts, "postfix"))
    (etc / "master.cf").write_text(f"127.0.0.1:{smtp} inet n - n - {smtpd_processes} smtpd\n{STOCK}")
    settings = {
        "compatibility_level": "3.6",
        "queue_directory": folder / "queue",
        "command_directory": "/usr/sbin",
        "daemon_directory": "/usr/lib/postfix/sbin",
        "data_directory": folder / "data",
        "mail_owner": "postfix",
        "setgid_group": "postdrop",
        "myhostname": "mx.bakeoff.test",
        "inet_interfaces": "127.0.0.1",
        "inet_protocols": "ipv4",
        "mydestination": "",
        "alias_maps": "",
        "local_recipient_maps": "",
        "virtual_mailbox_domains": accounts[0].domain,
        "virtual_mailbox_maps": f"texthash:{etc}/vmailbox",
        "virtual_transport": f"lmtp:inet:127.0.0.1:{lmtp}",
        "default_transport": "error:outside",
        "transport_maps": f"inline:{{{discarded}=discard:}}" if discarded else "",
        "maillog_file": folder / "postfix.log",
        "maillog_file_prefixes": str(folder),
        "smtpd_relay_restrictions": "permit_mynetworks,reject",
        "smtpd_data_restrictions": f"sleep {think_s}" if think_s else "",
        "smtpd_peername_lookup": "no",
        "disable_dns_lookups": "yes",
        "smtpd_tls_security_level": "none",
        "in_flow_delay": "0",
        "message_size_limit": "52428800",
    }
    (etc / "main.cf").write_text("".join(f"{key} = {value}\n" for key, value in settings.items()))
    # Its master leaves the session of the program that starts it: no signal to that one ends it.
    postfix = (need("postfix"), "-c", str(etc))
    return _start([*postfix, "start-fg"], folder, [smtp], "postfix.log", (*postfix, "stop")), smtp


def start_exim(folder: Path, accounts: Sequence[Account], accept_max: int = 200, think_s: int = 0) -> MailServer:
    """Exim, which hands all mail to Dovecot by LMTP; it thinks so long about each message."""
    dovecot, lmtp = start_dovecot(folder.with_name(folder.name + "-dovecot"), accounts)
    with _ended_on_failure(dovecot):
        part, smtp = _exim(folder, accounts, lmtp, accept_max, think_s)
    return MailServer(f"smtp=127.0.0.1:{smtp},{dovecot.address}", [*dovecot.parts, part])


def _exim(folder: Path, accounts: Sequence[Account], lmtp: int, accept_max: int, think_s: int) -> tuple[Part, int]:
    binary = SERVERS / "exim4-daemon-light" / "usr" / "sbin" / "exim4"
    if not binary.exists():
        pytest.fail("Exim is not there: run `make test`, which fetches it")
    smtp = free_port()
    _owned(folder / "spool")
    _owned(folder / "log")
    copy = folder / "exim4"
    shutil.copy(binary, copy)
    copy.chmod(0o755)  # without its setuid bit it stays who it is
    config = folder / "exim.conf"
    config.write_text(
        f"""
exim_user = {OWNER}
exim_group = {OWNER}
exim_path = {copy}
keep_environment =
never_users =
primary_hostname = mx.bakeoff.test
spool_directory = {folder}/spool
log_file_path = {folder}/log/%slog
pid_file_path = {folder}/spool/exim.pid
host_lookup =
helo_lookup_domains =
rfc1413_hosts =
tls_advertise_hosts =
local_interfaces = <; 127.0.0.1
daemon_smtp_ports = {smtp}
smtp_accept_max = {accept_max}
smtp_accept_max_per_connection = 0
smtp_accept_queue_per_connection = 0
smtp_connect_backlog = 256
acl_smtp_rcpt = accept
acl_smtp_data = think
begin acl
accept:
  accept
think:
  accept delay = {think_s}s
begin routers
all:
  driver = manualroute
  domains = {accounts[0].domain}
  route_list = * 127.0.0.1
  self = send
  transport = dovecot
begin transports
dovecot:
  driver = smtp
  protocol = lmtp
  port = {lmtp}
  allow_localhost
  hosts_try_fastopen =
begin retry
* * F,1m,1s
"""
    )
    config.chmod(0o644)
    return _start([str(copy), "-C", str(config), "-bdf", "-q1m"], folder, [smtp], "output.log"), smtp


def start_greenmail(folder: Path, accounts: Sequence[Account]) -> MailServer:
    """GreenMail, all in the memory of one Java process."""
    jars = sorted(SERVERS.glob("greenmail-standalone-*.jar"))
    if not jars:
        pytest.fail("GreenMail is not there: run `make test`, which fetches it")
    folder.mkdir()
    smtp, pop3, http = free_port(), free_port(), free_port()
    command = [
        need("java"),
        "-Xmx1g",
        "-Dgreenmail.smtp.hostname=127.0.0.1",
        f"-Dgreenmail.smtp.port={smtp}",
        "-Dgreenmail.pop3.hostname=127.0.0.1",
        f"-Dgreenmail.pop3.port={pop3}",
        f"-Dgreenmail.users={convert(accounts, 'greenmail').strip()}",
        "-Dgreenmail.users.login=email",
        "-Dgreenmail.api.hostname=127.0.0.1",
        f"-Dgreenmail.api.port={http}",
        "-jar",
        str(jars[-1]),
    ]
    server = MailServer(
        f"smtp=127.0.0.1:{smtp},pop3=127.0.0.1:{pop3}", [_start(command, folder, (smtp, pop3), "output.log")]
    )
    with _ended_on_failure(server):
        _wait_until_let_in(pop3, accounts[-1])
    return server


def _wait_until_let_in(port: int, account: Account) -> None:
    """GreenMail makes its users after it has opened its ports, the last one last."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        with (
            contextlib.suppress(OSError, poplib.error_proto),
            contextlib.closing(poplib.POP3("127.0.0.1", port)) as pop3,
        ):
            pop3.user(account.address)
            pop3.pass_(account.password)
            return
        time.sleep(0.1)
    pytest.fail(f"{account.address} is not let in at port {port}")


STARTERS: dict[str, Callable[..., MailServer]] = {
    "postfix": start_postfix,
    "exim": start_exim,
    "greenmail": start_greenmail,
}
