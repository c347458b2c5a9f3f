"""What a run asks of others while it goes on: of whoever sits at the terminal, and of the statistics."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Counsel:
    """`ask` puts a question to the user and says whether the answer is yes, None where nobody is there; `clear` says in
    words why the verdict of a run file is clear as it stands, None when it is not.
    """

    ask: Callable[[str], bool] | None = None
    clear: Callable[[Path], str | None] | None = None


NOBODY = Counsel()
