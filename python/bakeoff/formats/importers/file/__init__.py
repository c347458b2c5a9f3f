"""Importers of tools that load files and block devices, and Iometer's configurations."""
