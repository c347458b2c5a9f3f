"""Addresses of ssh: one form wherever they are written, of which nothing can be taken for an option or a command."""

import pytest

from bakeoff.core.system.ssh import Address, address_of, has_password


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("ssh://there", Address("there", None, None)),
        ("ssh://root@10.0.0.2", Address("10.0.0.2", "root", None)),
        ("ssh://me@_Lab-1.example.org:022/", Address("_Lab-1.example.org", "me", 22)),
        ("ssh://u@[fe80::1%eth0]:22", Address("fe80::1%eth0", "u", 22)),
        ("ssh://[::1]", Address("::1", None, None)),
    ],
)
def test_what_names_a_machine(text: str, address: Address) -> None:
    assert address_of(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "ssh://h:", "ssh://h:0", "ssh://h:65536", "ssh://h:\u0662\u0662", "ssh://h:+22", "ssh://@h", "ssh://u@",
        "ssh://fe80::1", "ssh://[::1", "ssh://[:::1]", "ssh://[10.0.0.1]", "ssh://[::1]x", "ssh://-oProxyCommand=x",
        "ssh://u@-b", "ssh://-l@h", "ssh://h/path", "ssh://h?", "ssh://h#x", "ssh://h//", "ssh://h\n", "ssh://a b",
        "ssh://$(x)", "SSH://h", "h", "",
    ],
)  # fmt: skip
def test_what_names_none(text: str) -> None:
    assert address_of(text) is None


def test_a_password_is_seen_whatever_is_in_it() -> None:
    assert all(map(has_password, ("ssh://u:pw@h", "ssh://:p@h", "ssh://u:p@w@h:22", "ssh://u:p/w@h")))
    assert not any(map(has_password, ("ssh://h:22", "ssh://u@h:22", "ssh://u@[::1]:22")))
