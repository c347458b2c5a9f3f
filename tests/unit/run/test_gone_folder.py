"""A share that fell off: what is said where its folder went with it."""

from dataclasses import replace
from pathlib import Path

import pytest

from bakeoff.core.errors import ContenderError
from bakeoff.core.system.mounts import mount_at
from bakeoff.kinds.file_mix.run import FileMixCheck
from bakeoff.plan.load import PlanInput, resolve_plan


@pytest.mark.parametrize(("left", "words"), [(True, " is now on "), (False, " is not there without it")])
def test_a_folder_that_went_with_its_mount_is_on_nothing(left: bool, words: str, tmp_path: Path) -> None:
    """Seen: "… is now on ext4" of a folder that was gone."""
    folder = tmp_path / "bench"
    folder.mkdir()
    plan = resolve_plan(PlanInput("", {"suite": "file-mix"}, {}, [{"name": "a", "address": str(folder)}]))
    check = FileMixCheck(plan)
    check.examine(plan.contenders[0])
    check._mounts["a"] = replace(mount_at(str(folder)), source="gone:/share")
    if not left:
        folder.rmdir()
    with pytest.raises(ContenderError, match=words):
        check.unchanged(plan.contenders[0])
