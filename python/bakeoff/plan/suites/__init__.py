"""The shipped suites, one TOML file each: a kind, its defaults, what each size changes, its classes."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import Field

from bakeoff.errors import PlanError
from bakeoff.plan.fields import Strict
from bakeoff.plan.messages import did_you_mean

BLOCKS = {"quick": 6, "short": 8, "full": 8, "published": 8, "netbench7": 8}
PUBLISHED = "published"
SizeName = Literal["quick", "short", "full", "published", "netbench7"]
EVERYWHERE: tuple[SizeName, ...] = ("quick", "short", "full")


class SuiteClass(Strict):
    """One class of operations. `source` says where its requests come from; no `expect` means any status."""

    name: str
    weight: float = Field(gt=0)
    expect: tuple[int, ...] = (200,)
    source: Literal["files", "missing", "dynamic", "url", "app"] = "files"


class Assumption(Strict):
    """A value that no public source fixes, until the plan sets `setting` to a value of its own."""

    text: str
    setting: str | None = None


class SuiteHead(Strict):
    """What a suite is."""

    name: str
    kind: str
    title: str
    modelled_on: str
    summary: str
    corpus: str = "none"
    assumed: tuple[Assumption, ...] = ()


class Suite(Strict):
    """A suite file."""

    suite: SuiteHead
    settings: dict[str, Any] = Field(default_factory=dict)
    size: dict[SizeName, dict[str, Any]] = Field(default_factory=dict)
    classes: tuple[SuiteClass, ...] = Field((), alias="class")

    def defaults(self, size: str) -> dict[str, Any]:
        """Settings in this size, as a plan file would write them."""
        return {**self.settings, **self.size.get(size, {})}  # type: ignore[call-overload]

    @property
    def sizes(self) -> tuple[SizeName, ...]:
        """The sizes that this suite has; `published` follows the publications to the letter where there are any."""
        return (*EVERYWHERE, *(name for name in self.size if name not in EVERYWHERE))

    @property
    def needs_corpus(self) -> bool:
        """True when contenders must serve a generated corpus."""
        return self.suite.corpus != "none"


@cache
def suite_names() -> tuple[str, ...]:
    """Names of all shipped suites, sorted."""
    here = files(__name__)
    return tuple(sorted(entry.name[: -len(".toml")] for entry in here.iterdir() if entry.name.endswith(".toml")))


@cache
def load_suite(name: str) -> Suite:
    """A shipped suite by name. Raises PlanError with the nearest name when there is none."""
    if name not in suite_names():
        raise PlanError(f"there is no suite {name!r}: {did_you_mean(name, suite_names())}")
    text = (files(__name__) / f"{name}.toml").read_text(encoding="utf-8")
    return Suite.model_validate(tomllib.loads(text))
