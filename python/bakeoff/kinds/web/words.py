"""Words for requests to web servers."""

from __future__ import annotations

from collections.abc import Mapping

from bakeoff.report.narrate.kind import WordsPart

# How a sentence tells in which way requests are made, for all kinds that make them.
CLIENT_OPTION_WORDS: Mapping[str, Mapping[str, str]] = {
    "http": {version: f"over HTTP/{version}" for version in ("1.0", "1.1", "2", "3")},
    "keep_alive": {"yes": "over kept connections", "no": "with a connection for each request"},
    "close_with_reset": {"yes": "with connections ended by a reset", "no": "with connections ended in order"},
    "insecure": {"yes": "without a look at certificates", "no": "with certificates checked"},
    "full_handshake": {"yes": "with a full TLS handshake each time", "no": "with TLS sessions resumed"},
    "requests_per_connection": {"none": "with any number of requests on a connection"},
    "receive_buffer": {"none": "with the kernel's receive buffer"},
    "headers": {"none": "without further headers"},
    "cookie": {"none": "without a cookie"},
    "basic_auth": {"none": "without a login"},
}

PART = WordsPart(
    client_option_words=CLIENT_OPTION_WORDS,
)
