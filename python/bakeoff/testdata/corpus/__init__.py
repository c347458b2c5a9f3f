"""Corpora: the files that contenders serve, made from a seed, the same bytes on every machine."""
