"""Several run files as one."""
