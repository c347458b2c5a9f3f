"""The marks of trials: warnings that are stored with a trial and do not change its state."""

from typing import Final, Literal

# Every mark there is; `tests/unit/run/test_every_mark.py` trips each one alone.
Mark = Literal[
    "ledger-unbalanced",
    "beyond-link",
    "generator-limited",
    "generator-waited",
    "other-load",
    "link-limited",
    "near-generator-capacity",
    "few-operations",
    "starved-client",
    "stuck-operations",
    "late-start",
    "behind-schedule",
    "out-of-connections",
    "generator-paused",
    "stolen-time",
    "control-busy",
    "warming-up",
    "changed-rate",
    "drifting",
]
# Those that more than one layer knows.
UNBALANCED: Final = "ledger-unbalanced"
BEYOND_LINK: Final = "beyond-link"
GENERATOR_LIMITED: Final = "generator-limited"
# It waited for a processor. Starved are clients that a server gives nothing.
GENERATOR_WAITED: Final = "generator-waited"
# Others than the generator and the contender took its processors.
OTHER_LOAD: Final = "other-load"
# The link of a machine that sent load was full: the network was measured.
LINK_LIMITED: Final = "link-limited"
NEAR_GENERATOR_CAPACITY: Final = "near-generator-capacity"
STUCK_OPERATIONS: Final = "stuck-operations"
GENERATOR_PAUSED: Final = "generator-paused"
STOLEN_TIME: Final = "stolen-time"
# What is done beside the load by the process that sends it: samples, telemetry, the live line.
CONTROL_BUSY: Final = "control-busy"
# Of a rate: the generator itself began late, with connections idle; and a start found all connections busy.
BEHIND_SCHEDULE: Final = "behind-schedule"
OUT_OF_CONNECTIONS: Final = "out-of-connections"
# The rate was not steady inside of the window.
WARMING_UP: Final = "warming-up"
CHANGED_RATE: Final = "changed-rate"
DRIFTING: Final = "drifting"
