"""Ratios with intervals: pairs, cells, factors."""
