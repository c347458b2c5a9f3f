"""Whether the end of a TLS handshake leaves by itself is for the plan to say: the kernel of the other side counts."""

import contextlib
import socket
import ssl
import struct
import threading
from pathlib import Path

import pytest

from tests.mailtools import run, spec
from tests.servers.conftest import certificate

# Of struct tcp_info (linux/tcp.h): tcpi_data_segs_in, a number of 32 bits.
DATA_SEGMENTS_IN = 152


def segments(connection: socket.socket) -> int:
    """Segments with data that came in so far."""
    observed = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, DATA_SEGMENTS_IN + 4)
    return int(struct.unpack_from("=I", observed, DATA_SEGMENTS_IN)[0])


class Server:
    """Takes SMTP over STARTTLS. Its side of a handshake is one write, so that the client reads it at once."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        self.tls = tls
        # Of each connection: segments with the end of the handshake and the first command behind it.
        self.counts: list[int] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.serve, args=(self.listener.accept()[0],), daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, ssl.SSLError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(b"220 ready\r\n")
            connection.recv(1 << 16)
            connection.sendall(b"250-here\r\n250 STARTTLS\r\n")
            connection.recv(1 << 16)
            connection.sendall(b"220 go ahead\r\n")
            self.probe_handshake(connection)

    def probe_handshake(self, connection: socket.socket) -> None:
        """What follows STARTTLS: a handshake, and a reply to each line but those of a message."""
        came, leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = self.tls.wrap_bio(came, leaving, server_side=True)
        before = None
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                if leaving.pending:
                    before = segments(connection)
                    connection.sendall(leaving.read())
                self.take(connection, came)
        body = False
        rest = b""
        while True:
            try:
                rest += tls.read(1 << 16)
            except ssl.SSLWantReadError:
                self.take(connection, came)
                continue
            if before is not None:
                self.counts.append(segments(connection) - before)
                before = None
            *lines, rest = rest.split(b"\r\n")
            for line in lines:
                if body and line != b".":
                    continue
                body = line == b"DATA"
                code = b"354" if body else b"221" if line == b"QUIT" else b"250"
                tls.write(code + b" fine\r\n")
                connection.sendall(leaving.read())

    @staticmethod
    def take(connection: socket.socket, came: ssl.MemoryBIO) -> None:
        portion = connection.recv(1 << 16)
        if not portion:
            raise OSError("the client has gone")
        came.write(portion)


@pytest.mark.parametrize("apart", [False, True])
def test_the_end_of_the_handshake_and_the_first_command_are_one_segment_or_two(tmp_path: Path, apart: bool) -> None:
    key, cert = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server = Server(context)
    tls = {"verify": False, "handshake_apart": apart}
    result = run(
        spec(
            server.address,
            None,
            smtp_settings={"security": "starttls", "tls": tls},
            trial={"clients": 2, "max_operations": 200, "ramp_up_s": 0.0, "ramp_down_s": 0.0},
        )
    )
    server.listener.shutdown(socket.SHUT_RDWR)
    server.listener.close()
    assert result["errors"] == {}
    assert len(server.counts) >= 10
    # The kernel also counts what was sent once more, as happens on a busy machine.
    assert min(server.counts) == (2 if apart else 1)
