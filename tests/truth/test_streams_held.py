"""Bodies that come on the wrong stream: each reply is right for another address of the list. Length, type and status
are those of the right one, so that bytes alone tell it.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.http2_server import Behaviour as Behaviour2
from tests.http2_server import Http2Server
from tests.http3_server import Behaviour as Behaviour3
from tests.http3_server import Http3Server
from tests.servers.conftest import certificate
from tests.truth.test_replies_held import compared, has_lost, verdicts

PATHS = [f"/{number}" for number in range(6)]
# The address itself is asked once, whether anybody is there.
BODIES = {path: hashlib.sha256(path.encode()).digest() * 40 for path in ("/", *PATHS)}
Pages = Callable[[str, int], bytes]


def right(path: str, before: int) -> bytes:
    return BODIES[path]


def another(path: str) -> bytes:
    return BODIES[PATHS[(PATHS.index(path) + 1) % len(PATHS)]] if path in PATHS else BODIES[path]


CHEATS: dict[str, Pages] = {
    "swapped after the check": lambda path, before: right(path, before) if before < 60 else another(path),
    "swapped now and then": lambda path, before: another(path) if before > 60 and before % 5 == 0 else BODIES[path],
    "swapped from the first on": lambda path, before: another(path),
    "the first page for all": lambda path, before: BODIES[PATHS[0]],
    "whatever is at hand": lambda path, before: BODIES[PATHS[before % len(PATHS)]],
}


@contextmanager
def serving(version: str, folder: Path, pages: Pages) -> Iterator[str]:
    """Where a server of this version of HTTP is."""
    if version == "2":
        with Http2Server(Behaviour2(pages=pages)) as server:
            yield f"http://{server.address}/"
        return
    key, cert = certificate(folder)
    with Http3Server(cert, key, Behaviour3(pages=pages)) as quic:
        yield f"https://{quic.address}/"


AFTER = "swapped after the check"
CELLS = [(cheat, "2", "closed") for cheat in CHEATS]
CELLS += [(AFTER, "3", "closed"), ("whatever is at hand", "3", "closed"), (AFTER, "2", "rate"), (AFTER, "3", "rate")]


@pytest.mark.parametrize(("cheat", "version", "load"), CELLS)
def test_bodies_of_other_streams_win_nothing(tmp_path: Path, cheat: str, version: str, load: str) -> None:
    urls = tmp_path / "urls.txt"
    urls.write_text("".join(f"1 {path}\n" for path in PATHS))
    flags = ["--urls", str(urls), "--http", version, "--streams", "4"]
    flags += ["--operations", "120", "--clients", "2"] if load == "closed" else ["--rate", "60", "--length", "1s"]
    flags += ["--insecure"] if version == "3" else []
    with serving(version, tmp_path, right) as honest, serving(version, tmp_path, CHEATS[cheat]) as swapped:
        found = compared(tmp_path, "web-url", {"honest": honest, "cheat": swapped}, *flags)
    said = verdicts(found)
    assert has_lost(found) or all(verdict["kind"] == "withheld" for verdict in said), (found["headline"], said)
    assert all(verdict["winner"] != "cheat" for verdict in said) and "cheat" in " ".join(found["headline"])


@pytest.mark.parametrize("version", ["2", "3"])
def test_equal_servers_of_several_streams_lose_nothing(tmp_path: Path, version: str) -> None:
    """The control of the test above."""
    urls = tmp_path / "urls.txt"
    urls.write_text("".join(f"1 {path}\n" for path in PATHS))
    flags = ["--urls", str(urls), "--http", version, "--streams", "4", "--operations", "120", "--clients", "2"]
    flags += ["--insecure"] if version == "3" else []
    with serving(version, tmp_path, right) as one, serving(version, tmp_path, right) as other:
        found = compared(tmp_path, "web-url", {"one": one, "other": other}, *flags)
    assert all(summary["errors"] == {} for summary in found["contenders"])
    assert not {"disqualified", "withheld"} & {verdict["kind"] for verdict in verdicts(found)}, found["headline"]
