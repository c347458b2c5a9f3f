"""What web suites ask of a server, in prose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from bakeoff.compare.model import settings
from bakeoff.kinds.web.plan import web_settings
from bakeoff.kinds.web.settings.classes import WebClass, web_classes
from bakeoff.report.layout.context import Context
from bakeoff.report.narrate import wording

VERSIONS = {"2": "HTTP/2", "3": "HTTP/3"}


def narrative(context: Context) -> tuple[str, ...]:
    """What a client asks for, over which connections, and when a request counts."""
    common, classes = settings.common(context.run.plan), web_classes(context.run.planned.classes)
    differ = {option.setting for option in context.comparison.client_options}
    every = web_settings(context.run.planned.settings).check_every
    how = " ".join(filter(None, (_connections(common, differ), _counts(every, classes))))
    return tuple(filter(None, (_mixture(classes), how)))


def _mixture(classes: Sequence[WebClass]) -> str:
    """The shares of the classes, the common ones first."""
    weights = {_files(one): one.weight for one in classes}
    total = sum(weights.values())
    if len(weights) < 2 or total <= 0:
        return ""
    ordered = sorted(weights.items(), key=lambda one: -one[1])
    shares = wording.names([f"{wording.percent(weight / total)} {name}" for name, weight in ordered])
    return (
        f"Requests are drawn at random, in another order for each client: {shares}. The files are to be the same bytes "
        "on each server; whether they are is looked at before the first trial, and audited."
    )


def _files(one: WebClass) -> str:
    """What a class asks for: its name is the bytes of its files, where it is a number."""
    if one.source == "missing":
        return f"of a file that is not there (status {one.name})"
    size = one.name.rpartition("/")[2]
    return f"of {int(size):,} bytes" if size.isdecimal() and len(size) < 10 else one.name


def _connections(common: Mapping[str, Any], differ: Set[str]) -> str:
    version = common.get("http")
    if version in VERSIONS or differ & {"http", "keep_alive"}:
        return ""  # the sentence on streams says it, or the one on what contenders have otherwise
    sentence = "Keep-alive: connections stay open between requests" if common.get("keep_alive") is True else _closed()
    return f"{sentence} (HTTP/{version})." if version else f"{sentence}."


def _closed() -> str:
    return "No keep-alive: each request has a connection of its own (connect, request, reply, close)"


def _counts(every: int, classes: Sequence[WebClass]) -> str:
    text = "A request counts when the whole reply has come within the measured window, with the right status"
    if not {one.source for one in classes} & {"files", "dynamic"}:
        return f"{text}."  # nothing says what the bodies of other pages must be
    hashed = f"the first body of each file in a trial is hashed, and one in {every:,} after it"
    return f"{text}; {hashed}." if every > 1 else f"{text}."
