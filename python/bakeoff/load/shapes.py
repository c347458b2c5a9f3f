"""The shapes of a run: how its load is laid out. Of clients that wait, without a search or a soak, it is a closed loop.

To add one: its name here, and a module of that name, with a `PART`, in the `shapes` of each layer where it differs from
a closed loop: `plan/shapes/` says how many trials there are, `cli/shapes/` tells of them before, `run/shapes/` carries
them out, `compare/shapes/` has what decides, `report/narrate/shapes/` the words and `report/shapes/` the sections.
"""

# What decides how a run is compared stands first: a soak at rates is compared as a run at rates is.
SHAPES = ("search", "soak", "stated", "rates", "cells")
