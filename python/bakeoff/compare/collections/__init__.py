"""Several runs as one: campaigns, joined files, challenges."""
