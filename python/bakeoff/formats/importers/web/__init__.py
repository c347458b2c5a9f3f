"""Importers of tools that load web servers."""
