"""The files of a share by size: a walk that only looks.

Classes double: that of a file is the smallest power of two that holds it, from 1 KiB on, as the file sizes of
file-matrix double.
"""

import os
import stat
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

SMALLEST = 1 << 10
# How often the caller hears of a walk, in names looked at.
TELL_EVERY = 1000
NAMED_ERRORS = 3


@dataclass
class Inventory:
    """What a walk found. `sizes` maps the upper end of a class in bytes to files and bytes in it; empty files, which
    have nothing to transfer, are counted apart. `elsewhere` counts folders of other file systems, not entered.
    """

    folder: str
    complete: bool = True
    names: int = 0
    folders: int = 0
    empty: int = 0
    links: int = 0
    special: int = 0
    again: int = 0
    elsewhere: int = 0
    errors: int = 0
    named_errors: list[str] = field(default_factory=list)
    sizes: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def files(self) -> int:
        """Files that are not empty."""
        return sum(files for files, _ in self.sizes.values())

    @property
    def bytes(self) -> int:
        """Their bytes."""
        return sum(size for _, size in self.sizes.values())

    def add(self, size: int) -> None:
        """Count a file of `size` bytes."""
        if size == 0:
            self.empty += 1
            return
        at = class_of(size)
        files, total = self.sizes.get(at, (0, 0))
        self.sizes[at] = (files + 1, total + size)

    def fail(self, error: OSError) -> None:
        """Count what could not be looked at; the first ones by name."""
        self.errors += 1
        if len(self.named_errors) < NAMED_ERRORS:
            self.named_errors.append(f"{os.fsdecode(error.filename or self.folder)}: {error.strerror}")


def class_of(size: int) -> int:
    """The smallest class, a power of two from 1 KiB on, that holds a file of `size` bytes."""
    return max(SMALLEST, 1 << (size - 1).bit_length())


def take_inventory(folder: Path, most: int, tell: Callable[[int], None] = lambda names: None) -> Inventory:
    """Count the files below `folder` by size, `most` names at most. Nothing is written, no link is followed, no other
    file system is entered; a file with several names counts once. Raises OSError when `folder` itself cannot be read.
    """
    inventory = Inventory(os.fspath(folder.absolute()))
    opened = _open(os.fspath(folder))
    device = os.fstat(opened).st_dev
    seen: Counter[tuple[int, int]] = Counter()
    waiting: list[str] = []
    _look(opened, inventory.folder, device, inventory, waiting, seen, most, tell)
    while waiting and inventory.complete:
        path = waiting.pop()
        try:
            opened = _open(path)
        except OSError as error:
            inventory.fail(error)
            continue
        _look(opened, path, device, inventory, waiting, seen, most, tell)
    return inventory


def _open(path: str) -> int:
    """The folder itself, never what a link leads to; without a new time of access where that is allowed."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags | os.O_NOATIME)
    except PermissionError:
        return os.open(path, flags)


def _look(
    opened: int,
    path: str,
    device: int,
    inventory: Inventory,
    waiting: list[str],
    seen: Counter[tuple[int, int]],
    most: int,
    tell: Callable[[int], None],
) -> None:
    try:
        if os.fstat(opened).st_dev != device:
            inventory.elsewhere += 1
            return
        inventory.folders += 1
        with os.scandir(opened) as entries:
            for entry in entries:
                if inventory.names >= most:
                    inventory.complete = False
                    return
                inventory.names += 1
                if inventory.names % TELL_EVERY == 0:
                    tell(inventory.names)
                _count(entry, path, inventory, waiting, seen)
    except OSError as error:
        error.filename = path
        inventory.fail(error)
    finally:
        os.close(opened)


def _count(
    entry: os.DirEntry[str], path: str, inventory: Inventory, waiting: list[str], seen: Counter[tuple[int, int]]
) -> None:
    try:
        facts = entry.stat(follow_symlinks=False)
    except OSError as error:
        error.filename = f"{path}/{entry.name}"
        inventory.fail(error)
        return
    if stat.S_ISDIR(facts.st_mode):
        waiting.append(f"{path}/{entry.name}")
    elif stat.S_ISLNK(facts.st_mode):
        inventory.links += 1
    elif not stat.S_ISREG(facts.st_mode):
        inventory.special += 1
    elif facts.st_nlink > 1 and seen[facts.st_dev, facts.st_ino]:
        inventory.again += 1
    else:
        if facts.st_nlink > 1:
            seen[facts.st_dev, facts.st_ino] += 1
        inventory.add(facts.st_size)
