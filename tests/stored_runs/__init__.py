"""A small committed set of stored runs, and what is told of them: nothing that reads, judges or exports a run may
change a number of it unseen.

    python -m tests.stored_runs.expect    # after a change that an issue asks for: write the expectation again

`tests/data/runs/` holds a case in two files: `CASE.tar.xz` are its run files, `CASE.txt.xz` is what they come to, a
value on each line. `tests/unit/test_stored_runs.py` compares. When tables of run files change, `python -m
tests.stored_runs.change SQL` changes them in the stored files, too; they are measured again only when they lack
something (`python -m tests.stored_runs.make CASE`).
"""
