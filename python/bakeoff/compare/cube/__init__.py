"""Trials as arrays: contender × load step × block, and cells of trials."""
