"""Importers of formats for any kind of work: percentiles, collections of tests, plain tables."""
