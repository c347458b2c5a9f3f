"""The shipped suites, one TOML file each: a kind, its defaults, what each size changes, its classes."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import Field, SerializeAsAny, ValidationInfo, field_validator

from bakeoff.core.errors import PlanError
from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.plan.kind import plan_part
from bakeoff.plan.settings.classes import SuiteClass
from bakeoff.plan.settings.fields import Strict

BLOCKS = {"quick": MINIMUM_BLOCKS, "medium": MINIMUM_BLOCKS, "long": 8, "full": 8, "published": 8, "netbench7": 8}
PUBLISHED = "published"
SizeName = Literal["quick", "medium", "long", "full", "published", "netbench7"]
EVERYWHERE: tuple[SizeName, ...] = ("quick", "medium", "long", "full")


class Assumption(Strict):
    """A value that no public source fixes, until the plan sets `setting` to one of its own; with `value`, as a plan
    file writes it, wherever that is the value in use. None of it where the setting `unless` is given.
    """

    text: str
    setting: str | None = None
    value: str | None = None
    unless: str | None = None


class SuiteHead(Strict):
    """What a suite is."""

    name: str
    kind: str
    title: str
    modelled_on: str
    summary: str
    assumed: tuple[Assumption, ...] = ()


class Suite(Strict):
    """A suite file."""

    suite: SuiteHead
    settings: dict[str, Any] = Field(default_factory=dict)
    size: dict[SizeName, dict[str, Any]] = Field(default_factory=dict)
    classes: tuple[SerializeAsAny[SuiteClass], ...] = Field((), alias="class")

    @field_validator("classes", mode="before")
    @classmethod
    def _classes_of_the_kind(cls, value: Any, info: ValidationInfo) -> Any:
        return classes_of(info.data["suite"].kind, value) if "suite" in info.data else value

    def defaults(self, size: str) -> dict[str, Any]:
        """Settings in this size, as a plan file would write them."""
        return {**self.settings, **self.size.get(size, {})}  # type: ignore[call-overload]

    @property
    def sizes(self) -> tuple[SizeName, ...]:
        """The sizes that this suite has; `published` follows the publications to the letter where there are any."""
        return (*EVERYWHERE, *(name for name in self.size if name not in EVERYWHERE))


def classes_of(kind: str, tables: Any) -> Any:
    """Tables of classes as those of a kind; what is no list of tables stays as it is, to be refused."""
    model = plan_part(kind).suite_class
    if not isinstance(tables, (list, tuple)):
        return tables
    return tuple(model.model_validate(table) if isinstance(table, dict) else table for table in tables)


@cache
def suite_names() -> tuple[str, ...]:
    """Names of all shipped suites, sorted."""
    here = files(__name__)
    return tuple(sorted(entry.name[: -len(".toml")] for entry in here.iterdir() if entry.name.endswith(".toml")))


def _meant(name: str) -> str:
    """The one suite whose title has a word that begins so (`smtp`, `pop`), else the one with the nearest name."""
    begins = name.casefold()
    titled = [
        suite
        for suite in suite_names()
        if len(begins) > 1 and any(word.startswith(begins) for word in load_suite(suite).suite.title.casefold().split())
    ]
    return f"did you mean {titled[0]!r}?" if len(titled) == 1 else did_you_mean(name, suite_names())


@cache
def load_suite(name: str) -> Suite:
    """A shipped suite by name. Raises PlanError with the nearest name when there is none."""
    if name not in suite_names():
        raise PlanError(f"there is no suite {name!r}: {_meant(name)}")
    text = (files(__name__) / f"{name}.toml").read_text(encoding="utf-8")
    return Suite.model_validate(tomllib.loads(text))
