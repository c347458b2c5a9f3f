"""The run file (`*.bakeoff`): one SQLite database per run, written trial by trial."""
