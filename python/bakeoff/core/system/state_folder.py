"""Where Bakeoff keeps what belongs to a user of this machine."""

import os
from contextlib import suppress
from pathlib import Path


def state_folder() -> Path | None:
    """`$XDG_STATE_HOME/bakeoff`; a relative path there means nothing, by that standard. None without a home folder."""
    given = os.environ.get("XDG_STATE_HOME", "")
    with suppress(RuntimeError):  # no home folder
        return (Path(given) if given.startswith("/") else Path.home() / ".local/state") / "bakeoff"
    return None
