"""What contenders and load machines needed for their work."""
