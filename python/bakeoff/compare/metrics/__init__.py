"""Figures read out of trials: endpoints, curves, overload, time breakdown."""
