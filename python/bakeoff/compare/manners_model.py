"""How clients talked with contenders otherwise than with each other: what stands in a comparison."""

from __future__ import annotations

from dataclasses import dataclass

TOO = "ratios are of that difference, too."
"""How the sentence ends that tells of it."""


@dataclass(frozen=True)
class Manner:
    """A setting of the load that contenders have differently, and its value of each, as text; secrets are hidden."""

    setting: str
    values: dict[str, str]
