"""Mail that is sent and read."""
