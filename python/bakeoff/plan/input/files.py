"""The files that a plan names and that are read where load is sent. They travel with the plan, so that nothing has to
be copied to a machine by hand: accounts, an access log, bodies, a loadfile, certificates.

What is read when a plan is made (lists of URLs, weights, recorded moments) stands in the plan itself.
"""

import io
import os
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic.fields import FieldInfo

from bakeoff.core.errors import PlanError
from bakeoff.core.system.bounded_read import MIB
from bakeoff.core.units import format_binary
from bakeoff.plan.kind import plan_part
from bakeoff.plan.model import Plan
from bakeoff.plan.settings.fields import extra_of

# Of all files of a plan together: accounts and logs are packed well below it.
MOST_BYTES = 512 * MIB
MOST_FILES = 10_000


def paths_of(plan: Plan) -> dict[str, str]:
    """The paths that stand in a plan's settings, by the setting's field."""
    settings = plan.settings
    values = {
        name: _path_in(getattr(settings, name))
        for name, field in type(settings).model_fields.items()
        if extra_of(field).get("path")
    }
    return {name: path for name, path in values.items() if path is not None}


def gathered(plan: Plan) -> bytes:
    """All of these files, packed. Raises PlanError when one cannot be read, or they are too many or too large."""
    fields, packed, left = type(plan.settings).model_fields, io.BytesIO(), MOST_BYTES
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, path in paths_of(plan).items():
            field = fields[name]
            key = field.alias or name
            try:
                for number, (within, file) in enumerate(_files(Path(path), field)):
                    content = _read(file, left + 1)
                    left -= len(content)
                    if left < 0 or number >= MOST_FILES:
                        raise PlanError(
                            f"{key}: {path} is too large to be sent to other machines: at most {MOST_FILES:,} files "
                            f"and {format_binary(MOST_BYTES)} in all go with a plan"
                        )
                    archive.writestr(f"{name}/{within}" if within else name, content)
            except OSError as error:
                raise PlanError(
                    f"{key}: {path} cannot be read ({error.strerror}), so that it cannot be sent to the machines: "
                    "check the path"
                ) from None
    return packed.getvalue()


def placed(stored: dict[str, Any], packed: bytes, folder: Path) -> Plan:
    """The plan of `Plan.to_dict` with its files in `folder`, which it names there: it cannot be read before, as some of
    its settings want to find their files. Raises PlanError when they are not those of the plan, ValidationError when it
    is none.
    """
    settings = stored.get("settings")
    if not isinstance(settings, dict):
        return Plan.from_dict(stored)
    fields = plan_part(str(stored.get("kind"))).settings.model_fields
    there = [name for name, field in fields.items() if extra_of(field).get("path") and _stored_path(settings.get(name))]
    _unpack(packed, there, folder)
    moved = dict(settings)
    for name in there:
        if not (folder / name).exists():  # a folder without a file
            (folder / name).mkdir(parents=True)
        place = str(folder / name)
        moved[name] = place if isinstance(settings[name], str) else {**settings[name], "path": place}
    return Plan.from_dict({**stored, "settings": moved})


def _unpack(packed: bytes, names: Sequence[str], folder: Path) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_FILES * max(1, len(names)) or sum(e.file_size for e in entries) > MOST_BYTES:
                raise PlanError("the files that came with the plan are too large: start the run again")
            for entry in entries:
                name = PurePosixPath(entry.filename)
                if name.is_absolute() or ".." in name.parts or not name.parts or name.parts[0] not in names:
                    raise PlanError(
                        f"{entry.filename!r} came with the plan, which does not name it: start the run again"
                    )
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                _write(target, archive.read(entry))
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise PlanError(f"the files of the plan cannot be kept in {folder} ({error}): make room there") from None


def _stored_path(value: Any) -> bool:
    """Whether the stored value of a setting that may name a path does, alone or beside what was found there."""
    path = value.get("path") if isinstance(value, dict) else value
    return isinstance(path, str)


def _path_in(value: Any) -> str | None:
    """The path of a setting, also of one that keeps what it found there."""
    path = value if isinstance(value, str) else getattr(value, "path", None)
    return path if isinstance(path, str) else None


def _files(path: Path, field: FieldInfo) -> Iterator[tuple[str, Path]]:
    """Files of a setting by their names within it; a file alone has none."""
    only = extra_of(field).get("only")
    if extra_of(field)["path"] == "file":
        yield "", path
    elif isinstance(only, str):
        yield only, path / only
    else:
        for folder, _, names in os.walk(path, onerror=_raise):
            for name in sorted(names):
                file = Path(folder) / name
                if file.is_file():
                    yield file.relative_to(path).as_posix(), file


def _raise(error: OSError) -> None:
    raise error


def _read(path: Path, most: int) -> bytes:
    with path.open("rb") as file:
        return file.read(most)


def _write(path: Path, content: bytes) -> None:
    """For nobody else's eyes: accounts have passwords."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
