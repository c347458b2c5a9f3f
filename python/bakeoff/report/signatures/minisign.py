"""Signatures by minisign: a small tool with keys of its own."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from bakeoff.errors import LabError
from bakeoff.report.signatures.base import CHECK_S, SIGN_S, Checked, Tool

_KEY = r"RW[A-Za-z0-9+/=]{54}"
_PUBLIC = re.compile(rf"\A(?:untrusted comment:[^\n]*\n)?\s*({_KEY})\s*\Z")
_SECRET = re.compile(r"\Auntrusted comment:[^\n]*\bsecret key\b[^\n]*\n")
FAILED = 1
"""Of its exit codes: the signature is not right. Others say that something could not be read."""


class Minisign(Tool):
    name = "minisign"
    suffix = ".minisig"
    package = "minisign"

    def is_secret(self, text: str) -> bool:
        return bool(_SECRET.match(text)) and not self.is_public(text)

    def is_public(self, text: str) -> bool:
        return bool(_PUBLIC.match(text))

    def sign(self, key: Path, content: bytes, name: str) -> bytes:
        """See Tool. minisign asks for its password at the terminal."""
        with tempfile.TemporaryDirectory(prefix="bakeoff-sign-") as folder:
            file, beside = Path(folder, "report"), Path(folder, "signature")
            file.write_bytes(content)
            comment = f"bakeoff report {name}"
            words = ["-S", "-s", str(key), "-m", str(file), "-x", str(beside), "-t", comment]
            said = self.call(words, None, SIGN_S, quiet=False)
            if said.code or not beside.is_file():
                raise LabError(
                    f"minisign did not sign with {key} ({said.last}): type its password at a terminal, or give "
                    "another key"
                )
            return beside.read_bytes()

    def check(self, content: bytes, signature: bytes, keys: str) -> Checked:
        public = _PUBLIC.match(keys)
        assert public is not None
        with tempfile.TemporaryDirectory(prefix="bakeoff-signed-") as folder:
            file, beside = Path(folder, "report"), Path(folder, "signature")
            file.write_bytes(content)
            beside.write_bytes(signature)
            said = self.call(["-V", "-P", public[1], "-m", str(file), "-x", str(beside)], None, CHECK_S)
        if said.code == 0:
            return Checked(by=f"the key {public[1]}")
        if "key id" in said.words:
            return Checked(fault=f"it was signed by another key than {public[1]}")
        if said.code == FAILED:
            return Checked(
                fault="it is not what was signed: something was changed since, or the signature is that of another file"
            )
        return Checked(fault=f"the file beside it is no signature by minisign ({said.last})")


MINISIGN = Minisign()
