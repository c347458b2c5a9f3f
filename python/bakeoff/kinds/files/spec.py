"""What the specifications of file work share."""

from typing import Literal

from bakeoff.kinds.spec import Workload

Cache = Literal["warm", "cold"]


class FolderWorkload(Workload):
    """Work in a folder."""

    folder: str

    @property
    def mounted(self) -> str | None:
        return self.folder
