"""What a section is, where it stands and what it gets."""
