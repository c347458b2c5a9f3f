"""Calls methods of gRPC and HTTP servers without knowing a message of theirs: who may call is asked before what.

Reads JSON from standard input: `{"token": TEXT or null, "hosts": [[HOST, PORT, [METHOD, …]], …]}`; writes for each host
what came, by method: the status of gRPC, or `HTTP` and its status.
"""

import json
import socket
import sys
from typing import Any

import h2.connection
import h2.events
from h2.exceptions import ProtocolError

SILENT_S = 30.0
AT_ONCE = 50
EMPTY = bytes(5)  # a message of gRPC without content


def grpc(host: str, port: int, methods: list[str], token: str | None) -> dict[str, str]:
    """The status of each method; `closed` when the server ends the connection instead."""
    table: dict[str, str] = {}
    for first in range(0, len(methods), AT_ONCE):
        table |= _grpc(host, port, methods[first : first + AT_ONCE], token)
    return table


def _grpc(host: str, port: int, methods: list[str], token: str | None) -> dict[str, str]:
    connection = h2.connection.H2Connection()
    connection.initiate_connection()
    streams: dict[int, str] = {}
    table: dict[str, str] = {}
    with socket.create_connection((host, port), SILENT_S) as wire:
        for method in methods:
            stream = connection.get_next_available_stream_id()
            streams[stream] = method
            headers = [(":method", "POST"), (":scheme", "http"), (":path", method), (":authority", f"{host}:{port}")]
            headers += [("te", "trailers"), ("content-type", "application/grpc")]
            headers += [] if token is None else [("authorization", f"Bearer {token}")]
            connection.send_headers(stream, headers)
            connection.send_data(stream, EMPTY, end_stream=True)
        wire.sendall(connection.data_to_send())
        while len(table) < len(methods):
            try:
                data = wire.recv(65536)
            except (TimeoutError, ConnectionError):
                data = b""
            if not data:
                return {method: table.get(method, "closed") for method in methods}
            for event in connection.receive_data(data):
                status = _status(event)
                if status is not None:
                    table[streams[event.stream_id]] = status  # type: ignore[attr-defined]
            wire.sendall(connection.data_to_send())
    return table


def _status(event: Any) -> str | None:
    if isinstance(event, h2.events.ResponseReceived | h2.events.TrailersReceived):
        headers = {bytes(name).decode(): bytes(value).decode() for name, value in event.headers}
        return headers.get("grpc-status")
    return "reset" if isinstance(event, h2.events.StreamReset) else None


def http(host: str, port: int, path: str, token: str | None) -> str:
    """The status of a POST to a server of HTTP/1.1."""
    bearer = "" if token is None else f"Authorization: Bearer {token}\r\n"
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\n{bearer}Content-Length: 0\r\nConnection: close\r\n\r\n"
    with socket.create_connection((host, port), SILENT_S) as wire:
        wire.sendall(head.encode())
        return "HTTP " + wire.makefile("rb").readline().decode().split()[1]


def main() -> None:
    document = json.load(sys.stdin)
    answers = []
    for host, port, methods in document["hosts"]:
        try:
            found = grpc(host, port, methods, document["token"])
        except ProtocolError:
            found = {}
        if set(found.values()) <= {"closed"}:  # no HTTP/2
            found = {path: http(host, port, path, document["token"]) for path in methods if path.count("/") == 1}
        answers.append(found)
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
