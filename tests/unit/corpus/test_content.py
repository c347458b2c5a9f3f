from html.parser import HTMLParser

import pytest

from bakeoff.testdata.corpus.content import SMALLEST_GIF, binary, gif, html, numbers, stream


@pytest.mark.parametrize("size", [SMALLEST_GIF, 223, 735, *range(285, 305), *range(540, 560), 2895])
def test_a_gif_is_valid_and_has_exactly_its_size(size: int) -> None:
    data = gif(1, "x.gif", size)
    assert len(data) == size
    assert data[:6] == b"GIF89a" and data[-1:] == b";"
    assert data[6:10] == b"\x01\x00\x01\x00", "one pixel"
    at = 13 + 6
    assert data[at : at + 2] == b"\x21\xfe", "a comment"
    at = skip_blocks(data, at + 2)
    assert data[at : at + 1] == b"\x2c", "then the image"
    at = skip_blocks(data, at + 11)
    assert at == size - 1, "then the end"


def skip_blocks(data: bytes, at: int) -> int:
    """The place after a chain of sub-blocks; each is at least one byte long."""
    while data[at]:
        at += 1 + data[at]
    return at + 1


def test_a_gif_that_would_be_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match=f"needs {SMALLEST_GIF} bytes"):
        gif(1, "x.gif", SMALLEST_GIF - 1)


class Balance(HTMLParser):
    """Fails at a tag that closes what is not open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("size", [150, 256, 6040, 22132])
def test_html_is_well_formed_and_has_exactly_its_size(size: int) -> None:
    data = html(1, "d/x.html", size)
    assert len(data) == size and data.isascii()
    parser = Balance()
    parser.feed(data.decode())
    assert parser.open == [] and parser.seen == ["html", "head", "title", "body", "p"]
    assert max(map(len, data.splitlines())) <= 120


def test_contents_depend_on_seed_and_name_only() -> None:
    assert binary(1, "a", 1000) == binary(1, "a", 1000)
    assert binary(1, "a", 1000) != binary(2, "a", 1000)
    assert binary(1, "a", 1000) != binary(1, "b", 1000)
    assert binary(1, "a", 10) == binary(1, "a", 1000)[:10]
    assert numbers(1, "a", 3)[0] == int.from_bytes(stream(1, "a", 4), "big")
