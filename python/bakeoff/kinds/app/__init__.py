"""Transactions of an application server."""
