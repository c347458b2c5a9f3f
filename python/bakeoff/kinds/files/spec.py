"""What the specifications of file work share."""

from typing import Literal

Cache = Literal["warm", "cold"]
