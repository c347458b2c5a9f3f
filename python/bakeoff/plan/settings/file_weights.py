"""How many files of each size a share has: the weights of file-matrix, from a file of `bakeoff inventory`."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError, ValidationInfo

from bakeoff.plan.input.toml import table_to_toml
from bakeoff.plan.settings.fields import Metavar, Strict, is_resolved, read_toml
from bakeoff.testdata.inventory import Inventory

NOT_ONE = "is not a file of `bakeoff inventory DIR -o FILE`: name one"
HEAD = "# The files of a share by size, made by `bakeoff inventory`; `--weights` of file-matrix reads it.\n"


class SizeClass(Strict):
    """Files larger than half of `up_to_bytes` and no larger than that (of the smallest class: all up to it)."""

    up_to_bytes: int = Field(ge=1)
    files: int = Field(ge=1)
    bytes: int = Field(ge=1)


class FileWeights(Strict):
    """The files of a share: where they were counted, how many names could not be looked at, and the sizes."""

    folder: str
    errors: int = Field(ge=0)
    sizes: tuple[SizeClass, ...] = Field(min_length=1, max_length=64)


def inventory_to_toml(inventory: Inventory) -> str:
    """The text of the file that `--weights` reads."""
    head = {
        "folder": inventory.folder,
        "complete": inventory.complete,
        "files": inventory.files,
        "bytes": inventory.bytes,
        **{name: getattr(inventory, name) for name in COUNTS},
    }
    sizes = [
        table_to_toml("[[size]]", {"up_to_bytes": up_to, "files": files, "bytes": total})
        for up_to, (files, total) in sorted(inventory.sizes.items())
    ]
    return "\n".join([HEAD + table_to_toml("[inventory]", head), *sizes])


COUNTS = ("empty", "folders", "links", "special", "again", "elsewhere", "errors")


def read_weights(path: Path) -> FileWeights:
    """The weights of an inventory. Raises PlanError, and ValueError with one sentence."""
    table = read_toml(path, "inventory")
    head, sizes = table.get("inventory"), table.get("size", [])
    if not isinstance(head, dict) or not isinstance(sizes, list):
        raise ValueError(f"{path} {NOT_ONE}")
    if head.get("complete") is not True:
        raise ValueError(f"{path} is of a walk that was stopped at its limit: take it again with a larger --limit")
    if not sizes:
        raise ValueError(f"{path} counts no file that is not empty: nothing can be weighted by it")
    try:
        weights = FileWeights.model_validate(
            {"folder": head.get("folder"), "errors": head.get("errors"), "sizes": sizes}, strict=False
        )
    except ValidationError:
        raise ValueError(f"{path} {NOT_ONE}") from None
    if len({size.up_to_bytes for size in weights.sizes}) != len(weights.sizes):
        raise ValueError(f"{path} {NOT_ONE}")
    return weights


def _weights(value: Any, info: ValidationInfo) -> Any:
    if not isinstance(value, str) or is_resolved(info):
        return value
    return read_weights(Path(value).expanduser())


OptionalFileWeights = Annotated[FileWeights | None, BeforeValidator(_weights), Metavar("FILE")]
