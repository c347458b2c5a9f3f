"""What the statistics say about a run: which contender is better, by how much, and for what reasons."""

import bakeoff.stats  # noqa: F401 - NumPy is loaded there first
from bakeoff.compare.model.comparison import Comparison
from bakeoff.compare.run import compare_run

__all__ = ["Comparison", "compare_run"]
