"""Results on the disk of the machine that measured them, until the run file of the controller has them.

A controller that dies between the end of a trial and its entry in the run file has measured for nothing otherwise.
"""

import base64
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from bakeoff.agents.remote.wire import pack_events, unpack_events
from bakeoff.agents.result import Outcome, SpooledResult, TrialResult
from bakeoff.core.errors import GeneratorError
from bakeoff.core.system.atomic_write import write_whole
from bakeoff.core.system.state_folder import state_folder

KEY = re.compile(r"[0-9a-f]{8,64}(-[0-9]{1,9}){3}")  # a run, a trial, and which part of it
MOST_FILES, MOST_BYTES = 64, 256 << 20


class Keeper:
    """The results of one agent of this machine; a bounded number, of which the oldest go first."""

    def __init__(self, agent: str, folder: Path | None = None) -> None:
        state = folder or state_folder()
        self._folder = None if state is None else state / "results" / agent

    def keep(self, key: str, result: SpooledResult) -> None:
        """Write a result to the disk. It is not worth a trial: where that fails, there is none."""
        if self._folder is None or not KEY.fullmatch(key):
            return
        with suppress(OSError, GeneratorError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self._file(key), spooled_text(result))
            self._bound()

    def find(self, key: str) -> str | None:
        """The text of a result, None when there is none."""
        if self._folder is None or not KEY.fullmatch(key):
            return None
        try:
            return self._file(key).read_text()
        except (OSError, UnicodeDecodeError):
            return None

    def forget(self, key: str) -> None:
        """The run file has it."""
        if self._folder is not None and KEY.fullmatch(key):
            with suppress(OSError):
                self._file(key).unlink(missing_ok=True)

    def _file(self, key: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{key}.json"

    def _bound(self) -> None:
        assert self._folder is not None
        files = sorted(self._folder.glob("*.json"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
        total = 0
        for place, file in enumerate(files):
            total += file.stat().st_size
            if place and (place >= MOST_FILES or total > MOST_BYTES):
                file.unlink(missing_ok=True)


def spooled_text(result: SpooledResult) -> str:
    """A result as a text, on the disk and over the line."""
    content: dict[str, Any] = {
        "started_at": result.started_at,
        "result": result.outcome.result.model_dump(mode="json"),
        "histograms": {name: base64.b64encode(blob).decode() for name, blob in result.outcome.histograms.items()},
        "events": json.loads(pack_events(result.events)),
    }
    return json.dumps(content)


def read_spooled(text: str) -> SpooledResult | None:
    """The result that a text tells; None when it is none, as after a crash of the machine or with another version."""
    try:
        content = json.loads(text)
        blobs = {str(name): base64.b64decode(blob, validate=True) for name, blob in content["histograms"].items()}
        outcome = Outcome(TrialResult.model_validate(content["result"]), blobs)
        return SpooledResult(str(content["started_at"]), outcome, tuple(unpack_events(json.dumps(content["events"]))))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
