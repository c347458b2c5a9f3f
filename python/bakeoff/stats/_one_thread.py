"""Loads NumPy and SciPy with one thread of linear algebra each; to be imported before anything else imports them.

Their OpenBLAS makes a thread and a buffer of some 40 MB for each processor of the machine when it is loaded, which no
statistic here uses and which a limit of memory does not allow on a large machine. The setting is taken back: what this
process starts, such as a server by its reset command, must not inherit it.
"""

import os

_NAME = "OPENBLAS_NUM_THREADS"

if _NAME not in os.environ:
    os.environ[_NAME] = "1"
    try:
        import scipy.special  # noqa: F401 - it brings an OpenBLAS of its own
    finally:
        del os.environ[_NAME]
