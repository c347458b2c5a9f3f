"""Reports on several runs."""
