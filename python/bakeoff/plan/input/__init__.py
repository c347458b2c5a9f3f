"""Plans as people write them: files, flags, paths, secrets."""
