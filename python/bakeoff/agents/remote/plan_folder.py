"""Where the files of a plan lie on a machine that sends its load: until its process ends, however it does."""

import os
import secrets
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

from bakeoff.agents.engine import load_engine


def plan_folder(keeper: Any) -> Path:
    """A new folder, which is gone with `keeper`; what processes that were killed have left is removed first."""
    temporary, engine = Path(tempfile.gettempdir()), load_engine()
    for left in temporary.glob(".bakeoff-plan-*"):
        facts = left.lstat()
        if engine.work_folder_owner(left.name) == "over" and facts.st_uid == os.getuid() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
    folder = temporary / str(engine.work_folder_name(f"plan-{secrets.token_hex(4)}"))
    folder.mkdir(0o700)
    weakref.finalize(keeper, shutil.rmtree, folder, ignore_errors=True)
    return folder
