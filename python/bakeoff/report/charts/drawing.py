"""Drawings that are made when somebody looks: a report on a terminal needs none, and Altair takes a moment to load."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial, wraps
from types import ModuleType
from typing import Any, ParamSpec

P = ParamSpec("P")


@dataclass(frozen=True)
class Drawing:
    """A Vega-Lite specification that is made at its first use."""

    make: Callable[[], dict[str, Any]]

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The specification. Its parts are not checked against the schema, which takes most of the time; tests do."""
        from altair.utils.schemapi import debug_mode

        with debug_mode(False):
            return self.make()


def drawn(make: Callable[P, dict[str, Any]]) -> Callable[P, Drawing]:
    """Turn a function that makes a specification into one that promises it."""

    @wraps(make)
    def promise(*args: P.args, **kwargs: P.kwargs) -> Drawing:
        return Drawing(partial(make, *args, **kwargs))

    return promise


def later(name: str) -> ModuleType:
    """The module, loaded when something in it is asked for."""
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.loader is not None
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
