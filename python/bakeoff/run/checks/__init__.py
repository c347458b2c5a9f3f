"""What is checked before the first trial."""
