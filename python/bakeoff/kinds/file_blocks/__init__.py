"""Block sizes and access specifications on one large file."""
