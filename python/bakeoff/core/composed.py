"""An object put together of modules that are found by name: each adds to what the next one says."""

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

T = TypeVar("T")


def composed(package: str, names: Iterable[str], base: type[T]) -> T:
    """It has the `PART` of the module of each of these names that a package has, the first before the others, and
    `base` behind them.
    """
    of: Any = base  # a class has a hash, which types do not tell
    made: T = _class(package, tuple(names), of)()
    return made


def fitting(package: str, names: Iterable[str], base: type[T], subject: Any) -> T:
    """The same with the parts alone whose `fits` says so of the subject."""
    return composed(package, [name for name in names if (own := _part(package, name)) and own.fits(subject)], base)


@cache
def _part(package: str, name: str) -> Any:
    module = f"{package}.{name}"
    return None if find_spec(module) is None else import_module(module).PART


@cache
def _class(package: str, names: tuple[str, ...], base: Any) -> Any:
    parts = [own for name in names if (own := _part(package, name)) is not None]
    return type(base.__name__, (*parts, base), {"names": names}) if parts else base
