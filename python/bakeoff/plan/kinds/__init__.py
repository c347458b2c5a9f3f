"""Kinds of workload. A new kind is one module here and its line in `KINDS`.

A kind knows its settings and how to turn them into the `workload` part of a trial spec; what must be true of
the contenders before timing is in `bakeoff.run.checks`.
"""

from bakeoff.plan.kinds.app import APP
from bakeoff.plan.kinds.base import Kind
from bakeoff.plan.kinds.file_blocks import FILE_BLOCKS
from bakeoff.plan.kinds.file_matrix import FILE_MATRIX
from bakeoff.plan.kinds.file_mix import FILE_MIX
from bakeoff.plan.kinds.mail import MAIL
from bakeoff.plan.kinds.web import WEB

KINDS: dict[str, Kind] = {kind.name: kind for kind in (WEB, MAIL, APP, FILE_MATRIX, FILE_BLOCKS, FILE_MIX)}


def setting_owners() -> dict[str, list[str]]:
    """Names of the kinds by setting name (as in a plan file), for messages and flags."""
    owners: dict[str, list[str]] = {}
    for kind in KINDS.values():
        for name, field in kind.settings.model_fields.items():
            owners.setdefault(field.alias or name, []).append(kind.name)
    return owners
