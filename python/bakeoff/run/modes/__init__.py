"""Ways to run: soaks, searches, campaigns, challenges, more blocks."""
