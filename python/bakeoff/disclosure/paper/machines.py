"""Machines and links of a test bed, as a paper file has them: `[[testbed.machines]]`, `[[testbed.links]]`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bakeoff.disclosure.paper.part import StrictTable

Name = Annotated[str, Field(min_length=1, max_length=60)]
Count = Annotated[int, Field(ge=1, le=10_000)]
Role = Literal["generator", "switch", "server", "both"]


class Machine(StrictTable):
    """A machine, or `count` alike ones; `serves` are the contenders that it runs."""

    name: Name = Field(description="How it is called.")
    role: Role = Field(description="generator, switch, server, or both: generator and server in one.")
    count: Count = Field(default=1, description="How many alike ones there are.")
    text: str = Field(default="", max_length=300, description="What it is: model, processors, memory.")
    serves: tuple[Name, ...] = Field(default=(), max_length=50, strict=False, description="Contenders that it runs.")


class Link(StrictTable):
    """A link between two machines, or `count` alike ones for each of them."""

    ends: tuple[Name, Name] = Field(strict=False, description='["client", "switch"]')
    speed: str = Field(default="", max_length=40, description="1 Gbit/s")
    duplex: Literal["", "full", "half"] = Field(default="", description="full or half.")
    count: Count = Field(default=1, description="How many alike ones lead from one machine to the other.")
