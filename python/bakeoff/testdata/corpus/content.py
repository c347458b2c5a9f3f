"""Bytes of generated files. SHAKE-256 keyed by seed and path is the only source of variety, so a file depends
on nothing but its name, its size and the seed: not on Python's version, the machine, or the order of making.
"""

import hashlib

_LETTERS = bytes((b"etaoinshrdlucmfwypvbgketaoinshrd      ")[i % 38] for i in range(256))
_GIF_HEAD = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff"
_GIF_TAIL = b"\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00\x3b"
_HTML_HEAD = b"<!DOCTYPE html>\n<html><head><title>%s</title></head><body>\n<p>\n"
_HTML_TAIL = b"</p>\n</body></html>\n"
_LINE = 72
SMALLEST_GIF = len(_GIF_HEAD) + len(_GIF_TAIL) + 5


def stream(seed: int, name: str, size: int) -> bytes:
    """`size` bytes that look random, the same for the same seed and name for ever."""
    return hashlib.shake_256(f"bakeoff corpus 1\0{seed}\0{name}".encode()).digest(size)


def numbers(seed: int, name: str, count: int) -> list[int]:
    """`count` 32-bit numbers of a stream."""
    data = stream(seed, name, 4 * count)
    return [int.from_bytes(data[i : i + 4], "big") for i in range(0, 4 * count, 4)]


def gif(seed: int, name: str, size: int) -> bytes:
    """A valid one-pixel GIF of exactly `size` bytes; a comment block carries the filling."""
    fill = size - len(_GIF_HEAD) - len(_GIF_TAIL) - 3
    if fill < 2:
        raise ValueError(f"a GIF needs {SMALLEST_GIF} bytes at least")
    noise = stream(seed, name, fill)
    blocks, at = [], 0
    while fill:
        taken = min(fill, 256)
        if fill - taken == 1:  # a block of one byte would be a terminator
            taken -= 1
        blocks.append(bytes([taken - 1]) + noise[at : at + taken - 1])
        at += taken
        fill -= taken
    return _GIF_HEAD + b"\x21\xfe" + b"".join(blocks) + b"\x00" + _GIF_TAIL


def html(seed: int, name: str, size: int) -> bytes:
    """A well-formed HTML page of exactly `size` bytes, all ASCII: invented words in short lines."""
    head = _HTML_HEAD % name.encode()
    fill = size - len(head) - len(_HTML_TAIL)
    if fill < 1:
        raise ValueError(f"an HTML page named {name} needs {len(head) + len(_HTML_TAIL) + 1} bytes at least")
    text = bytearray(stream(seed, name, fill).translate(_LETTERS))
    text[_LINE - 1 :: _LINE] = b"\n" * len(range(_LINE - 1, fill, _LINE))
    text[-1:] = b"\n"
    return head + bytes(text) + _HTML_TAIL


def binary(seed: int, name: str, size: int) -> bytes:
    """Bytes that do not compress."""
    return stream(seed, name, size)


MAKERS = {".gif": gif, ".htm": html, ".html": html, ".bin": binary}
