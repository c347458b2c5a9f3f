"""Accounts and message sizes of mail workloads."""
