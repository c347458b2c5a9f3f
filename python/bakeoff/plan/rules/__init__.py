"""When a run may stop, and what it must meet."""
