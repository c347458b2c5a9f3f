"""What an audit of foreign results finds, in words."""
