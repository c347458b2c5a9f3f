"""Which Bakeoff made a run: its version, that of its engine, and those of the packages that it is built on."""

import platform
from importlib.metadata import PackageNotFoundError, version

from bakeoff import __version__

PACKAGES = ("pydantic", "typer", "rich", "psutil", "numpy", "scipy", "altair", "jinja2")


def tool(engine: dict[str, str]) -> dict[str, str]:
    """Which Bakeoff this is, down to the build of its engine."""
    versions = {"version": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions | {f"engine_{key}": value for key, value in engine.items()}
