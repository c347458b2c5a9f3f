"""The forms of a report, by name. To add one: a new file here, and a line below.

Its module has what Renderer asks for.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from bakeoff.report.blocks.tree import Report


class Renderer(Protocol):
    """What the module of a renderer has."""

    def prepare(self) -> None:
        """Start in the background what takes a moment. Raises GeneratorError where this form cannot be made."""

    def render(self, report: Report, stem: str) -> bytes:
        """The whole report as the content of a file, whose name is `stem` and an ending."""

    def sidecar_files(self, report: Report, stem: str) -> Mapping[str, bytes]:
        """The files that it needs beside it, by path: of most forms none."""


@dataclass(frozen=True)
class Form:
    """A form of reports: the module that makes it, how names of its files end, the usual ending first, and whether it
    holds data beside what one reads.
    """

    module: str
    endings: tuple[str, ...]
    holds_data: bool = False


FORMS: dict[str, Form] = {
    "html": Form("html", (".html", ".htm"), holds_data=True),
    "pdf": Form("pdf", (".pdf",), holds_data=True),
    "markdown": Form("markdown", (".md",)),
    "terminal": Form("terminal", (".txt",)),
}


def form_of(path: Path) -> str | None:
    """The name of the form that a file is to have by its ending, or None."""
    ending = path.suffix.lower()
    return next((name for name, form in FORMS.items() if ending in form.endings), None)


def endings() -> tuple[str, ...]:
    """Every ending that names of reports may have."""
    return tuple(ending for form in FORMS.values() for ending in form.endings)


def renderer(name: str) -> Renderer:
    """The renderer of a form, loaded now: some take a moment. Raises KeyError when there is none of that name."""
    return cast(Renderer, importlib.import_module(f"bakeoff.report.renderers.{FORMS[name].module}"))
