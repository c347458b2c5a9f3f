"""A built-in server that does nothing, on this machine's loopback for as long as a trial."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bakeoff.core.errors import GeneratorError
from bakeoff.kinds.spec import NullCalibration


class NullServer:
    """Runs from its making on; `workload` is what it is asked for."""

    def __init__(self, engine: Any, calibration: NullCalibration, threads: int) -> None:
        self._folder = _folder() if "tls" in calibration.server else None
        certificate = "" if self._folder is None else str(Path(self._folder.name, "certificate.pem"))
        self._server = engine.serve(json.dumps(calibration.described(threads, certificate)))
        self.workload = calibration.asked.at(self._server.address(), certificate or None)

    def stop(self) -> None:
        """Ends it."""
        self._server.stop()
        if self._folder is not None:
            self._folder.cleanup()


def _folder() -> "TemporaryDirectory[str]":
    """Where its certificate is written. Raises GeneratorError."""
    try:
        return TemporaryDirectory(prefix="bakeoff-null-")
    except OSError as error:
        raise GeneratorError(f"there is no folder for the certificate of a server of its own: {error}") from None
