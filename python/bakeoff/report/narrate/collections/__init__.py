"""Campaigns, joined files, challenges, plans and checks in words."""
