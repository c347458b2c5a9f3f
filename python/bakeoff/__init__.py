"""Bakeoff: which of these servers is faster under my load, by how much, and where does each break?"""

__version__ = "0.1.0"
