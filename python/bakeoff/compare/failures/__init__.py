"""What contenders failed to do, or did wrong."""
