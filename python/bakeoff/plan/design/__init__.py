"""Order of trials, factors, durations and what differs from the publications."""
