"""Requests to web servers."""
