"""The command in forks of one process that has loaded it already, each with descriptors and surroundings of its own.

Read as a program: each line on standard input is a case in JSON, each line on standard output its exit code.
"""

import io
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

from tests.patient import be_patient

CLOSED = "closed"


class Forks:
    """`run` gives exit code, standard output and standard error of the command in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.cli.forked"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(
        self,
        *words: object,
        stdout: str | None = None,
        stderr: str | None = None,
        encoding: str = "utf-8",
        **environment: str,
    ) -> tuple[int, str, str]:
        """`stdout` and `stderr` are paths, or CLOSED."""
        out, err = self.folder / ".out", self.folder / ".err"
        for path in (out, err):
            path.write_bytes(b"")
        case = {
            "words": [os.fsencode(str(word)).decode("latin-1") for word in words],
            "folder": str(self.folder),
            "stdout": stdout or str(out),
            "stderr": stderr or str(err),
            "encoding": encoding,
            "environment": environment,
        }
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(case) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        return code, out.read_bytes().decode(encoding), err.read_bytes().decode(encoding)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def _stream(number: int, place: str, encoding: str) -> Any:
    """As the interpreter makes it: None for a closed descriptor."""
    os.close(number)
    if place == CLOSED:
        return None
    opened = os.open(place, os.O_WRONLY | os.O_APPEND)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
    errors = "strict" if number == 1 else "backslashreplace"
    return io.TextIOWrapper(open(number, "wb", closefd=False), encoding=encoding, errors=errors)


def _child(case: dict[str, Any]) -> NoReturn:
    import traceback

    from bakeoff.cli.app import main

    code = 0
    try:
        os.chdir(case["folder"])
        os.environ.update(case["environment"])
        sys.argv = ["bakeoff", *(os.fsdecode(word.encode("latin-1")) for word in case["words"])]
        streams = {n: _stream(n, case[name], case["encoding"]) for n, name in ((1, "stdout"), (2, "stderr"))}
        sys.stdout, sys.stderr = streams[1], streams[2]
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        code = 99
        Path(case["folder"], ".err").write_text(traceback.format_exc())
    os._exit(code)


def _serve() -> None:
    import bakeoff.cli.app
    import bakeoff.compare
    import bakeoff.report.compose
    import bakeoff.report.renderers.html  # noqa: F401
    from bakeoff.cli.verbs import VERBS, load

    for verb in VERBS:
        load(verb)
    be_patient()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _child(json.loads(line))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.stdout.write(f"{code}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
