"""Running a plan: checks, order, resets, the driver loop, progress."""
