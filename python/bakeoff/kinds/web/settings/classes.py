"""Classes of requests: those of a suite, with the shares that a plan gives them."""

from collections.abc import Mapping, Sequence
from typing import Literal

from bakeoff.core.errors import PlanError
from bakeoff.kinds.web.settings.statuses import statuses_of
from bakeoff.kinds.web.settings.urls import UrlLine
from bakeoff.plan.settings.classes import SuiteClass, reweighted

CLASS_PER_URL_UP_TO = 32


class WebClass(SuiteClass):
    """One class of requests. `source` says where they come from; no `expect` means any status."""

    expect: tuple[int, ...] = (200,)
    source: Literal["files", "missing", "dynamic", "url"] = "files"


def web_classes(classes: Sequence[SuiteClass]) -> list[WebClass]:
    """The classes as those of web."""
    return [c for c in classes if isinstance(c, WebClass)]


def corpus_of(suite: str, classes: Sequence[WebClass]) -> str | None:
    """The corpus that these classes are served from, which is called like its suite; None when they need none."""
    return suite if any(c.source in ("files", "dynamic") for c in classes) else None


def classes_of(
    own: Sequence[WebClass],
    urls: Sequence[UrlLine] | None,
    expect: str,
    weights: Mapping[str, float],
    dynamic_share: float,
) -> list[WebClass]:
    """The classes of a plan: `own` ones of its suite or those of its `urls`, weighed. Raises PlanError."""
    classes = list(own) if urls is None else _url_classes(urls)
    if any(c.source == "url" for c in classes):
        statuses = statuses_of(expect)
        classes = [c.model_copy(update={"expect": statuses}) for c in classes]
    if weights and len(classes) == 1:
        raise PlanError("weights: there is one class of requests only: leave it out")
    computed = [c.name for c in classes if c.source == "dynamic"]
    for name in weights:
        if name in computed:
            raise PlanError(f"weights: the share of {name} is dynamic_share: give that instead")
    return reweighted(classes, {**weights, **_dynamic_weights(classes, weights, dynamic_share)}, "class")


def _dynamic_weights(classes: Sequence[WebClass], weights: Mapping[str, float], share: float) -> dict[str, float]:
    """Weights of the computed pages that give them `share` of all requests."""
    computed = [c.name for c in classes if c.source == "dynamic"]
    rest = sum(weights.get(c.name, c.weight) for c in classes if c.source != "dynamic")
    return dict.fromkeys(computed, rest * share / (1 - share) / len(computed) if rest else 1.0) if computed else {}


def _url_classes(urls: Sequence[UrlLine]) -> list[WebClass]:
    """A class for each path or, when there are many, for each weight, so that results stay readable."""
    totals: dict[str, float] = {}
    many = len({line.name for line in urls}) > CLASS_PER_URL_UP_TO
    for line in urls:
        name = f"weight {line.weight:g}" if many else line.name
        totals[name] = totals.get(name, 0.0) + line.weight
    if len(totals) > CLASS_PER_URL_UP_TO:
        raise PlanError(
            f"urls: {len(totals)} different weights are too many to report apart: use {CLASS_PER_URL_UP_TO} at most"
        )
    return [WebClass(name=name, weight=weight, expect=(), source="url") for name, weight in totals.items()]
