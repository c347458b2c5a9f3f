"""Signed reports: a signature of a report's bytes, in a file beside it, made and checked by a tool that people have.

`ssh-keygen` (any SSH key, also of an agent or a token) writes REPORT.sig, `minisign` REPORT.minisig. Either checks it
without Bakeoff, too. To add one: a new file here, and its line in `TOOLS`.
"""

from __future__ import annotations

from pathlib import Path

from bakeoff.bounded_file import read_bounded
from bakeoff.errors import PlanError
from bakeoff.report.signatures.base import Checked, Tool
from bakeoff.report.signatures.minisign import MINISIGN
from bakeoff.report.signatures.ssh import SSH

TOOLS: tuple[Tool, ...] = (SSH, MINISIGN)
MOST_KEY_BYTES = 1 << 20
MOST_SIGNATURE_BYTES = 64 << 10


def signer_for(key: Path) -> Tool:
    """The tool that signs with this key, which is there. Raises PlanError where it is no key, LabError without the
    tool.
    """
    text = _text(key, MOST_KEY_BYTES, "--sign")
    tool = next((tool for tool in TOOLS if tool.is_secret(text)), None)
    if tool is None:
        raise PlanError(
            f"--sign: {key} is no key to sign with: name a private SSH key, the .pub of one that an agent holds, or a "
            "secret key of minisign"
        )
    tool.find()
    return tool


def check_signature(report: Path, content: bytes, trusted: str) -> Checked:
    """Who signed `content`, which was read from `report`, by the signature beside it. `trusted` names a file of allowed
    signers or a public key, or is a public key.

    Raises PlanError where there is no signature or no key, LabError without the tool.
    """
    keys = trusted
    if not any(tool.is_public(keys) for tool in TOOLS):
        keys = _text(Path(trusted), MOST_KEY_BYTES, "--signed-by")
    tool = next((tool for tool in TOOLS if tool.is_public(keys)), None)
    if tool is None:
        raise PlanError(
            f"--signed-by: {trusted} is neither a file of allowed signers (see `man ssh-keygen`) nor a public key of "
            "SSH or minisign"
        )
    tool.find()
    beside = signature_of(report, tool)
    try:
        signature = read_bounded(beside, MOST_SIGNATURE_BYTES)
    except FileNotFoundError:
        raise PlanError(f"{beside} is not there: the signature by {tool.name} stands beside its report") from None
    except OSError as error:
        raise PlanError(f"{beside} cannot be read ({error.strerror or error}): get the signature again") from None
    return tool.check(content, signature, keys)


def signature_of(report: Path, tool: Tool) -> Path:
    """Where the signature of a report lies."""
    return report.with_name(report.name + tool.suffix)


def signatures_beside(report: Path) -> list[Path]:
    """The signatures that there are of a report."""
    return [path for tool in TOOLS if (path := signature_of(report, tool)).exists()]


def _text(path: Path, most: int, flag: str) -> str:
    try:
        return read_bounded(path, most).decode("utf-8", "replace")
    except OSError as error:
        raise PlanError(
            f"{flag}: {path} cannot be read ({error.strerror or error}): name the file of the key"
        ) from None
