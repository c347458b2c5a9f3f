"""Importers of tools that load mail servers."""
