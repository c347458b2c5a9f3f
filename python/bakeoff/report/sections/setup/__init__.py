"""Sections on how it was tested: machines, method, resources, files."""
