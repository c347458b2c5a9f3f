"""Files of claims, as an audit reads them."""

from __future__ import annotations

from collections.abc import Sequence

from bakeoff.audit.claims.claim import Claim
from bakeoff.audit.claims.listed import claims_of
from bakeoff.audit.claims.text import claims_in
from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign.source import Source


def read_claims(listed: Source | None, text: Source | None, names: Sequence[str]) -> list[Claim]:
    """The claims of both files about contenders of these names. Raises PlanError."""
    found: list[Claim] = []
    for source, read in ((listed, claims_of), (text, claims_in)):
        if source is not None:
            try:
                content = source.text()
            except PlanError as error:
                raise PlanError(f"{source.path}: {error}") from None
            found += read(content, str(source.path), names)
    if text is not None and not any(claim.file == str(text.path) for claim in found):
        raise PlanError(f"{text.path}: no sentence has a percentage that compares: list the claims in a CSV file")
    return found
