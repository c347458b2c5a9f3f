"""What a run asks of others while it goes on: of whoever sits at the terminal, and of the statistics."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Standing:
    """The result of a planned interim analysis: whether the run `ends` by its plan, and why, or why not, in words."""

    ends: bool
    words: str


@dataclass(frozen=True)
class Prompts:
    """`ask` puts a question to the user and says whether the answer is yes, None where nobody is there; `analyse`
    analyses a run file as it stands.
    """

    ask: Callable[[str], bool] | None = None
    analyse: Callable[[Path], Standing] | None = None


NO_PROMPTS = Prompts()
