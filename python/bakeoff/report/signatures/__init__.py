"""Signed reports: a signature of a report's bytes, in REPORT.sig beside it, made and checked by `ssh-keygen` (any SSH
key, also of an agent or a token), which checks it without Bakeoff, too.
"""

from __future__ import annotations

from pathlib import Path

from bakeoff.core.errors import PlanError
from bakeoff.core.system.bounded_read import read_bounded
from bakeoff.report.signatures import ssh
from bakeoff.report.signatures.ssh import SignatureCheck

SUFFIX = ".sig"
MOST_KEY_BYTES = 1 << 20
MOST_SIGNATURE_BYTES = 64 << 10


def check_signer(key: Path) -> None:
    """Raises PlanError where this file is no key to sign with, GeneratorError without `ssh-keygen`."""
    if not ssh.is_secret(_text(key, MOST_KEY_BYTES, "--sign")):
        raise PlanError(
            f"--sign: {key} is no key to sign with: name a private SSH key, or the .pub of one that an agent holds"
        )
    ssh.find()


def check_signature(report: Path, content: bytes, trusted: str) -> SignatureCheck:
    """Who signed `content`, which was read from `report`, by the signature beside it. `trusted` names a file of allowed
    signers or a public key, or is a public key.

    Raises PlanError where there is no signature or no key, GeneratorError without `ssh-keygen`.
    """
    keys = trusted if ssh.is_public(trusted) else _text(Path(trusted), MOST_KEY_BYTES, "--signed-by")
    if not ssh.is_public(keys):
        raise PlanError(
            f"--signed-by: {trusted} is neither a file of allowed signers (see `man ssh-keygen`) nor a public key of "
            "SSH"
        )
    ssh.find()
    signature_path = signature_of(report)
    try:
        signature = read_bounded(signature_path, MOST_SIGNATURE_BYTES)
    except FileNotFoundError:
        raise PlanError(f"{signature_path} is not there: the signature stands beside its report") from None
    except OSError as error:
        raise PlanError(
            f"{signature_path} cannot be read ({error.strerror or error}): get the signature again"
        ) from None
    return ssh.check(content, signature, keys)


def signature_of(report: Path) -> Path:
    """Where the signature of a report lies."""
    return report.with_name(report.name + SUFFIX)


def _text(path: Path, most: int, flag: str) -> str:
    try:
        return read_bounded(path, most).decode("utf-8", "replace")
    except OSError as error:
        raise PlanError(
            f"{flag}: {path} cannot be read ({error.strerror or error}): name the file of the key"
        ) from None
