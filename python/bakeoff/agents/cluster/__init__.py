"""Machines that send load together: how one joins, and what all of them must have alike."""
