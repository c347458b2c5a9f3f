"""Numbers that decide something in more than one layer, each with its reason. Any layer may import this."""

# The exact sign-flip test of fewer blocks cannot reach p = 0.05.
MINIMUM_BLOCKS = 6
# A distribution-free upper 95 % bound of a percentile needs this many independent operations.
P95_OPERATIONS, P99_OPERATIONS = 72, 368
# A rate above this share of the generator's own capacity may be the generator's.
CAPACITY_FRACTION = 0.7
# From here on a load thread, or a link, of a machine that sends load is the limit itself: queues grow before 100 %.
BUSY_SHARE = 0.9


def is_capacity(busy_share: float | None) -> bool:
    """Whether a rate was the generator's limit: its load threads had nothing left to give when it was measured. None:
    nobody looked, and it is taken for one.
    """
    return busy_share is None or busy_share > BUSY_SHARE


# So much of the window a load thread may have waited for a processor before it is told.
WAIT_SHARE = 0.05
# A client whose thread waited for more than this share of the time that it had may have done nothing because of that.
MOST_WAITED = 0.5
# A client with less than this share of the mean client is starved; so is one without any operation.
STARVED_SHARE = 0.01
# Others that take more than this share of a machine's processors move a rate by more than the usual margin (5 %).
OTHER_LOAD_SHARE = 0.10
# Processes are told in ticks of 10 ms: less than ten of them say nothing of a short time.
OTHERS_LEAST_S = 0.1
# So much of a window the generator may have been stopped before it is told, in stops of any length.
LOST_REPORTED = 0.01
# Starts that are as late as this, p99, are told: no server made them so.
LATE_START_P99_NS = 50_000_000
# From here on processors have nothing left to give: queues grow long before 100 %.
PROCESSOR_FULL = 0.85
# A disk that is never idle; the share of time in which something waited for memory that a server feels.
DISK_FULL, MEMORY_PRESSURE = 0.85, 0.1
# What the generator's process may take beside its load threads: of a processor, and one thread at once, s.
CONTROL_SHARE, CONTROL_LONGEST_S = 0.05, 0.05
# Blocks that a run may have.
BLOCKS_MAX = 1000
