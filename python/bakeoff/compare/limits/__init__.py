"""Runs held to a limit: regression checks, objectives, capacities, soaks."""
