"""What a reader must know beside the numbers."""
