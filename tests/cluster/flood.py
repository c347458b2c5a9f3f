"""Sends what nobody asked for to ports: bytes at random, and one message of gRPC that says it is that long.

    python -m tests.cluster.flood TOKEN BYTES HOST:PORT ...

Each port is sent to until it has taken so many bytes, closes the connection, or takes none for a second.
"""

import contextlib
import os
import socket
import struct
import sys

import h2.config
import h2.connection
import h2.events
from h2.exceptions import ProtocolError

PIECE = os.urandom(1 << 20)
SILENT_S = 1.0
METHOD = "/ray.rpc.NodeInfoGcsService/GetAllNodeInfo"


def raw(host: str, port: int, size_bytes: int) -> None:
    """Bytes at random."""
    with socket.create_connection((host, port), SILENT_S) as wire:
        for _ in range(size_bytes // len(PIECE)):
            wire.sendall(PIECE)


def message(host: str, port: int, size_bytes: int, token: str) -> None:
    """A message of gRPC, as far as flow control lets it through."""
    connection = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
    connection.initiate_connection()
    headers = [(":method", "POST"), (":scheme", "http"), (":path", METHOD), (":authority", f"{host}:{port}")]
    headers += [("te", "trailers"), ("content-type", "application/grpc"), ("authorization", f"Bearer {token}")]
    with socket.create_connection((host, port), SILENT_S) as wire:
        connection.send_headers(1, headers)
        connection.send_data(1, struct.pack(">BI", 0, size_bytes))
        sent = 0
        while sent < size_bytes:
            room = min(connection.local_flow_control_window(1), connection.max_outbound_frame_size, len(PIECE))
            if room > 0:
                connection.send_data(1, PIECE[:room])
                sent += room
            wire.sendall(connection.data_to_send())
            if room > 0:
                continue
            data = wire.recv(65536)
            ends = h2.events.StreamEnded | h2.events.StreamReset
            if not data or any(isinstance(event, ends) for event in connection.receive_data(data)):
                return


def main() -> None:
    """Sends both to each port: refused, closed or silent, each is an answer."""
    token, size_bytes = sys.argv[1], int(sys.argv[2])
    for place in sys.argv[3:]:
        host, _, port = place.rpartition(":")
        with contextlib.suppress(OSError):
            raw(host, int(port), size_bytes)
        with contextlib.suppress(OSError, ProtocolError):
            message(host, int(port), size_bytes, token)


if __name__ == "__main__":
    main()
