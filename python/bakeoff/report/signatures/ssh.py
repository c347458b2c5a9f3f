"""Signatures by `ssh-keygen -Y`: keys that people have already, also in an agent or on a token."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bakeoff.core.errors import GeneratorError
from bakeoff.report.signatures.program import CHECK_S, SIGN_S, call, find

NAMESPACE = "bakeoff-report"
"""What is signed for: a signature of anything else by the same key is none of a report."""
__all__ = ["SignatureCheck", "check", "find", "is_public", "is_secret", "sign"]
HOLDER = "holder"
MOST_PRINCIPALS = 100
_TYPE = r"(?:ssh-(?:ed25519|rsa|dss)|ecdsa-sha2-\S{1,40}|sk-(?:ssh|ecdsa)-\S{1,60}|ssh-\S{1,60}-cert-v01@openssh\.com)"
_KEY = re.compile(rf"\A{_TYPE} [A-Za-z0-9+/=]{{16,100000}}(?: [^\n]*)?\s*\Z")
# Whoever is allowed, options, a key: ssh-keygen reads it in full.
_ALLOWED = re.compile(rf"(?m)^[^#\s][^\n]*?\s{_TYPE}\s+[A-Za-z0-9+/=]{{16,100000}}")
_GOOD = re.compile(r'Good "[^"]*" signature (?:for (?P<who>.*) )?with (?P<key>\S+ key \S+)')


@dataclass(frozen=True)
class SignatureCheck:
    """What came of a check: `by` whom a signature is, in words, or the `fault` for which it is not believed."""

    by: str = ""
    fault: str = ""


def is_secret(text: str) -> bool:
    """Whether the content of a file is a private key, or the public one of a key that an agent holds."""
    return re.match(r"\s*-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----", text) is not None or bool(_KEY.match(text))


def is_public(text: str) -> bool:
    """Whether the content of a file is a key, or a list of allowed signers, to check with."""
    return bool(_KEY.match(text) or _ALLOWED.search(text))


def sign(key: Path, content: bytes) -> bytes:
    """The signature of a report. Raises GeneratorError where there is none. A passphrase is asked for at the
    terminal, or by SSH_ASKPASS.
    """
    reply = call(["-Y", "sign", "-f", str(key), "-n", NAMESPACE], content, SIGN_S)
    if reply.code or not reply.out.startswith(b"-----BEGIN SSH SIGNATURE-----"):
        raise GeneratorError(
            f"ssh-keygen did not sign with {key} ({reply.last}): give another key, or load it into ssh-agent"
        )
    return reply.out


def check(content: bytes, signature: bytes, keys: str) -> SignatureCheck:
    """Whether `signature` is one of `content` by one of `keys`: first whether the bytes are those that were signed,
    then whether the key is allowed to. Raises GeneratorError where the program does not answer.
    """
    with tempfile.TemporaryDirectory(prefix="bakeoff-signed-") as folder:
        signature_path, allowed = Path(folder, "signature"), Path(folder, "allowed")
        signature_path.write_bytes(signature)
        allowed.write_text(f'{HOLDER} namespaces="{NAMESPACE}" {keys.strip()}\n' if _KEY.match(keys) else keys)
        whole = call(["-Y", "check-novalidate", "-n", NAMESPACE, "-s", str(signature_path)], content, CHECK_S)
        if whole.code:
            return SignatureCheck(fault=_of_bytes(whole.words))
        key = _key_of(whole.out)
        found = call(["-Y", "find-principals", "-s", str(signature_path), "-f", str(allowed)], None, CHECK_S)
        reason = _of_signer(found.words, key)
        for who in found.out.decode("utf-8", "replace").splitlines()[:MOST_PRINCIPALS] if not found.code else ():
            words = ["-Y", "verify", "-f", str(allowed), "-I", who, "-n", NAMESPACE, "-s", str(signature_path)]
            reply = call(words, content, CHECK_S)
            if not reply.code and _GOOD.search(reply.out.decode("utf-8", "replace")):
                return SignatureCheck(by=f"{'' if who == HOLDER else f'{who}, '}{key}")
            reason = _of_signer(reply.words, key)
        return SignatureCheck(fault=reason)


def _key_of(out: bytes) -> str:
    found = _GOOD.search(out.decode("utf-8", "replace"))
    return "a key" if found is None else f"the {found['key']}"


def _of_bytes(words: str) -> str:
    if "namespace" in words:
        return "the signature was not made for a report of Bakeoff"
    if "incorrect signature" in words:
        return "it is not what was signed: something was changed since, or the signature is that of another file"
    return "the file beside it is no signature by ssh-keygen"


def _of_signer(words: str, key: str) -> str:
    if "has expired" in words:
        return f"{key} that signed it has expired"
    if "not yet valid" in words:
        return f"{key} that signed it is not valid yet"
    if "not permitted" in words:
        return f"{key} that signed it is not allowed to sign reports (namespace {NAMESPACE})"
    return f"{key} that signed it is not a trusted one"
