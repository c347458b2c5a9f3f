"""What is said of servers whose certificates are not to be trusted, or who do not speak TLS where it is expected."""

import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from bakeoff.core.errors import ContenderError
from bakeoff.kinds.mail.run import MailCheck
from bakeoff.kinds.web.run import WebCheck
from bakeoff.run.kind import Check
from tests.unit.run.fake import plan_for

DAY = datetime.timedelta(days=1)
NOW = datetime.datetime.now(datetime.UTC)


def certificate(folder: Path, name: str, age_days: int) -> Path:
    """A key and a self-signed certificate, both in one file, that began so many days ago and holds for ten."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "bakeoff test")])
    alternative = x509.IPAddress(ipaddress.ip_address(name)) if name[0].isdigit() else x509.DNSName(name)
    begins = NOW - age_days * DAY
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(begins + 10 * DAY)
        .add_extension(x509.SubjectAlternativeName([alternative]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path = folder / f"{name}-{age_days}.pem"
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, *plain) + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


@contextmanager
def server(pem: Path | None, greeting: bytes) -> Iterator[int]:
    """Listens with TLS, or without where there is no certificate; gives its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if pem is not None:
        context.load_cert_chain(pem)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with suppress(OSError), connection:
                if pem is None:
                    connection.sendall(greeting)
                    connection.recv(4096)
                else:
                    with context.wrap_socket(connection, server_side=True) as secure:
                        secure.sendall(greeting)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def said(check: Check) -> str:
    with pytest.raises(ContenderError) as refused:
        check.answers(check.plan.contenders[0])
    return str(refused.value)


def web(port: int, **settings: str) -> Check:
    return WebCheck(plan_for(f"https://127.0.0.1:{port}/", suite="web-url", **settings))


def mail(folder: Path, port: int, scheme: str = "pop3s", **settings: str) -> Check:
    users = folder / "users.csv"
    users.write_text("".join(f"u{i},pw{i},bakeoff.test\n" for i in range(100)))
    address = f"{'smtps' if scheme == 'pop3s' else 'smtp'}=127.0.0.1:{port},{scheme}=127.0.0.1:{port}"
    return MailCheck(plan_for(address, suite="mail-pop", users=str(users), clients="2", **settings))


CASES = [
    ("127.0.0.1", 1, ("name its authority with --ca-file FILE", "--insecure")),
    ("127.0.0.1", 100, ("expired", "renew it, or use --insecure")),
    ("elsewhere.test", 1, ("IP address mismatch", "write the host by a name that it has", "--insecure")),
]


@pytest.mark.parametrize(("name", "age_days", "words"), CASES, ids=["self-signed", "expired", "another name"])
def test_certificates_that_are_not_to_be_trusted(
    tmp_path: Path, name: str, age_days: int, words: tuple[str, ...]
) -> None:
    pem = certificate(tmp_path, name, age_days)
    trusted = {} if name == "127.0.0.1" and age_days == 1 else {"ca_file": str(pem)}
    with server(pem, b"") as port:
        for text in (said(web(port, **trusted)), said(mail(tmp_path, port, **trusted))):
            assert all(word in text for word in words), text
            assert "accounts" not in text and "users" not in text


def test_tls_is_spoken_where_there_is_none_and_the_other_way_round(tmp_path: Path) -> None:
    with ExitStack() as stack:
        plain = stack.enter_context(server(None, b"+OK hello\r\n"))
        secure = stack.enter_context(server(certificate(tmp_path, "127.0.0.1", 1), b""))
        assert "is this an http:// address?" in said(web(plain))
        text = said(mail(tmp_path, plain))
        assert "speaks plain text: write smtp= or pop3= for it, with --starttls" in text and "SSL" not in text
        text = said(mail(tmp_path, secure, "pop3", connect_timeout="300ms", reply_timeout="300ms"))
        assert "is it running, and is the port right?" in text
