"""A class put together of modules that are found by name: each adds to what the next one says."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

T = TypeVar("T")


def part(package: str, name: str, base: type[T]) -> type[T]:
    """The class that the module `name` of a package has as its `PART`; `base` where there is no such module."""
    found: type[T] = _part(f"{package}.{name}") or base
    return found


def composed(package: str, names: tuple[str, ...], base: type[T]) -> type[T]:
    """The class that has the parts of all these names, the first before the others, and `base` behind them."""
    of: Any = base  # a class has a hash, which types do not tell
    made: type[T] = _composed(package, names, of)
    return made


@cache
def _part(module: str) -> Any:
    return None if find_spec(module) is None else import_module(module).PART


@cache
def _composed(package: str, names: tuple[str, ...], base: Any) -> Any:
    parts = [own for name in names if (own := _part(f"{package}.{name}")) is not None]
    return type(base.__name__, (*parts, base), {"names": names}) if parts else base
