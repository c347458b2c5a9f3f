"""What the kinds of file work share; no kind of its own."""
