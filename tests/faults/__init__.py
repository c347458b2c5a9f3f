"""Faults × suites × loads: what must come out of a run in which one contender has a fault, cell by cell."""
