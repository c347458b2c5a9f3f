"""`ssh-keygen`, called within bounds of time."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from bakeoff.core.errors import GeneratorError

NAME, PACKAGE = "ssh-keygen", "openssh-client"
# A person may type a passphrase or touch a token while it signs.
SIGN_S, CHECK_S = 300.0, 60.0
LONGEST = 300
_PROMPT = re.compile(r"^(?:Enter passphrase[^:]{0,200}|Password): ")


@dataclass(frozen=True)
class Reply:
    """What it said before it ended."""

    code: int
    out: bytes
    words: str

    @property
    def last(self) -> str:
        """Its last line, which tells what went wrong."""
        lines = [line for text in self.words.splitlines() if (line := _PROMPT.sub("", text).strip())]
        return lines[-1][:LONGEST] if lines else f"it ended with exit code {self.code}"


def find() -> str:
    """Where the program lies. Raises GeneratorError where it does not."""
    found = shutil.which(NAME)
    if found is None:
        raise GeneratorError(f"{NAME} is not installed: install it (Debian: apt install {PACKAGE})")
    return found


def call(words: Sequence[str], content: bytes | None, time_s: float) -> Reply:
    """Run it; `content` is what it reads. It asks for a passphrase at the terminal, which it opens itself."""
    try:
        done = subprocess.run(
            [find(), *words],
            input=content,
            stdin=None if content is not None else subprocess.DEVNULL,
            capture_output=True,
            env={**os.environ, "LC_ALL": "C"},
            timeout=time_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise GeneratorError(f"{NAME} did not end within {time_s:.0f} s: try it by hand") from None
    except OSError as error:
        raise GeneratorError(f"{NAME} cannot be started ({error.strerror}): install it again") from None
    return Reply(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))
