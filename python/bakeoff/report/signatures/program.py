"""What a tool that signs provides, and how one is called."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bakeoff.errors import LabError

# A person may type a passphrase or touch a token while it signs.
SIGN_S, CHECK_S = 300.0, 60.0
LONGEST = 300
_PROMPT = re.compile(r"^(?:Enter passphrase[^:]{0,200}|Password): ")


@dataclass(frozen=True)
class Checked:
    """What came of a check: `by` whom a signature is, in words, or the `fault` for which it is not believed."""

    by: str = ""
    fault: str = ""


@dataclass(frozen=True)
class Said:
    """What a tool said before it ended."""

    code: int
    out: bytes
    words: str

    @property
    def last(self) -> str:
        """Its last line, which tells what went wrong."""
        lines = [line for text in self.words.splitlines() if (line := _PROMPT.sub("", text).strip())]
        return lines[-1][:LONGEST] if lines else f"it ended with exit code {self.code}"


class Tool(ABC):
    """A program that signs and checks: derive from it."""

    name: str
    suffix: str
    package: str

    @abstractmethod
    def is_secret(self, text: str) -> bool:
        """Whether the content of a file is a key to sign with."""

    @abstractmethod
    def is_public(self, text: str) -> bool:
        """Whether the content of a file is a key, or a list of keys, to check with."""

    @abstractmethod
    def sign(self, key: Path, content: bytes, name: str) -> bytes:
        """The signature of `content`, the report `name`. Raises LabError where the tool does not give one."""

    @abstractmethod
    def check(self, content: bytes, signature: bytes, keys: str) -> Checked:
        """Whether `signature` is one of `content` by one of `keys`. Raises LabError where the tool does not answer."""

    def find(self) -> str:
        """Where the program lies. Raises LabError where it does not."""
        found = shutil.which(self.name)
        if found is None:
            raise LabError(f"{self.name} is not installed: install it (Debian: apt install {self.package})")
        return found

    def call(self, words: Sequence[str], content: bytes | None, time_s: float, quiet: bool = True) -> Said:
        """Run it. `content` is what it reads; without, and unless it is to be `quiet`, it can ask at the terminal."""
        asks = not quiet and sys.stdin is not None and sys.stdin.isatty()
        try:
            done = subprocess.run(
                [self.find(), *words],
                input=content,
                stdin=None if asks or content is not None else subprocess.DEVNULL,
                stdout=None if asks else subprocess.PIPE,
                stderr=None if asks else subprocess.PIPE,
                env={**os.environ, "LC_ALL": "C"},
                timeout=time_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise LabError(f"{self.name} did not end within {time_s:.0f} s: try it by hand") from None
        except OSError as error:
            raise LabError(f"{self.name} cannot be started ({error.strerror}): install it anew") from None
        return Said(done.returncode, done.stdout or b"", (done.stderr or b"").decode("utf-8", "replace"))
