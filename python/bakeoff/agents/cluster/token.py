"""The token of a cluster: whoever has it can run programs on every machine of the cluster, as who joined it."""

import os
import re
import secrets
import stat
from pathlib import Path

from bakeoff.core.errors import GeneratorError
from bakeoff.core.system.state_folder import state_folder

VARIABLE = "BAKEOFF_CLUSTER_TOKEN_FILE"
TOKEN_BYTES = 32
TOKEN = re.compile(r"[0-9a-zA-Z_.~+/=-]{32,200}")


def default_token_file() -> Path:
    """Where the token is when nothing else is said: `$BAKEOFF_CLUSTER_TOKEN_FILE`, or the user's state folder. Raises
    GeneratorError where there is no such folder.
    """
    if given := os.environ.get(VARIABLE):
        return Path(given).absolute()
    folder = state_folder()
    if folder is None:
        raise GeneratorError("there is no home folder to keep the cluster's token in: say where with --token-file")
    return folder / "cluster/token"


def make_token(path: Path) -> None:
    """A new token in a file that only its user reads; one that is there already is kept. Raises GeneratorError."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        check_token(path)
        return
    except OSError as error:
        raise GeneratorError(
            f"the token cannot be written to {path}: {error.strerror}; choose a --token-file"
        ) from None
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_hex(TOKEN_BYTES) + "\n")


def check_token(path: Path) -> None:
    """Raises GeneratorError with advice when this file is no token, or when others could read it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            state = os.fstat(descriptor)
            text = file.read(1000) if stat.S_ISREG(state.st_mode) else b""
    except FileNotFoundError:
        raise GeneratorError(
            f"there is no token at {path}: copy the file that `bakeoff cluster start` named to this machine (`scp "
            f"-p`), and say where it is with --token-file or ${VARIABLE}"
        ) from None
    except OSError as error:
        raise GeneratorError(f"the token {path} cannot be read: {error.strerror}") from None
    if not TOKEN.fullmatch(text.decode("ascii", "replace").strip()):
        raise GeneratorError(f"{path} is no token: copy the file that `bakeoff cluster start` named, as it is")
    if state.st_mode & 0o077:
        raise GeneratorError(f"others can read the token {path}, and with it run programs as you: `chmod 600 {path}`")
