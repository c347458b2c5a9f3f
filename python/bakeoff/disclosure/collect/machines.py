"""Collects what machines tell of themselves: from the way to what stands in a paper file."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import resources

from bakeoff.core.errors import GeneratorError, PlanError
from bakeoff.core.redact import without_secrets
from bakeoff.disclosure.collect import disks, machine, network, software
from bakeoff.disclosure.collect.answer import Answer, answer_of
from bakeoff.disclosure.collect.ask import LONGEST_S, ask
from bakeoff.disclosure.collect.files import KNOWN, config_files, is_secret
from bakeoff.disclosure.collect.kernel import PARAMETERS
from bakeoff.disclosure.collect.own import own_of
from bakeoff.disclosure.collect.sysctls import SYSCTLS
from bakeoff.disclosure.collect.ways import Way
from bakeoff.disclosure.paper.collected import LONGEST, LONGEST_WORD, Collected, sealed

MOST_FILES, LONGEST_PATH = 32, 500
READERS: Mapping[str, Callable[[Answer], str]] = {
    "solution": machine.solution,
    "firmware": machine.firmware,
    "operating_system": machine.operating_system,
    "server_software": software.servers,
    "component_software": software.libraries,
    "tuning_hardware": machine.tuning_hardware,
    "processors": machine.processors,
    "memory": machine.memory,
    "storage": disks.storage,
    "controllers": disks.controllers,
    "raid": disks.raid,
    "file_systems": disks.file_systems,
    "transport": network.transport,
    "switch": network.switch,
    "virtualisation": machine.virtualisation,
    "security": machine.security,
}


def script(config: Sequence[str] = (), root: str = "") -> bytes:
    """The script that a machine runs: it reads below `root`, and files `config` as well as those that are known."""
    text = resources.files("bakeoff.disclosure.collect").joinpath("facts.sh").read_text(encoding="utf-8")
    settings = {
        "root": root,
        "files": " ".join(KNOWN),
        "parameters": " ".join(PARAMETERS),
        "sysctls": " ".join(name.replace(".", "/") for name in SYSCTLS),
    }
    head = "".join(f"{name}={shlex.quote(value)}\n" for name, value in settings.items())
    # What the script starts must not read the script.
    return f"{head}{text}\nall {' '.join(map(shlex.quote, config))} </dev/null\n".encode()


def check_config(paths: Sequence[str]) -> None:
    """Raises PlanError for what is no path of a configuration file, or one of secrets."""
    if len(paths) > MOST_FILES:
        raise PlanError(f"{len(paths)} configuration files are asked for: {MOST_FILES} are the most")
    for path in paths:
        if not path.startswith("/") or not path.isprintable() or len(path) > LONGEST_PATH:
            raise PlanError(f"{path[:60]!r} is no full path of a file on that machine: begin it with /")
        if is_secret(path):
            raise PlanError(f"{path} holds secrets by its name: leave it out")


def collect(way: Way, config: Sequence[str] = (), root: str = "", longest_s: float = LONGEST_S) -> Collected:
    """What the machine at `way` tells, without secrets; `config` are paths of files to be shown. Raises
    GeneratorError.
    """
    check_config(config)
    data = ask(way, script(config, root), longest_s)
    found = _of_command(way, data) if way.kind == "command" else _of_machine(way, data, config)
    return sealed(found)


def _of_machine(way: Way, data: bytes, config: Sequence[str]) -> Collected:
    answer = answer_of(data)
    if answer is None:
        shell = "a shell that takes a script (sh -s)"
        raise GeneratorError(f"{way.text} gave no facts: what answered is not {shell}; name another way")
    files, missing = config_files(answer.files, config)
    facts = {name: read(answer) for name, read in READERS.items()}
    if not answer.text("dmidecode") or ("DMI" in answer.text("dmidecode") and "Size:" not in answer.text("dmidecode")):
        missing.append("memory modules: dmidecode, as root")
    if not answer.complete:
        missing.append("the end of the answer: it broke off")
    return Collected(
        way=_way(way),
        date=_now(),
        missing=tuple(line[:LONGEST_WORD] for line in missing),
        facts={name: without_secrets(text)[:LONGEST] for name, text in facts.items() if text},
        sysctls=_sysctls(answer),
        packages=software.packages(answer),
        files=files,
    )


def _sysctls(answer: Answer) -> dict[str, str]:
    settings = {key.removeprefix("/proc/sys/").replace("/", "."): text for key, text in answer.values("sysctl").items()}
    return {name: " ".join(settings[name].split())[:LONGEST_WORD] for name in SYSCTLS if name in settings}


def _of_command(way: Way, data: bytes) -> Collected:
    answer = own_of(data)
    if not answer.facts and not answer.sysctls and not answer.packages:
        unknown = f"; it has {', '.join(answer.unknown)}" if answer.unknown else ""
        raise GeneratorError(
            f"{_way(way)} wrote no field of `bakeoff disclose --template`: let it write key = value, TOML or "
            f"JSON{unknown}"
        )
    return Collected(
        way=_way(way),
        date=_now(),
        missing=tuple(f"not a field: {key}"[:LONGEST_WORD] for key in answer.unknown),
        facts={name: without_secrets(text)[:LONGEST] for name, text in answer.facts.items() if text},
        sysctls=_safe(answer.sysctls),
        packages=_safe(answer.packages),
    )


def _safe(table: dict[str, str]) -> dict[str, str]:
    """Without secrets, as with their names: a secret may be told by the name alone."""
    return {name: without_secrets({name: value})[name][:LONGEST_WORD] for name, value in table.items()}


def _way(way: Way) -> str:
    """Commands may have secrets in them."""
    return without_secrets(way.text)[:LONGEST_WORD]


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
