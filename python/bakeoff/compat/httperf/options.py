"""What a command line of httperf asks for: settings of the kind, where the server is, and what is printed."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bakeoff.compat.httperf.getopt import HINT, LONG, read_words
from bakeoff.core.errors import PlanError
from bakeoff.kinds.httperf.files import read_hosts
from bakeoff.kinds.httperf.plan import HttperfSettings
from bakeoff.kinds.httperf.spec import PrintSpec
from bakeoff.kinds.httperf.values import parse_count
from bakeoff.kinds.httperf.work import NOTHING, Telling
from bakeoff.plan.input.messages import explain, input_names
from bakeoff.plan.settings.fleet import AGENTS_MAX
from bakeoff.plan.settings.shared import LENGTH_MAX_S

# What is told or kept of each connection, or while it goes on.
ONE_MACHINE_ONLY = ("output", "print-request", "print-reply", "periodic-stats", "verbose")
REPEATED = ("add-header", "myaddr", "")
PARTS = {"": PrintSpec(header=True, body=True), "header": PrintSpec(header=True, body=False)}
PARTS["body"] = PrintSpec(header=False, body=True)
# What is no setting of a plan.
OWN = frozenset(LONG) - {key.replace("_", "-") for key in input_names(HttperfSettings)}
NO_SETTINGS = HttperfSettings.model_validate({})


@dataclass(frozen=True)
class Options:
    """A command line that was read. `hosts` are the servers; `print_*` is None, or which part ("" for all of it)."""

    settings: HttperfSettings
    server: str = "localhost"
    servers_file: str | None = None
    hosts: tuple[str, ...] = ("localhost",)
    port: int = 80
    tls: bool = False
    print_request: str | None = None
    print_reply: str | None = None
    periodic_stats: bool = False
    verbose: int = 0
    json: bool = False
    output: Path | None = None
    help: bool = False
    version: bool = False
    warnings: tuple[str, ...] = ()
    side_by_side: tuple[Path, ...] = ()
    cluster: str | None = None
    agents: int = 1

    @property
    def address(self) -> str:
        """The first server as the address of a contender."""
        host = self.hosts[0]
        place = f"[{host}]" if ":" in host and not host.startswith("[") else host
        return f"{'https' if self.tls else 'http'}://{place}:{self.port}{self.uri}"

    @property
    def uri(self) -> str:
        """What is asked for, or what precedes it."""
        return self.settings.uri or "/"

    @property
    def telling(self) -> Telling:
        """What the engine tells while it runs."""
        return Telling(
            print_request=NOTHING if self.print_request is None else PARTS[self.print_request],
            print_reply=NOTHING if self.print_reply is None else PARTS[self.print_reply],
            periodic_stats=self.periodic_stats,
            verbose=self.verbose > 0,
            figures=self.output is not None,
        )


def parse(words: Sequence[str]) -> Options:
    """The options of a command line. Raises PlanError with one sentence."""
    given: dict[str, Any] = {}
    for name, value in read_words(words):
        if name in REPEATED:
            given.setdefault(name, []).append(value)
        elif name == "verbose":
            given[name] = given.get(name, 0) + 1
        else:
            given[name] = True if value is None and not name.startswith("print-") else value or ""
    if "help" in given or "version" in given:
        return Options(NO_SETTINGS, help="help" in given, version="version" in given)
    operands = given.pop("", [])
    if "side-by-side" in given:
        return _side_by_side(given, operands)
    if operands:
        raise PlanError(f"{operands[0][:80]!r} belongs to no option: values of optional ones stand behind =; {HINT}")
    tls = "ssl" in given
    settings = _settings(given)
    agents = _agents(given, settings)
    if len(settings.rates) > 1:
        raise PlanError("--rate: give one rate here; `bakeoff run httperf` goes through several")
    if "server" in given and "servers" in given:
        raise PlanError("--server and --servers both say where to connect: leave one out")
    server = given.get("server", "localhost")
    if not server or any(c <= " " or c in "/@#?" for c in server):
        raise PlanError(f"--server {server[:80]!r} is no host: write a name or an address, and the port with --port")
    servers_file = given.get("servers")
    reasons = settings.without_effect([f"{'https' if tls else 'http'}://localhost/"])
    return Options(
        settings=settings,
        server=server,
        servers_file=servers_file,
        hosts=(server.strip("[]"),) if servers_file is None else read_hosts(servers_file),
        port=_port(given.get("port"), tls),
        tls=tls,
        print_request=_part(given, "print-request"),
        print_reply=_part(given, "print-reply"),
        periodic_stats="periodic-stats" in given,
        verbose=given.get("verbose", 0),
        json="json" in given,
        output=Path(given["output"]) if "output" in given else None,
        cluster=given.get("cluster"),
        agents=agents,
        warnings=tuple(f"--{name} does nothing: {reasons[key]}" for name, key in _idle(given, reasons)),
    )


def _side_by_side(given: dict[str, Any], operands: Sequence[str]) -> Options:
    others = [f"--{name}" for name in given if name not in ("side-by-side", "json")]
    if others:
        raise PlanError(f"--side-by-side sends nothing: leave {', '.join(others)} out")
    if not operands:
        raise PlanError("--side-by-side: name the run files: bakeoff httperf --side-by-side r0.bakeoff r1.bakeoff")
    return Options(NO_SETTINGS, json="json" in given, side_by_side=tuple(map(Path, operands)))


def _settings(given: dict[str, Any]) -> HttperfSettings:
    table = {name.replace("-", "_"): value for name, value in given.items() if name not in OWN}
    resolvable = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    try:
        return HttperfSettings.model_validate({**resolvable, "length": f"{LENGTH_MAX_S:.0f}s"})
    except ValidationError as error:
        raise explain(error, HttperfSettings, lambda key: f"--{key.replace('_', '-')}" if key else "httperf") from None


def _port(text: str | None, tls: bool) -> int:
    try:
        return (443 if tls else 80) if text is None else parse_count(text, 1, 65535)
    except ValueError as error:
        raise PlanError(f"--port: {error}") from None


def _agents(given: dict[str, Any], settings: HttperfSettings) -> int:
    """How many machines send the load."""
    try:
        agents = parse_count(given["agents"], 1, AGENTS_MAX) if "agents" in given else 1
    except ValueError as error:
        raise PlanError(f"--agents: {error}") from None
    if "cluster" not in given:
        if agents > 1:
            raise PlanError("--agents: say with --cluster ADDRESS where the machines are")
        return agents
    alone = [name for name in given if name in ONE_MACHINE_ONLY]
    if alone:
        raise PlanError(
            f"--{alone[0]} describes one machine: leave it out with --cluster"
            + ("; `bakeoff run httperf --cluster` keeps a run" if alone[0] == "output" else "")
        )
    if agents > 1 and settings.planned_s == 0:
        raise PlanError(
            "--agents: without a rate one connection or session follows the other, which is one machine's work: give "
            "--rate or --period, or leave --agents out"
        )
    return agents


def _part(given: dict[str, Any], name: str) -> str | None:
    if name not in given:
        return None
    if given[name] not in PARTS:
        raise PlanError(f"--{name}={given[name][:40]}: write --{name}, --{name}=header or --{name}=body")
    return str(given[name])


def _idle(given: dict[str, Any], reasons: Any) -> list[tuple[str, str]]:
    """Options that were given and do nothing beside the others."""
    return [(name, name.replace("-", "_")) for name in given if name.replace("-", "_") in reasons]
