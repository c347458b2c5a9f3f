"""The file matrix with IOzone's options and IOzone's output, for scripts and eyes used to them."""
