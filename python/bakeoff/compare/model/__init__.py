"""The comparison as immutable values, and what it is made from."""
