"""What can be read from a machine, with its owner's leave: asked by one script of read-only commands."""
