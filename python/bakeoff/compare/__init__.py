"""What the statistics say about a run: which contender is better, by how much, and for what reasons."""

from bakeoff.compare.model import Comparison
from bakeoff.compare.run import compare_run

__all__ = ["Comparison", "compare_run"]
