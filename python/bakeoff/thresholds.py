"""Numbers that decide something in more than one layer, each with its reason. Any layer may import this."""

# The exact sign-flip test of fewer blocks cannot reach p = 0.05.
MINIMUM_BLOCKS = 6
# A distribution-free upper 95 % bound of a percentile needs this many independent operations.
P95_OPERATIONS, P99_OPERATIONS = 72, 368
# A rate above this share of the generator's own ceiling may be the generator's.
CEILING_SHARE = 0.7
# From here on a load thread, or a link, of a machine that sends load is the limit itself: queues grow before 100 %.
BUSY_SHARE = 0.9
# So much of the window a load thread may have waited for a processor before it is told.
WAIT_SHARE = 0.05
# Starts that are as late as this, p99, are told: no server made them so.
LATE_START_P99_NS = 50_000_000
