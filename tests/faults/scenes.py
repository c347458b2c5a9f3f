"""Every suite under every load, as small as it can be: what the plan says, and how a contender is asked for it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bakeoff.agents.spec import TrialSpec
from bakeoff.testdata.corpus.manifest import MANIFEST_NAME
from bakeoff.testdata.corpus.write import write_corpus
from tests import shop
from tests.faults import servers
from tests.faults.sorts import AGENTS, CAPACITY, CLOSED, HTTP_2, HTTP_3, IN_FLIGHT, RATE, SOAK
from tests.mailtools import accounts
from tests.servers.conftest import certificate
from tests.unit.run.fake import small_manifest

OPERATIONS = 100
SESSION = """
[[step]]
name = "look"
path = "/look"
expect = 200
[[step]]
name = "order"
path = "/order"
expect = 200
"""
LINE = '::1 - - [10/Oct/2026:13:55:{second:02d} +0000] "GET /p{path} HTTP/1.1" 200 1024 "-" "x"\n'
NOTHING_MORE: Mapping[str, str] = {}
_COUNTED = {"clients": "4", "operations": OPERATIONS, "length": "10min"}
_FILES = {"clients": "2", "length": "10min"}


@dataclass(frozen=True)
class Scene:
    """`family` is the sort of contenders that the suite asks; `settings` are those of a closed loop."""

    family: str
    settings: Mapping[str, Any]
    path: str = ""
    # Of a target: what it must serve.
    root: str = ""
    # So many operations bound a trial that the plan bounds by time alone, where the load is no rate.
    operations: int | None = None

    def shortened(self, load: str) -> Callable[[TrialSpec], TrialSpec]:
        """A trial as the plan has it, but for its bound."""
        if self.operations is None or load in (RATE, SOAK):
            return lambda spec: spec
        bound = {"max_operations": self.operations, "length_s": 600.0}
        return lambda spec: spec.model_copy(update=bound)


SCENES: dict[str, Scene] = {
    "web-url": Scene("web", _COUNTED, "/page"),
    "web-static": Scene("web", _COUNTED, root="static"),
    "web-dynamic": Scene("web", _COUNTED, root="dynamic"),
    "web-session": Scene("web", {**_COUNTED, "operations": OPERATIONS // 2, "session": "session.toml"}),
    "replay": Scene("web", {"log": "access.log", "speed": "20"}),
    "httperf": Scene("web", {"num_conns": OPERATIONS, "num_calls": 2}, "/page"),
    "app": Scene("app", {**_COUNTED, "upload": "1KiB", "download": "1KiB", "rounds": 100}),
    "mail-pop": Scene("mail", {"clients": "4", "length": "1s", "ramp_up": "0s", "ramp_down": "0s", "mailboxes": 5,
                               "users": "users.csv", "drain_limit": "2s", "sizes": "2KiB=1"}, operations=1_000),
    "file-blocks": Scene("files", {**_FILES, "cell_time": "20ms", "ramp_up": "0s", "region": "16MiB",
                                   "block_sizes": "4KiB", "patterns": "random_read"}),
    "file-matrix": Scene("files", {**_FILES, "file_sizes": "64KiB", "record_sizes": "4KiB"}),
    "file-mix": Scene("files", {"clients": "2", "length": "500ms", "ramp_up": "0s", "ramp_down": "0s"},
                      operations=20_000),
}  # fmt: skip


def tables_of(suite: str, load: str) -> tuple[dict[str, Any], int]:
    """The tables of the plan for a suite under a load, and how many agents send it."""
    settings, more, agents = dict(SCENES[suite].settings), dict[str, Any](), 1
    if load == CLOSED and suite == "replay":
        settings["clients"] = "4"
    elif load == RATE:
        settings.pop("clients", None)
        settings.pop("speed", None)
        settings["rate"] = {"app": "200", "mail-pop": "40"}.get(suite, "1000")
        if suite not in ("replay", "httperf"):
            # However fast a contender is, it is asked for so many at once.
            settings |= {"arrivals": "burst:4", "most_connections": 4}
    elif load == IN_FLIGHT:
        settings["outstanding"] = "4"
    elif load == SOAK:
        settings.pop("operations", None)
        settings["interval"] = "100ms"
        if suite not in ("httperf", "replay") and SCENES[suite].family != "files":
            settings |= {"length": "300ms", "ramp_up": "0s", "ramp_down": "0s", "think": "2ms"}
        more["plan"] = {"blocks": 1}
    elif load in (HTTP_2, HTTP_3):
        settings["http"] = "2" if load == HTTP_2 else "3"
        if "operations" in settings:
            settings["operations"] = OPERATIONS // 2
        if load == HTTP_3:
            settings["insecure"] = True
    elif load == AGENTS:
        more["fleet"] = {"agents": 2, "start_spread": "60s"}
        agents = 2
        if suite == "httperf":
            settings["rate"] = 1000
    elif load == CAPACITY:
        settings.pop("clients", None)
        settings.pop("operations", None)
        settings.pop("speed", None)
        settings["length"] = "1s"
        if suite == "replay":
            settings["loop"] = True
        if suite == "mail-pop":
            settings["most_connections"] = 4
        more["capacity"] = {"objective": "p99<=50ms,errors<=0.1%", "least": "100", "shares": "50%"}
    return {"settings": settings, **more}, agents


class Stage:
    """A folder with what the scenes need."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        write_corpus("web-dynamic", folder / "dynamic", 1)
        manifest, pages = small_manifest()
        for name, body in {**pages, MANIFEST_NAME: manifest.to_bytes()}.items():
            place = folder / "static" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(body)
        (folder / "session.toml").write_text(SESSION)
        (folder / "shop.toml").write_text(shop.SESSION)
        (folder / "urls.txt").write_text("".join(f"/p{number}\n" for number in range(8)))
        lines = (LINE.format(second=number // 50, path=number % 5) for number in range(2 * OPERATIONS))
        (folder / "access.log").write_text("".join(lines))
        rows = [f"{a['user'].split('@')[0]},{a['password']},bakeoff.test\n" for a in accounts(200)]
        (folder / "users.csv").write_text("user,password,domain\n" + "".join(rows))
        self.key, self.cert = certificate(folder)

    def tables(self, suite: str, load: str, more: Mapping[str, str] = NOTHING_MORE) -> tuple[dict[str, Any], int]:
        """As `told`, with full paths, and with `more` settings."""
        tables, agents = tables_of(suite, load)
        settings = tables["settings"]
        settings |= more
        for key in ("session", "log", "users", "urls"):
            if key in settings:
                settings[key] = str(self.folder / settings[key])
        return tables, agents

    @contextmanager
    def address(self, suite: str, load: str, bare: str, speaks: str = "") -> Iterator[str]:
        """The address of the plan for a contender that listens at `bare`, behind a gateway where it does not speak the
        protocol of the load itself.
        """
        scene = SCENES[suite]
        if scene.family != "web":
            yield bare
        elif speaks:
            yield f"{'https' if speaks == HTTP_3 else 'http'}://{bare}{scene.path}"
        elif load == HTTP_2:
            with servers.over_http2(bare) as front:
                yield f"http://{front}{scene.path}"
        elif load == HTTP_3:
            with servers.over_http3(bare, self.cert, self.key) as front:
                yield f"https://{front}{scene.path}"
        else:
            yield f"http://{bare}{scene.path}"
