"""Files of other tools, read: one module per format."""
