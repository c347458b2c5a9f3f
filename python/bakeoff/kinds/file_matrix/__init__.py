"""The matrix of file sizes, record sizes and tests."""
